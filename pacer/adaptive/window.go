package adaptive

import (
	"math"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// window keeps the last samples twice: in order of time, to know which to forget, and sorted, so that
// a quantile is one look. It has all the memory it needs from the start.
type window struct {
	quantile, factor float64
	age              time.Duration // 0: samples are not forgotten for their age

	ring   []sample // all of it is in use once it is full
	oldest int      // index of the oldest sample
	n      int
	sorted []float64
}

type sample struct {
	at sim.Instant
	ns float64
}

func newWindow(c Config) *window {
	return &window{
		quantile: c.Quantile, factor: c.Factor, age: c.WindowTime,
		ring: make([]sample, c.Window), sorted: make([]float64, 0, c.Window),
	}
}

func (w *window) add(now sim.Instant, ns float64) {
	w.expire(now)
	if w.n == len(w.ring) {
		w.forget()
	}
	w.ring[(w.oldest+w.n)%len(w.ring)] = sample{now, ns}
	w.n++
	at, _ := slices.BinarySearch(w.sorted, ns)
	w.sorted = slices.Insert(w.sorted, at, ns)
}

// value is the quantile by nearest rank: of n samples the one with rank ⌈q·n⌉, counted from 1.
func (w *window) value(now sim.Instant) (float64, int) {
	w.expire(now)
	if w.n == 0 {
		return 0, 0
	}
	// Without the margin, 0.99 of 100 would have rank 100 where the product is rounded up.
	const rounding = 1e-9
	rank := int(math.Ceil(w.quantile*float64(w.n) - rounding))
	return w.factor * w.sorted[max(1, rank)-1], w.n
}

func (w *window) expire(now sim.Instant) {
	for w.age > 0 && w.n > 0 && now.Sub(w.ring[w.oldest].at) > w.age {
		w.forget()
	}
}

// forget drops the oldest sample.
func (w *window) forget() {
	at, _ := slices.BinarySearch(w.sorted, w.ring[w.oldest].ns)
	w.sorted = slices.Delete(w.sorted, at, at+1)
	w.oldest = (w.oldest + 1) % len(w.ring)
	w.n--
}
