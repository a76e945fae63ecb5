package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
)

// Mean is the mean of xs, or not a number if there are none.
func Mean(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	return stat.Mean(xs, nil)
}

// beyond is how many samples must lie beyond a quantile for it to be named: ten, so that a p99 needs
// 1,000 samples, a p95 needs 200, and a median 20.
const beyond = 10

// Allows says whether n samples are enough to name the quantile p, from 0 to 1.
func Allows(n int, p float64) bool {
	return float64(n)*min(p, 1-p) >= beyond-1e-9
}

// Quantile is the quantile p of samples, which need not be sorted, and false if they are too few for
// it: the smallest sample that the share p of them does not exceed.
func Quantile(samples []float64, p float64) (float64, bool) {
	if !Allows(len(samples), p) {
		return 0, false
	}
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	return sortedQuantile(p, sorted), true
}

// sortedQuantile does not interpolate: what never happened may count as infinite.
func sortedQuantile(p float64, sorted []float64) float64 {
	return stat.Quantile(p, stat.Empirical, sorted, nil)
}

// PooledQuantile is the quantile p of all samples together, with an interval from resampling whole
// seeds: samples of one seed are not independent. bySeed has the samples of each seed, and as many
// seeds as r. It is false if there are too few samples. Samples may be infinite, for what never happened.
func (r *Resampler) PooledQuantile(bySeed [][]float64, p float64) (value float64, within Interval, ok bool) {
	if len(bySeed) != r.n {
		panic("stats: PooledQuantile: samples of another number of seeds")
	}
	var pooled []float64
	for _, samples := range bySeed {
		pooled = append(pooled, samples...)
	}
	if !Allows(len(pooled), p) {
		return 0, Interval{}, false
	}
	slices.Sort(pooled)
	values := slices.Compact(slices.Clone(pooled))
	// upTo[v*n+s] is how many samples of seed s are at most values[v].
	upTo := make([]uint32, len(values)*r.n)
	for s, samples := range bySeed {
		sorted := slices.Clone(samples)
		slices.Sort(sorted)
		at := 0
		for v, value := range values {
			for at < len(sorted) && sorted[at] <= value {
				at++
			}
			upTo[v*r.n+s] = uint32(at)
		}
	}
	last := upTo[(len(values)-1)*r.n:]
	within = r.Of(func(counts []uint16) float64 {
		total := weigh(counts, last)
		if total == 0 {
			return math.NaN()
		}
		v := sort.Search(len(values)-1, func(v int) bool {
			return weigh(counts, upTo[v*r.n:]) >= p*total
		})
		return values[v]
	})
	return sortedQuantile(p, pooled), within, true
}

func weigh(counts []uint16, of []uint32) float64 {
	sum := uint64(0)
	for i, c := range counts {
		sum += uint64(c) * uint64(of[i])
	}
	return float64(sum)
}

// Correlation is Pearson's of two figures by seed. It is false if one of them does not vary, since
// then there is none.
func Correlation(xs, ys []float64) (float64, bool) {
	if len(xs) < 2 || len(xs) != len(ys) || constant(xs) || constant(ys) {
		return 0, false
	}
	r := stat.Correlation(xs, ys, nil)
	return r, !math.IsNaN(r)
}
