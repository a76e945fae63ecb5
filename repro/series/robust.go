package series

import (
	"math"
	"slices"
)

// point is a value at a time, in hours.
type point struct{ t, x float64 }

// trend is what a series of points does over time. Nothing of it minds outliers: it rests on medians and signs.
type trend struct {
	n         int
	slope     float64 // Theil–Sen: the median of the slopes between all pairs of points; an hour
	low, high float64 // its interval of confidence of 99 % (Sen)
	start     float64 // of the line with that slope through the middle of the points, at the first of them
	end       float64 // and at the last
	p         float64 // two-sided, of Mann–Kendall's test for a trend
	factor    float64 // by how much variances grow since values depend on those before them
}

// z99 is the quantile of the normal distribution that leaves 0.5 % on either side.
const z99 = 2.5758293035489004

// trendOf takes the square of the number of points in time: thin them first. There must be at least 3, in order of time.
func trendOf(points []point) trend {
	out := trend{n: len(points), p: 1}
	slopes := make([]float64, 0, len(points)*(len(points)-1)/2)
	for i := range points {
		for _, q := range points[i+1:] {
			if dt := q.t - points[i].t; dt > 0 {
				slopes = append(slopes, (q.x-points[i].x)/dt)
			}
		}
	}
	if len(slopes) == 0 {
		return out
	}
	out.slope = median(slopes) // which sorts them
	at0 := median(out.rest(points))
	out.start, out.end = at0+out.slope*points[0].t, at0+out.slope*points[len(points)-1].t
	s, variance := kendall(points)
	out.factor = dependence(noise(points, out))
	variance *= out.factor
	if variance > 0 && s != 0 {
		z := (math.Abs(s) - 1) / math.Sqrt(variance) // less 1: S moves in steps of 2
		out.p = min(math.Erfc(z/math.Sqrt2), 1)
	}
	reach := z99 * math.Sqrt(variance)
	n := float64(len(slopes))
	out.low = slopes[int(max((n-reach)/2, 0))]
	out.high = slopes[int(min((n+reach)/2, n-1))]
	return out
}

// rest returns what is left of the values when the trend is taken off.
func (l *trend) rest(points []point) []float64 {
	out := make([]float64, len(points))
	for i, q := range points {
		out[i] = q.x - l.slope*q.t
	}
	return out
}

// around is rest, less its median.
func (l *trend) around(points []point) []float64 {
	out := l.rest(points)
	m := median(slices.Clone(out))
	for i := range out {
		out[i] -= m
	}
	return out
}

// kendall returns Mann–Kendall's S, the number of pairs that rise less that of those that fall, and its variance where there
// is no trend, with ties taken into account.
func kendall(points []point) (s, variance float64) {
	n := float64(len(points))
	for i := range points {
		for _, q := range points[i+1:] {
			switch {
			case q.x > points[i].x:
				s++
			case q.x < points[i].x:
				s--
			}
		}
	}
	variance = n * (n - 1) * (2*n + 5)
	for _, ties := range tied(points) {
		t := float64(ties)
		variance -= t * (t - 1) * (2*t + 5)
	}
	return s, variance / 18
}

// tied returns how many points have the same value, for each value that several have.
func tied(points []point) []int {
	xs := values(points)
	slices.Sort(xs)
	var out []int
	for i := 0; i < len(xs); {
		j := i + 1
		for j < len(xs) && xs[j] == xs[i] {
			j++
		}
		if j-i > 1 {
			out = append(out, j-i)
		}
		i = j
	}
	return out
}

// dependence returns by how much the variance of S grows since values, freed of their trend, depend on those before them: at
// least 1. Without it a slow oscillation would pass for a trend. It is the larger of two estimates: by the correlations of
// ranks at all distances at which they are clear of noise (Hamed and Rao, 1998), and by that of neighbours alone, as if each value
// passed on a share of itself. The latter has its bias taken off, which is large in short series, and counts where it is more
// than five in six series without any dependence show.
func dependence(rest []float64) float64 {
	n := len(rest)
	r := ranks(rest)
	mean := float64(n-1) / 2
	var square float64
	for i := range r {
		r[i] -= mean
		square += r[i] * r[i]
	}
	if square == 0 || n < 4 {
		return 1
	}
	factor, neighbours, size := 0.0, 0.0, float64(n)
	for lag := 1; lag <= n/3; lag++ {
		var sum float64
		for i := range n - lag {
			sum += r[i] * r[i+lag]
		}
		rho := sum / square
		if lag == 1 && rho > 1/math.Sqrt(size) {
			neighbours = min(rho+(1+4*rho)/size, 0.95)
		}
		if math.Abs(rho) < 1.96/math.Sqrt(size) {
			continue
		}
		k := float64(lag)
		factor += (size - k) * (size - k - 1) * (size - k - 2) * rho
	}
	return max(1, 1+2/(size*(size-1)*(size-2))*factor, (1+neighbours)/(1-neighbours))
}

// ranks returns the ranks of values, from 0; equal ones share theirs.
func ranks(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case xs[a] < xs[b]:
			return -1
		case xs[a] > xs[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(xs))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && xs[order[j]] == xs[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

// thin makes at most so many points of more, each the median of neighbours: that takes out most of the noise, and of how
// much values depend on those just before them.
func thin(points []point, most int) []point {
	n := len(points)
	if n <= most {
		return points
	}
	out := make([]point, most)
	for i := range out {
		group := points[i*n/most : (i+1)*n/most]
		out[i] = point{median(times(group)), median(values(group))}
	}
	return out
}

func times(points []point) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = p.t
	}
	return out
}

func values(points []point) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = p.x
	}
	return out
}

// median returns the middle of values, of which there is at least one; it leaves them sorted.
func median(xs []float64) float64 {
	slices.Sort(xs)
	return middle(xs)
}

// middle is median for values that are sorted.
func middle(xs []float64) float64 {
	n := len(xs)
	if n%2 == 1 {
		return xs[n/2]
	}
	return (xs[n/2-1] + xs[n/2]) / 2
}
