package api

import "slices"

// tally is a histogram. It is not safe for concurrent use. The zero value has no bounds: make one with
// newTally.
type tally struct {
	bounds []float64
	counts []uint64 // by bound; the last one is of what is above all
	sum    float64
	n      uint64
}

func newTally(bounds []float64) tally {
	return tally{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

// add counts a value so many times.
func (t *tally) add(value float64, times uint64) {
	i, _ := slices.BinarySearch(t.bounds, value) // the first bound that is not below the value
	t.counts[i] += times
	t.sum += value * float64(times)
	t.n += times
}

// copy returns a tally of its own.
func (t *tally) copy() *tally {
	c := *t
	c.counts = slices.Clone(t.counts)
	return &c
}

// cumulative returns how many values are at or under each bound.
func (t *tally) cumulative() map[float64]uint64 {
	out, sum := make(map[float64]uint64, len(t.bounds)), uint64(0)
	for i, bound := range t.bounds {
		sum += t.counts[i]
		out[bound] = sum
	}
	return out
}
