package workload

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// UnmarshalYAML reads one of the forms that [Dist] lists. Every error is a
// yaml.Error of go-yaml, so it knows line and column; its FormatError(false, false) is one
// line: position, path of the value in the file, what was found, what is allowed. On
// error d is left as it was.
func (d *Dist[T]) UnmarshalYAML(node ast.Node) error {
	read, err := readDist[T](node)
	if err != nil {
		return err
	}
	*d = read
	return nil
}

// readDist reads a scalar (a constant) or a mapping.
func readDist[T Quantity](node ast.Node) (Dist[T], error) {
	node = plain(node)
	if _, ok := node.(ast.ScalarNode); ok {
		return readConstant[T](node)
	}
	pairs, err := readPairs(node, "a value ("+wanted[T]()+") or a mapping", "constant", "uniform", "lognormal", "mixture", "min", "max")
	if err != nil {
		return Dist[T]{}, err
	}
	return readBody[T](node, pairs, "one of constant, uniform, lognormal, mixture")
}

// readBody reads a distribution from the keys of a mapping. Other keys, such as the
// weight of a mixture's part, are left to the caller.
func readBody[T Quantity](node ast.Node, pairs []pair, want string) (d Dist[T], err error) {
	var form *pair
	for i := range pairs {
		switch p := &pairs[i]; p.key {
		case "constant", "uniform", "lognormal", "mixture":
			if form != nil {
				return d, refuse(p.value, p.keyToken, fmt.Sprintf("%s beside %s", p.key, form.key), "one of them")
			}
			form = p
		}
	}
	if form == nil {
		return d, refuse(node, start(node), "no kind of distribution", want)
	}
	switch form.key {
	case "constant":
		d, err = readConstant[T](form.value)
	case "uniform":
		d, err = readUniform[T](form.value)
	case "lognormal":
		d, err = readLogNormal[T](form.value)
	case "mixture":
		d, err = readMixture[T](form.value)
	}
	if err != nil {
		return d, err
	}
	return readClamp(d, node, pairs)
}

func readConstant[T Quantity](node ast.Node) (Dist[T], error) {
	value, err := readValue[T](node)
	if err != nil {
		return Dist[T]{}, err
	}
	d, err := Constant(value)
	return d, place(err, node, pair{key: "value", value: node})
}

func readUniform[T Quantity](node ast.Node) (Dist[T], error) {
	var d Dist[T]
	sequence, ok := plain(node).(*ast.SequenceNode)
	if !ok || len(sequence.Values) != 2 {
		return d, refuse(node, start(node), describe(node), "two values: [min, max]")
	}
	low, err := readValue[T](sequence.Values[0])
	if err != nil {
		return d, err
	}
	high, err := readValue[T](sequence.Values[1])
	if err != nil {
		return d, err
	}
	d, err = Uniform(low, high)
	return d, place(err, node, pair{key: "min", value: sequence.Values[0]}, pair{key: "max", value: sequence.Values[1]})
}

func readLogNormal[T Quantity](node ast.Node) (d Dist[T], err error) {
	const want = "median with p90 or sigma"
	pairs, err := readPairs(node, "a mapping: "+want, "median", "p90", "sigma")
	if err != nil {
		return d, err
	}
	median, p90, sigma := find(pairs, "median"), find(pairs, "p90"), find(pairs, "sigma")
	switch {
	case median == nil:
		return d, refuse(node, start(node), "no median", want)
	case p90 == nil && sigma == nil:
		return d, refuse(node, start(node), "neither p90 nor sigma", want)
	case p90 != nil && sigma != nil:
		return d, refuse(sigma.value, sigma.keyToken, "sigma beside p90", want)
	}
	m, err := readValue[T](median.value)
	if err != nil {
		return d, err
	}
	if sigma != nil {
		s, err := readNumber(sigma.value, "a number from 0 to "+number(SigmaLimit))
		if err != nil {
			return d, err
		}
		d, err = LogNormalSigma(m, s)
		return d, place(err, node, pairs...)
	}
	p, err := readValue[T](p90.value)
	if err != nil {
		return d, err
	}
	d, err = LogNormal(m, p)
	return d, place(err, node, pairs...)
}

func readMixture[T Quantity](node ast.Node) (d Dist[T], err error) {
	sequence, ok := plain(node).(*ast.SequenceNode)
	if !ok {
		return d, refuse(node, start(node), describe(node), "a sequence of parts, each with a weight and a distribution")
	}
	parts := make([]Part[T], 0, len(sequence.Values))
	var places []pair
	for i, element := range sequence.Values {
		p, weight, err := readPart[T](element)
		if err != nil {
			return d, err
		}
		parts = append(parts, p)
		arg := "[" + strconv.Itoa(i) + "]"
		places = append(places, pair{key: arg, value: element}, pair{key: arg + ".weight", value: weight})
	}
	d, err = Mixture(parts...)
	return d, place(err, node, places...)
}

// readPart reads a part and returns the node of its weight beside it.
func readPart[T Quantity](node ast.Node) (p Part[T], weight ast.Node, err error) {
	const want = "a mapping with a weight and one of constant, uniform, lognormal"
	pairs, err := readPairs(node, want, "weight", "constant", "uniform", "lognormal", "min", "max")
	if err != nil {
		return p, nil, err
	}
	w := find(pairs, "weight")
	if w == nil {
		return p, nil, refuse(node, start(node), "no weight", want)
	}
	if p.Weight, err = readNumber(w.value, fmt.Sprintf("a number from 0 to %.0f", WeightLimit)); err != nil {
		return p, nil, err
	}
	p.Dist, err = readBody[T](node, pairs, want)
	return p, w.value, err
}

// readClamp applies min and max, if they are there, to d.
func readClamp[T Quantity](d Dist[T], node ast.Node, pairs []pair) (Dist[T], error) {
	var bounds [2]T
	clamped := false
	for i, key := range [...]string{"min", "max"} {
		p := find(pairs, key)
		if p == nil {
			continue
		}
		if d.kind == constant {
			return d, refuse(p.value, p.keyToken, key+" beside constant", key+" only beside uniform, lognormal or mixture")
		}
		value, err := readValue[T](p.value)
		if err != nil {
			return d, err
		}
		if key == "max" && value == 0 {
			return d, refuse(p.value, start(p.value), describe(p.value), "a max above 0; for always 0 write the constant "+format(value))
		}
		bounds[i], clamped = value, true
	}
	if !clamped {
		return d, nil
	}
	out, err := d.Clamp(bounds[0], bounds[1])
	return out, place(err, node, pairs...)
}

// readValue reads a duration with its unit, or a whole number of tokens. The
// constructors check the range.
func readValue[T Quantity](node ast.Node) (T, error) {
	node = plain(node)
	var zero T
	if _, ok := any(zero).(time.Duration); ok {
		if text, ok := node.(*ast.StringNode); ok {
			d, err := time.ParseDuration(text.Value)
			// ParseDuration lets a bare 0 pass, which no other number does.
			if err == nil && strings.ContainsAny(text.Value, "smh") {
				return T(d), nil
			}
		}
	} else if whole, ok := node.(*ast.IntegerNode); ok {
		switch n := whole.Value.(type) {
		case uint64:
			if n <= TokensLimit {
				return T(n), nil
			}
		case int64:
			if n >= 0 && n <= TokensLimit {
				return T(n), nil
			}
		}
	}
	return zero, refuse(node, start(node), describe(node), wanted[T]())
}

// readNumber reads a weight or a sigma. The constructors check the range.
func readNumber(node ast.Node, want string) (float64, error) {
	node = plain(node)
	switch n := node.(type) {
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case uint64:
			return float64(v), nil
		case int64:
			return float64(v), nil
		}
	case *ast.FloatNode:
		return n.Value, nil
	case *ast.StringNode:
		// go-yaml takes 1e3 for text.
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Token.Type == token.StringType {
			return x, nil
		}
	}
	return 0, refuse(node, start(node), describe(node), want)
}
