package admission

import (
	"time"

	"example.com/wedge/harness/sim"
)

// buckets counts two things over the last while, in equal pieces of it that begin at multiples of
// their width, so that no event needs to be remembered by itself. What it counts lies at most the
// window back, and at least the window without one bucket.
type buckets struct {
	width time.Duration
	ring  []pair
	head  int64 // number of the bucket that now lies in, counted from instant 0
	sum   pair
}

// pair is what is counted: all and good, or deposits and withdrawals. Whole numbers, since sums of
// fractions would not come back to 0.
type pair struct{ a, b int64 }

func newBuckets(window time.Duration, n int) buckets {
	return buckets{width: max(1, window/time.Duration(n)), ring: make([]pair, n)}
}

// add counts into the present bucket.
func (w *buckets) add(now sim.Instant, a, b int64) {
	w.expire(now)
	at := &w.ring[w.head%int64(len(w.ring))]
	at.a += a
	at.b += b
	w.sum.a += a
	w.sum.b += b
}

// sums returns what has been counted within the window.
func (w *buckets) sums(now sim.Instant) (a, b int64) {
	w.expire(now)
	return w.sum.a, w.sum.b
}

// expire empties the buckets that now has moved past. A clock that goes back moves nothing.
func (w *buckets) expire(now sim.Instant) {
	head := int64(now) / int64(w.width)
	for moved := int64(0); w.head < head; w.head++ {
		if moved++; moved > int64(len(w.ring)) {
			w.head = head
			return
		}
		at := &w.ring[(w.head+1)%int64(len(w.ring))]
		w.sum.a -= at.a
		w.sum.b -= at.b
		*at = pair{}
	}
}

// clear forgets everything.
func (w *buckets) clear() {
	clear(w.ring)
	w.sum = pair{}
}
