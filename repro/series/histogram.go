package series

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What a histogram can tell apart: values in microseconds. Written histograms depend on these.
const (
	lowestUS  = 1
	highestUS = int64(30 * 24 * time.Hour / time.Microsecond)
	digits    = 2
	binsMax   = 4608 // that this makes
)

// histogram is the distribution of times in a window. Quantiles come from bins of 1 % width; what can be exact is.
type histogram struct {
	bins     *hdrhistogram.Histogram
	n        int
	censored int
	sum      float64 // nanoseconds
	min, max time.Duration
}

func newHistogram() histogram {
	return histogram{bins: hdrhistogram.New(lowestUS, highestUS, digits)}
}

// add takes in a time. One below 0 counts as 0, one beyond 30 days as that.
func (h *histogram) add(d time.Duration, censored bool) {
	d = min(max(d, 0), time.Duration(highestUS)*time.Microsecond)
	if h.n == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.n++
	h.sum += float64(d)
	if censored {
		h.censored++
	}
	_ = h.bins.RecordValue(int64(d / time.Microsecond)) // cannot fail within the bounds
}

func (h *histogram) reset() {
	if h.n > 0 {
		h.bins.Reset()
	}
	*h = histogram{bins: h.bins}
}

// quantile returns, in seconds, the smallest value that a share q of the values does not exceed.
func (h *histogram) quantile(q float64) float64 {
	if h.n == 0 {
		return 0
	}
	rank := min(max(math.Ceil(q*float64(h.n)), 1), float64(h.n))
	us := h.bins.ValueAtPercentile(100 * rank / float64(h.n)) // the library rounds to the nearest rank: this one
	return min(max(float64(us)/1e6, h.min.Seconds()), h.max.Seconds())
}

func (h *histogram) distribution(name Time) Distribution {
	d := Distribution{Name: name, N: h.n, Censored: h.censored}
	if h.n == 0 {
		return d
	}
	d.MeanS = h.sum / float64(h.n) / 1e9
	d.MinS, d.MaxS = h.min.Seconds(), h.max.Seconds()
	d.P50S, d.P95S, d.P99S = h.quantile(0.5), h.quantile(0.95), h.quantile(0.99)
	d.Hist = encodeBins(h.bins.Export().Counts)
	return d
}

// load adds a written distribution to the histogram, or says what is wrong with it and adds a part at most.
func (h *histogram) load(d *Distribution) error {
	if d.N == 0 && d.Hist == "" {
		return nil
	}
	before := h.bins.TotalCount()
	err := decodeBins(d.Hist, func(index int, n int64) { _ = h.bins.RecordValues(valueOf(index), n) }) // within the bounds
	if err != nil {
		return fmt.Errorf("series: hist of %s: %w", d.Name, err)
	}
	if got := h.bins.TotalCount() - before; got != int64(d.N) {
		return fmt.Errorf("series: hist of %s: found %d values, want n = %d", d.Name, got, d.N)
	}
	low, high := durationOf(d.MinS), durationOf(d.MaxS)
	if h.n == 0 || low < h.min {
		h.min = low
	}
	h.max = max(h.max, high)
	h.n += d.N
	h.censored += d.Censored
	h.sum += d.MeanS * float64(d.N) * 1e9
	return nil
}

// valueOf returns the least value of a bin. The first 2*half bins are of one microsecond; each half of as many that
// follow are twice as wide as those before.
func valueOf(index int) int64 {
	const half = 128 // bins for each doubling, with two digits
	if index < half {
		return int64(index)
	}
	return int64(half+index%half) << (index/half - 1)
}

func durationOf(seconds float64) time.Duration {
	return time.Duration(math.Round(min(max(seconds, 0), float64(highestUS)/1e6) * 1e9))
}

// encodeBins writes the counts of bins as [Distribution.Hist] says. The library's own encoding would go through
// zlib: slower by far, and different bytes with another release of Go.
func encodeBins(counts []int64) string {
	var b []byte
	skipped := uint64(0)
	for _, n := range counts {
		if n == 0 {
			skipped++
			continue
		}
		b = binary.AppendUvarint(b, skipped)
		b = binary.AppendUvarint(b, uint64(n))
		skipped = 0
	}
	return base64.RawStdEncoding.EncodeToString(b)
}

// countMax bounds the count of a bin that is read, so that sums of them stay far from overflowing.
const countMax = 1 << 48

var errHistogram = errors.New("not a histogram of this version")

// decodeBins reads what encodeBins has written, bin by bin.
func decodeBins(text string, take func(index int, n int64)) error {
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return errHistogram
	}
	for index := 0; len(b) > 0; index++ {
		skipped, n := binary.Uvarint(b)
		if n <= 0 || skipped >= uint64(binsMax-index) {
			return errHistogram
		}
		b = b[n:]
		count, n := binary.Uvarint(b)
		if n <= 0 || count == 0 || count > countMax {
			return errHistogram
		}
		b = b[n:]
		index += int(skipped)
		take(index, int64(count))
	}
	return nil
}

// Bin is a stretch of times of a distribution.
type Bin struct {
	FromS, ToS float64
	N          int
}

// Bins returns the bins that have values, in rising order, for heat maps and the like.
func (d *Distribution) Bins() ([]Bin, error) {
	h := newHistogram()
	if err := h.load(d); err != nil {
		return nil, err
	}
	var out []Bin
	for _, bar := range h.bins.Distribution() {
		if bar.Count > 0 {
			out = append(out, Bin{float64(bar.From) / 1e6, float64(bar.To+1) / 1e6, int(bar.Count)})
		}
	}
	return out, nil
}

// Quantile returns in seconds the smallest value that a share q of the values, from 0 to 1, does not exceed.
func (d *Distribution) Quantile(q float64) (float64, error) {
	h := newHistogram()
	if err := h.load(d); err != nil {
		return 0, err
	}
	return h.quantile(q), nil
}
