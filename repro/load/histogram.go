package load

import (
	"math"
	"math/bits"
	"time"
)

// histogram keeps lengths of time in buckets, so that a million of them take no more memory than a
// hundred. A bucket is at most 1/128 wide in relation to its values, so a quantile is off by at most
// 0.4 %; number, mean, least and largest are exact. This is the layout of HdrHistogram, which is not
// imported for it: what is needed here is forty lines. The zero value is empty.
type histogram struct {
	n        uint64
	sumNS    float64
	min, max time.Duration
	buckets  []uint64 // nil while empty
}

const (
	bucketBits  = 7
	bucketCount = (65 - bucketBits) << bucketBits
)

// bucketOf returns the bucket of a value. Values below 256 ns have one each; above, the bucket is
// named by the position of the highest bit and the seven bits below it:
//
//	v = 1bbbbbbb·2^e + rest   →   e·128 + 1bbbbbbb
func bucketOf(v uint64) int {
	e := max(0, bits.Len64(v)-bucketBits-1)
	return e<<bucketBits + int(v>>e)
}

// middleOf is the middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket < 2<<bucketBits {
		return time.Duration(bucket)
	}
	e := bucket>>bucketBits - 1
	low := uint64(bucket-e<<bucketBits) << e
	return time.Duration(low + 1<<e/2)
}

// add counts a value so many times. A negative one counts as 0: clocks that were set back.
func (h *histogram) add(v time.Duration, times uint64) {
	if times == 0 {
		return
	}
	v = max(v, 0)
	if h.buckets == nil {
		h.buckets, h.min = make([]uint64, bucketCount), v
	}
	h.buckets[bucketOf(uint64(v))] += times
	h.n += times
	h.sumNS += float64(v) * float64(times)
	h.min, h.max = min(h.min, v), max(h.max, v)
}

// quantile returns the value below or at which a share q of all values lies, by nearest rank.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.n)))
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; seen >= max(rank, 1) {
			return min(max(middleOf(i), h.min), h.max)
		}
	}
	return 0
}

// Quantiles sums up a distribution of lengths of time, in seconds.
type Quantiles struct {
	N    uint64  `json:"n"` // samples
	Mean float64 `json:"mean_s"`
	P50  float64 `json:"p50_s"`
	P90  float64 `json:"p90_s"`
	P95  float64 `json:"p95_s"`
	P99  float64 `json:"p99_s"`
	Max  float64 `json:"max_s"`
	// P99Sound says that there are enough samples for P99 to mean something: ten above it at least.
	P99Sound bool `json:"p99_sound"`
}

// p99SamplesMin is how many samples a 99th percentile wants.
const p99SamplesMin = 1000

// quantiles returns nil if there is no sample.
func (h *histogram) quantiles() *Quantiles {
	if h.n == 0 {
		return nil
	}
	return &Quantiles{
		N: h.n, Mean: h.sumNS / float64(h.n) / 1e9,
		P50: h.quantile(0.50).Seconds(), P90: h.quantile(0.90).Seconds(), P95: h.quantile(0.95).Seconds(), P99: h.quantile(0.99).Seconds(),
		Max: h.max.Seconds(), P99Sound: h.n >= p99SamplesMin,
	}
}
