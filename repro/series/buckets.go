package series

import (
	"math/bits"
	"slices"
	"time"
)

// Bounds of histograms as the semantic conventions of OpenTelemetry for generative AI have them. Durations, in seconds,
// double from 0.01 to 81.92 there; calls of stalled runs take minutes, so three more follow.
const (
	boundFirst   = 10 * time.Millisecond
	boundsOfTime = 17 // 0.01 … 655.36
	boundsOfSize = 14 // 1 … 4^13 tokens
)

func timeBounds() []float64 {
	out := make([]float64, boundsOfTime)
	for i := range out {
		out[i] = (boundFirst << i).Seconds()
	}
	return out
}

func sizeBounds() []float64 {
	out := make([]float64, boundsOfSize)
	for i := range out {
		out[i] = float64(uint64(1) << (2 * i))
	}
	return out
}

// timeCounts counts durations by bucket, without memory of its own to take.
type timeCounts struct {
	counts [boundsOfTime + 1]uint64
	n      uint64
	sum    float64 // nanoseconds
}

func (c *timeCounts) add(d time.Duration) {
	d = max(d, 0)
	c.counts[doublings(uint64(d), uint64(boundFirst), boundsOfTime)]++
	c.n++
	c.sum += float64(d)
}

func (c *timeCounts) buckets(bounds []float64) Buckets {
	return Buckets{Bounds: bounds, Counts: slices.Clone(c.counts[:]), Sum: c.sum / 1e9, N: c.n}
}

// doublings returns the least i for which v <= first * 2^i, at most limit.
func doublings(v, first uint64, limit int) int {
	if v <= first {
		return 0
	}
	return min(bits.Len64((v-1)/first), limit)
}

// sizeCounts is the same for tokens, with bounds that quadruple.
type sizeCounts struct {
	counts [boundsOfSize + 1]uint64
	n      uint64
	sum    float64
}

func (c *sizeCounts) add(tokens int) {
	v := uint64(max(tokens, 0))
	c.counts[min((doublings(v, 1, 2*boundsOfSize)+1)/2, boundsOfSize)]++
	c.n++
	c.sum += float64(v)
}

func (c *sizeCounts) buckets(bounds []float64) Buckets {
	return Buckets{Bounds: bounds, Counts: slices.Clone(c.counts[:]), Sum: c.sum, N: c.n}
}
