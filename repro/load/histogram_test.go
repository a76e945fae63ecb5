package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestHistogramAgainstSorting compares quantiles with those of the sorted values.
func TestHistogramAgainstSorting(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var h histogram
		values := make([]time.Duration, 1+r.IntN(3000))
		sum := 0.0
		for i := range values {
			values[i] = time.Duration(math.Exp(r.Float64() * 40)) // from a nanosecond to years
			h.add(values[i], 1)
			sum += float64(values[i])
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.5, 0.9, 0.95, 0.99, 1} {
			want := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
			got := h.quantile(q)
			if off := math.Abs(float64(got-want)) / float64(want); off > 1.0/256 {
				t.Errorf("seed %d: quantile %v of %d values is %v, want %v: off by %.2f %%", seed, q, len(values), got, want, 100*off)
			}
		}
		got := h.quantiles()
		if got.N != uint64(len(values)) || got.Max != values[len(values)-1].Seconds() || math.Abs(got.Mean-sum/float64(len(values))/1e9) > 1e-9*got.Mean {
			t.Errorf("seed %d: %+v", seed, got)
		}
		if got.P99Sound != (len(values) >= 1000) {
			t.Errorf("seed %d: the p99 of %d values is called sound: %v", seed, len(values), got.P99Sound)
		}
	}
}

func TestHistogramEdges(t *testing.T) {
	var h histogram
	if h.quantiles() != nil || h.quantile(0.5) != 0 {
		t.Error("an empty histogram has quantiles")
	}
	h.add(5, 0)
	if h.quantiles() != nil {
		t.Error("a value that was added no times counts")
	}
	h.add(-3, 1)
	h.add(math.MaxInt64, 2)
	if q := h.quantiles(); q.N != 3 || q.P50 < 0.99*q.Max || q.Max != time.Duration(math.MaxInt64).Seconds() || h.min != 0 {
		t.Errorf("%+v, least %v", q, h.min)
	}
	for v := range uint64(1 << 16) { // buckets go up without a hole, and each has its own values
		if b := bucketOf(v); v > 0 && (b < bucketOf(v-1) || b > bucketOf(v-1)+1 || bucketOf(uint64(middleOf(b))) != b) {
			t.Fatalf("%d ns is in bucket %d with the middle %v", v, b, middleOf(b))
		}
	}
	if b := bucketOf(math.MaxUint64); b != bucketCount-1 {
		t.Errorf("the largest value is in bucket %d of %d", b, bucketCount)
	}
}
