package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBins: the library has as many bins as written histograms count on, and their values are where they are said to be.
func TestBins(t *testing.T) {
	h := newHistogram()
	if got := len(h.bins.Export().Counts); got != binsMax {
		t.Fatalf("the library makes %d bins, want %d: written histograms would not be read any more", got, binsMax)
	}
	for i := range binsMax {
		v := valueOf(i)
		if v > highestUS {
			continue
		}
		one := newHistogram()
		_ = one.bins.RecordValue(v)
		if counts := one.bins.Export().Counts; counts[i] != 1 {
			t.Fatalf("bin %d: value %d is counted elsewhere", i, v)
		}
	}
}

// TestQuantiles holds histograms against sorted lists, as they are and merged from parts that were written.
func TestQuantiles(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 1 + r.IntN(300)
		parts := [3]histogram{newHistogram(), newHistogram(), newHistogram()}
		var all []float64
		for range n {
			d := time.Duration(math.Exp(r.Float64()*30)) * time.Nanosecond // up to three hours, evenly over magnitudes
			parts[r.IntN(3)].add(d, r.IntN(10) == 0)
			all = append(all, d.Seconds())
		}
		slices.Sort(all)
		whole := newHistogram()
		for i := range parts {
			d := parts[i].distribution(TimeCall)
			if err := whole.load(&d); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for _, q := range []float64{0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			want := all[max(int(math.Ceil(q*float64(n))), 1)-1]
			if got := whole.quantile(q); math.Abs(got-want) > 0.008*want+1e-6 {
				t.Errorf("seed %d: quantile %v of %d: got %v, want %v", seed, q, n, got, want)
			}
		}
		d := whole.distribution(TimeCall)
		if d.N != n || d.MinS != all[0] || d.MaxS != all[n-1] {
			t.Errorf("seed %d: got %+v, want %d from %v to %v", seed, d, n, all[0], all[n-1])
		}
		bins, err := d.Bins()
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, b := range bins {
			count += b.N
			if b.ToS <= b.FromS {
				t.Errorf("seed %d: empty bin %+v", seed, b)
			}
		}
		if count != n {
			t.Errorf("seed %d: bins of %d, want %d", seed, count, n)
		}
	}
}

func TestOutOfRange(t *testing.T) {
	h := newHistogram()
	h.add(-time.Second, false)
	h.add(1000*24*time.Hour, false)
	if d := h.distribution(TimeTask); d.N != 2 || d.MinS != 0 || d.MaxS != 30*24*3600 || d.P99S != d.MaxS {
		t.Errorf("got %+v", d)
	}
}

// FuzzLoad: whatever a file says of a histogram, reading it gives an error of one line or counts that are those of the file.
func FuzzLoad(f *testing.F) {
	h := newHistogram()
	for i := range 50 {
		h.add(time.Duration(i*i)*time.Millisecond, false)
	}
	f.Add(h.distribution(TimeCall).Hist, 50)
	f.Add("", 0)
	f.Add("AQE", 1)
	f.Add("gICAgICAgICAAQE", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		h, d := newHistogram(), Distribution{Name: TimeCall, N: n, Hist: text, MaxS: 1e300}
		if err := h.load(&d); err != nil {
			if strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			return
		}
		if h.n != n || n > 0 && h.bins.TotalCount() != int64(n) {
			t.Errorf("%q: %d values, want %d", text, h.n, n)
		}
		if n > 0 {
			again := encodeBins(h.bins.Export().Counts)
			other := newHistogram()
			if err := other.load(&Distribution{Name: TimeCall, N: n, Hist: again}); err != nil || encodeBins(other.bins.Export().Counts) != again {
				t.Errorf("%q: written again %q: %v", text, again, err)
			}
		}
	})
}

// TestBuckets holds the arithmetic against a search.
func TestBuckets(t *testing.T) {
	bounds := timeBounds()
	if len(bounds) != 17 || bounds[0] != 0.01 || bounds[13] != 81.92 || bounds[16] != 655.36 {
		t.Fatalf("bounds of times: %v", bounds)
	}
	sizes := sizeBounds()
	if len(sizes) != 14 || sizes[0] != 1 || sizes[13] != 67108864 {
		t.Fatalf("bounds of tokens: %v", sizes)
	}
	check := func(what string, bounds []float64, v float64, counts []uint64) {
		t.Helper()
		want, _ := slices.BinarySearch(bounds, v) // the first that is not below
		if got := slices.Index(counts, 1); got != want {
			t.Errorf("%s %v: bucket %d, want %d", what, v, got, want)
		}
	}
	for i := range 40 {
		for _, d := range []time.Duration{0, 1, 10*time.Millisecond<<i/8 + time.Duration(i), 10 * time.Millisecond << (i / 2), 10*time.Millisecond<<(i/2) - 1, 10*time.Millisecond<<(i/2) + 1} {
			var c timeCounts
			c.add(d)
			check("time", bounds, d.Seconds(), c.counts[:])
		}
		for _, n := range []int{0, 1, 2, i, 1 << i, 1<<i + 1, 1<<i - 1} {
			var c sizeCounts
			c.add(n)
			check("tokens", sizes, float64(n), c.counts[:])
		}
	}
}
