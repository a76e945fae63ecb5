package workload

import (
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
)

var (
	_ yaml.BytesMarshaler  = Duration{}
	_ yaml.NodeUnmarshaler = (*Duration)(nil)
)

// String returns the distribution in its YAML form, on one line.
func (d Dist[T]) String() string { return string(d.write(nil, false)) }

// MarshalYAML returns the distribution in the form in which scenario files have
// it, on one line. Reading it back gives an equal distribution.
func (d Dist[T]) MarshalYAML() ([]byte, error) { return d.write(nil, false), nil }

// MarshalJSON returns the distribution as JSON of the same shape as its YAML form:
// durations are strings, tokens are numbers.
func (d Dist[T]) MarshalJSON() ([]byte, error) { return d.write(nil, true), nil }

// UnmarshalJSON reads what MarshalJSON wrote, with the checks of UnmarshalYAML.
func (d *Dist[T]) UnmarshalJSON(text []byte) error {
	return yaml.Unmarshal(text, d) // JSON of this shape is YAML
}

// write appends the text form of d to b.
func (d *Dist[T]) write(b []byte, json bool) []byte {
	w := writer[T]{b: b, json: json}
	if d.kind == constant {
		w.value(d.a)
		return w.b
	}
	w.open('{')
	w.body(d)
	w.close('}')
	return w.b
}

// writer writes the subset of flow YAML that distributions need, or JSON.
type writer[T Quantity] struct {
	b     []byte
	json  bool
	comma bool // the next key or element is not the first
}

// body writes the keys of d.
func (w *writer[T]) body(d *Dist[T]) {
	switch d.kind {
	case constant:
		w.pair("constant", d.a)
	case uniform:
		w.key("uniform")
		w.open('[')
		w.element()
		w.value(d.a)
		w.element()
		w.value(d.b)
		w.close(']')
	case logNormal:
		w.key("lognormal")
		w.open('{')
		w.pair("median", d.a)
		if d.b != 0 {
			w.pair("p90", d.b)
		} else {
			w.number("sigma", d.sigma)
		}
		w.close('}')
	case mixture:
		w.key("mixture")
		w.open('[')
		for i := range d.parts {
			w.element()
			w.open('{')
			w.number("weight", d.parts[i].weight)
			w.body(&d.parts[i].dist)
			w.close('}')
		}
		w.close(']')
	}
	if d.clampMin != 0 {
		w.pair("min", d.clampMin)
	}
	if d.clampMax != 0 {
		w.pair("max", d.clampMax)
	}
}

func (w *writer[T]) open(bracket byte) {
	w.b = append(w.b, bracket)
	w.comma = false
}

func (w *writer[T]) close(bracket byte) {
	w.b = append(w.b, bracket)
	w.comma = true
}

// element starts an element of a sequence or a pair of a mapping.
func (w *writer[T]) element() {
	if w.comma {
		w.b = append(w.b, ',')
		if !w.json {
			w.b = append(w.b, ' ')
		}
	}
	w.comma = true
}

func (w *writer[T]) key(name string) {
	w.element()
	if w.json {
		w.b = append(strconv.AppendQuote(w.b, name), ':')
		return
	}
	w.b = append(append(w.b, name...), ": "...)
}

func (w *writer[T]) pair(name string, v T) {
	w.key(name)
	w.value(v)
}

func (w *writer[T]) number(name string, x float64) {
	w.key(name)
	w.b = append(w.b, number(x)...)
}

func (w *writer[T]) value(v T) {
	if _, isDuration := any(v).(time.Duration); isDuration && w.json {
		w.b = strconv.AppendQuote(w.b, format(v))
		return
	}
	w.b = append(w.b, format(v)...)
}
