package workload

import "math"

// Mean returns the expected value, clamps and the limit of the quantity taken
// into account, rounded to whole units.
func (d Dist[T]) Mean() T {
	return T(math.Round(d.mean(0, float64(limit[T]()))))
}

// Max returns the largest value that a sample can have, and whether the
// distribution itself sets it. If not (a log-normal without a max) the value is
// [DurationLimit] or [TokensLimit].
func (d Dist[T]) Max() (T, bool) {
	top, bounded := d.a, true
	switch d.kind {
	case uniform:
		top = d.b
	case logNormal:
		top, bounded = limit[T](), d.sigma == 0
		if bounded {
			top = d.a
		}
	case mixture:
		top = 0
		for i := range d.parts {
			if d.parts[i].weight == 0 {
				continue
			}
			partTop, partBounded := d.parts[i].dist.Max()
			top, bounded = max(top, partTop), bounded && partBounded
		}
	}
	return d.clamp(top), bounded || d.clampMax != 0
}

// mean returns the expected value of d after a further clamp to [lo, hi]. Clamps
// compose: the clamp of a clamp is the clamp to the moved bounds.
func (d *Dist[T]) mean(lo, hi float64) float64 {
	inner := math.Inf(1)
	if d.clampMax != 0 {
		inner = float64(d.clampMax)
	}
	lo, hi = clampTo(float64(d.clampMin), lo, hi), clampTo(inner, lo, hi)
	switch d.kind {
	case uniform:
		return uniformMean(float64(d.a), float64(d.b), lo, hi)
	case logNormal:
		return logNormalMean(float64(d.a), d.sigma, lo, hi)
	case mixture:
		sum, total := 0.0, 0.0
		for i := range d.parts {
			sum += d.parts[i].weight * d.parts[i].dist.mean(lo, hi)
			total += d.parts[i].weight
		}
		return sum / total
	default:
		return clampTo(float64(d.a), lo, hi)
	}
}

// uniformMean is the mean of clamp(X, lo, hi) for X uniform on the whole numbers
// a to b. With k values below lo, m above hi and the others from l to h:
//
//	(k·lo + m·hi + (h-l+1)·(l+h)/2) / (b-a+1)
func uniformMean(a, b, lo, hi float64) float64 {
	if hi <= a {
		return hi
	}
	if lo >= b {
		return lo
	}
	l, h := max(a, lo), min(b, hi)
	below, above, inside := l-a, b-h, h-l+1
	return (below*lo + above*hi + inside*(l+h)/2) / (b - a + 1)
}

// logNormalMean is the mean of clamp(X, lo, hi) for ln X normal with mean
// μ = ln(median) and standard deviation σ. With α = (ln lo - μ)/σ, β = (ln hi - μ)/σ
// and Φ the standard normal distribution function:
//
//	lo·Φ(α) + exp(μ+σ²/2)·(Φ(β-σ) - Φ(α-σ)) + hi·(1-Φ(β))
//
// The rounding of samples to whole units is neglected: it moves the mean by less
// than half a unit.
func logNormalMean(median, sigma, lo, hi float64) float64 {
	if sigma == 0 || lo == hi {
		return clampTo(median, lo, hi)
	}
	alpha, beta := math.Log(lo/median)/sigma, math.Log(hi/median)/sigma
	middle := median * math.Exp(sigma*sigma/2) * (phi(beta-sigma) - phi(alpha-sigma))
	return lo*phi(alpha) + middle + hi*phi(-beta)
}

// phi is the standard normal distribution function.
func phi(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func clampTo(x, lo, hi float64) float64 { return min(max(x, lo), hi) }

// IsZero says whether d is the zero value, the constant 0, so that a field with omitzero is left out then
// only.
func (d Dist[T]) IsZero() bool { return d.kind == constant && d.a == 0 }
