package stats

import (
	"math"
	"math/rand/v2"
)

// Resamples is how many resamples an interval is made of.
const Resamples = 10_000

// Interval is a 95 % interval. The zero value is the point 0.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Excludes says whether x lies outside, so that the figure differs from x by more than chance does.
func (i Interval) Excludes(x float64) bool { return x < i.Low || x > i.High }

// Resampler draws whole seeds with replacement, the same draws for every figure that it is asked
// for, so that intervals of one comparison belong together. It is safe for concurrent use.
type Resampler struct {
	n      int
	counts []uint16 // row by row: how often each of the n seeds is in the resample
}

// NewResampler makes the resamples of n seeds. n must be at least 1 and at most 65,535.
func NewResampler(n int, seed uint64) *Resampler {
	r := &Resampler{n: n, counts: make([]uint16, n*Resamples)}
	draws := rand.New(rand.NewPCG(seed, 0x77656467652f636d))
	for row := range Resamples {
		counts := r.counts[row*n : (row+1)*n]
		for range n {
			counts[draws.IntN(n)]++
		}
	}
	return r
}

// N is the number of seeds.
func (r *Resampler) N() int { return r.n }

// Mean is the percentile interval of the mean of xs, one figure a seed. It panics if there are not as
// many as seeds.
func (r *Resampler) Mean(xs []float64) Interval {
	if len(xs) != r.n {
		panic("stats: Mean: another number of figures than of seeds")
	}
	if constant(xs) {
		return Interval{xs[0], xs[0]}
	}
	return r.Of(func(counts []uint16) float64 {
		sum := 0.0
		for i, c := range counts {
			sum += float64(c) * xs[i]
		}
		return sum / float64(r.n)
	})
}

// Of is the percentile interval of any figure, given as a function of how often each seed is in the
// resample. Resamples for which it is not a number are left out; if all are, so are the bounds.
func (r *Resampler) Of(figure func(counts []uint16) float64) Interval {
	values := make([]float64, 0, Resamples)
	for row := range Resamples {
		if v := figure(r.counts[row*r.n : (row+1)*r.n]); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return Interval{math.NaN(), math.NaN()}
	}
	const tail = 0.025
	low := selectRank(values, int(tail*float64(len(values))))
	high := selectRank(values, int((1-tail)*float64(len(values))))
	return Interval{low, high}
}

// selectRank returns what would stand at a rank, counted from 0, if values were sorted, and moves values
// about. All resamples are not worth sorting for two of them.
func selectRank(values []float64, rank int) float64 {
	low, high := 0, len(values)-1
	for low < high {
		pivot := values[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case rank <= j:
			high = j
		case rank >= i:
			low = i
		default:
			return values[rank]
		}
	}
	return values[rank]
}

func constant(xs []float64) bool {
	for _, x := range xs {
		if x != xs[0] {
			return false
		}
	}
	return len(xs) > 0
}
