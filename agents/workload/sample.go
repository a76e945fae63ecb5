package workload

import (
	"math"
	"math/bits"
)

// Source yields uniformly distributed 64-bit numbers. A math/rand/v2 Source is
// one, and so is a stream of a simulated world.
type Source interface{ Uint64() uint64 }

// DrawsPerSample is how many numbers [Dist.Sample] takes from its source, always:
// the first picks the part of a mixture, the second makes the value.
const DrawsPerSample = 2

// Sample returns a value, made from exactly [DrawsPerSample] draws of u and
// nothing else. It allocates nothing.
//
// The value is at least 0 and at most [DurationLimit] or [TokensLimit]. The same
// draws give the same value, to the bit on one architecture; between architectures a
// log-normal may differ in its last bit, as math.Exp does.
func (d Dist[T]) Sample(u Source) T {
	pick, value := u.Uint64(), u.Uint64()
	if d.kind != mixture {
		return d.at(value)
	}
	return d.clamp(d.parts[d.pick(pick)].dist.at(value))
}

// pick returns the index of the part that the draw falls to. A part of weight 0
// has an empty interval, so it is never picked; the draw that rounding leaves
// over goes to the last part that has a weight.
func (d *Dist[T]) pick(draw uint64) int {
	last := 0
	for i := range d.parts {
		if draw < d.parts[i].below {
			return i
		}
		if d.parts[i].weight > 0 {
			last = i
		}
	}
	return last
}

// at returns the value of a distribution that is not a mixture at one draw: the
// inverse of its distribution function.
func (d *Dist[T]) at(draw uint64) T {
	switch d.kind {
	case uniform:
		// floor(draw / 2^64 * n) is biased by less than n / 2^64 < 0.0002 of a
		// value's probability, and by 2^-64 in the distribution function. Drawing
		// again would remove that and make the number of draws depend on chance.
		n := uint64(d.b-d.a) + 1
		step, _ := bits.Mul64(draw, n)
		return d.clamp(d.a + T(step))
	case logNormal:
		x := float64(d.a) * math.Exp(d.sigma*normal(draw))
		if top := limit[T](); x >= float64(top) {
			return d.clamp(top)
		}
		return d.clamp(T(math.Round(x)))
	default:
		return d.a
	}
}

// clamp moves v into the bounds of d.
func (d *Dist[T]) clamp(v T) T {
	v = max(v, d.clampMin)
	if d.clampMax != 0 {
		v = min(v, d.clampMax)
	}
	return v
}

// normal returns the quantile of the standard normal distribution at
// u = (top 52 bits of draw + 1/2) / 2^52. Both u and 2u-1 are exact in a float64 and
// u is never 0 or 1 (with 53 bits it could round to 1), so the result is symmetric
// and finite: within 8.21 of 0.
func normal(draw uint64) float64 {
	u := math.Ldexp(float64(draw>>12)+0.5, -52)
	return math.Sqrt2 * math.Erfinv(2*u-1)
}
