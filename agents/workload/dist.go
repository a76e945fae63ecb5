package workload

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration is a distribution of lengths of time. Its YAML values carry units.
type Duration = Dist[time.Duration]

// Tokens is a distribution of numbers of tokens.
type Tokens = Dist[int]

// Dist is a distribution of a non-negative quantity: a constant, a uniform
// range, a log-normal, or a weighted mixture of these, optionally clamped. Use it
// through its two aliases, [Duration] and [Tokens].
//
// The zero value is the constant 0. A Dist is immutable and safe for concurrent
// use. In YAML (and, of the same shape, in JSON) it is one of
//
//	think: 2s                                    # constant
//	think: {constant: 2s}
//	think: {uniform: [1s, 3s]}
//	think: {lognormal: {median: 300ms, p90: 13.6s}, max: 10m}
//	think: {lognormal: {median: 300ms, sigma: 2.98}}
//	think: {mixture: [{weight: 61, uniform: [0s, 1s]}, {weight: 39, constant: 5s}]}
//
// where min and max beside anything but a constant are clamps: a value outside
// is moved to the bound, not drawn again. A part of a mixture is anything but
// another mixture. As everywhere with go-yaml, null leaves the default alone.
type Dist[T Quantity] struct {
	kind  kind
	a, b  T       // constant: a; uniform: from a to b; log-normal: median and p90, 0 when sigma was given
	sigma float64 // log-normal: standard deviation of the natural logarithm
	parts []part[T]

	clampMin, clampMax T // 0: no clamp
}

type kind uint8

const (
	constant kind = iota
	uniform
	logNormal
	mixture
)

// part is a component of a mixture.
type part[T Quantity] struct {
	weight float64
	below  uint64 // the part is picked by draws below this and not below its predecessor's
	dist   Dist[T]
}

// Part is one component of a [Mixture].
type Part[T Quantity] struct {
	// Weight is the part's share relative to the other parts' weights; 0 means
	// never.
	Weight float64
	// Dist is anything but a mixture.
	Dist Dist[T]
}

// Bounds of a distribution's shape.
const (
	// PartsLimit is the largest number of parts of a mixture.
	PartsLimit = 64
	// SigmaLimit is the largest sigma of a log-normal; 10 is a factor of 22,000
	// between the median and the next sigma.
	SigmaLimit = 10.0
	// WeightLimit is the largest weight of a part.
	WeightLimit = 1e9
)

// z90 is the 90 % quantile of the standard normal distribution, to the last bit
// of a float64.
const z90 = 1.2815515655446004

// Constant returns the distribution that always yields value.
func Constant[T Quantity](value T) (Dist[T], error) {
	if err := inRange("Constant", "value", value); err != nil {
		return Dist[T]{}, err
	}
	return Dist[T]{a: value}, nil
}

// Uniform returns the distribution in which each whole unit from min to max, both
// included, is equally likely.
func Uniform[T Quantity](min, max T) (Dist[T], error) {
	if err := inRange("Uniform", "min", min); err != nil {
		return Dist[T]{}, err
	}
	if err := inRange("Uniform", "max", max); err != nil {
		return Dist[T]{}, err
	}
	if min > max {
		return Dist[T]{}, &argError{"Uniform", "max", format(max), "at least min (" + format(min) + ")"}
	}
	return Dist[T]{kind: uniform, a: min, b: max}, nil
}

// LogNormal returns the log-normal distribution of which half the values are
// below median and nine tenths below p90. Values are rounded to whole units.
// LogNormalSigma is the sibling for a fit given as median and sigma.
func LogNormal[T Quantity](median, p90 T) (Dist[T], error) {
	if err := positive("LogNormal", "median", median); err != nil {
		return Dist[T]{}, err
	}
	if err := inRange("LogNormal", "p90", p90); err != nil {
		return Dist[T]{}, err
	}
	if p90 < median {
		return Dist[T]{}, &argError{"LogNormal", "p90", format(p90), "at least the median (" + format(median) + ")"}
	}
	sigma := math.Log(float64(p90)/float64(median)) / z90
	if sigma > SigmaLimit {
		return Dist[T]{}, &argError{"LogNormal", "p90", fmt.Sprintf("%s (sigma %.1f)", format(p90), sigma),
			fmt.Sprintf("a p90 that makes sigma at most %g", SigmaLimit)}
	}
	return Dist[T]{kind: logNormal, a: median, b: p90, sigma: sigma}, nil
}

// LogNormalSigma returns the log-normal distribution with the given median, and
// sigma as the standard deviation of its natural logarithm, from 0 to
// [SigmaLimit].
func LogNormalSigma[T Quantity](median T, sigma float64) (Dist[T], error) {
	if err := positive("LogNormalSigma", "median", median); err != nil {
		return Dist[T]{}, err
	}
	if !(sigma >= 0 && sigma <= SigmaLimit) {
		return Dist[T]{}, &argError{"LogNormalSigma", "sigma", number(sigma), fmt.Sprintf("a number from 0 to %g", SigmaLimit)}
	}
	return Dist[T]{kind: logNormal, a: median, sigma: math.Abs(sigma)}, nil // Abs: -0 is 0
}

// Mixture returns the distribution that picks one of the parts by weight and
// yields a value of it. It takes 1 to [PartsLimit] parts, none of them a mixture,
// with weights from 0 to [WeightLimit], of which at least one is not 0.
func Mixture[T Quantity](parts ...Part[T]) (Dist[T], error) {
	const call = "Mixture"
	if len(parts) == 0 || len(parts) > PartsLimit {
		return Dist[T]{}, &argError{call, "", fmt.Sprintf("%d parts", len(parts)), fmt.Sprintf("1 to %d parts", PartsLimit)}
	}
	total := 0.0
	for i, p := range parts {
		arg := "[" + strconv.Itoa(i) + "]"
		if !(p.Weight >= 0 && p.Weight <= WeightLimit) {
			return Dist[T]{}, &argError{call, arg + ".weight", number(p.Weight), fmt.Sprintf("a number from 0 to %.0f", WeightLimit)}
		}
		if p.Dist.kind == mixture {
			return Dist[T]{}, &argError{call, arg, "a mixture", "constant, uniform or lognormal: a mixture's parts are not mixtures, write their parts here"}
		}
		total += p.Weight
	}
	if total == 0 {
		return Dist[T]{}, &argError{call, "", "a total weight of 0", "at least one weight above 0"}
	}
	d := Dist[T]{kind: mixture, parts: make([]part[T], len(parts))}
	sum := 0.0
	for i, p := range parts {
		sum += p.Weight
		d.parts[i] = part[T]{weight: math.Abs(p.Weight), below: share(sum, total), dist: p.Dist}
	}
	return d, nil
}

// share returns the fraction sum/total of all draws. The whole is one short of
// 2^64: the last draw is left to the fallback in pick.
func share(sum, total float64) uint64 {
	if x := math.Ldexp(sum/total, 64); x < math.MaxUint64 {
		return uint64(x)
	}
	return math.MaxUint64
}

// Clamp returns d with values below min moved to min and values above max moved
// to max. A min of 0 and a max of 0 mean no bound on that side. It replaces an
// earlier clamp.
func (d Dist[T]) Clamp(min, max T) (Dist[T], error) {
	if err := inRange("Clamp", "min", min); err != nil {
		return Dist[T]{}, err
	}
	if err := inRange("Clamp", "max", max); err != nil {
		return Dist[T]{}, err
	}
	if max != 0 && min > max {
		return Dist[T]{}, &argError{"Clamp", "max", format(max), "at least min (" + format(min) + ")"}
	}
	d.clampMin, d.clampMax = min, max
	if d.kind == constant {
		return Dist[T]{a: d.clamp(d.a)}, nil
	}
	return d, nil
}

// Must returns d and panics if err is not nil. It is for distributions written
// out in Go source, where an error is a mistake of the programmer:
//
//	think := workload.Must(workload.Uniform(time.Second, 3*time.Second))
func Must[T Quantity](d Dist[T], err error) Dist[T] {
	if err != nil {
		panic(err)
	}
	return d
}

// argError is a refused argument of a constructor. The YAML reader turns arg
// into the path and position of the value in the file.
type argError struct{ call, arg, found, want string }

// Error says package, call, argument, what was found and what is allowed.
func (e *argError) Error() string {
	arg := e.arg
	if arg != "" {
		arg += ": "
	}
	return "workload." + e.call + ": " + arg + "found " + e.found + ", want " + e.want
}

func inRange[T Quantity](call, arg string, v T) error {
	if v < 0 || v > limit[T]() {
		return &argError{call, arg, format(v), wanted[T]()}
	}
	return nil
}

func positive[T Quantity](call, arg string, v T) error {
	if v == 0 {
		return &argError{call, arg, format(v), "more than 0: its logarithm is taken"}
	}
	return inRange(call, arg, v)
}

// number formats a weight or a sigma without an exponent, which not every YAML
// reader takes for a number.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
