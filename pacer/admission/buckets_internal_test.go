package admission

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// TestBucketsTwin holds the buckets against a list of all that was counted.
func TestBucketsTwin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		draws := rand.New(rand.NewPCG(seed, 0))
		n := 1 + draws.IntN(12)
		width := time.Duration(1+draws.IntN(9)) * time.Second
		w := newBuckets(width*time.Duration(n), n)
		type event struct {
			at   sim.Instant
			a, b int64
		}
		var all []event
		now := sim.Instant(draws.IntN(2)) * sim.Instant(draws.Int64N(1e18))
		for range 500 {
			now = now.Add(time.Duration(draws.IntN(3)*draws.IntN(40)) * time.Second)
			if draws.IntN(2) == 0 {
				e := event{now, int64(draws.IntN(5)), int64(draws.IntN(5))}
				all = append(all, e)
				w.add(now, e.a, e.b)
			}
			var wantA, wantB int64
			for _, e := range all {
				if int64(now)/int64(width)-int64(e.at)/int64(width) < int64(n) {
					wantA, wantB = wantA+e.a, wantB+e.b
				}
			}
			if a, b := w.sums(now); a != wantA || b != wantB {
				t.Fatalf("seed %d: %d and %d at %v s, want %d and %d", seed, a, b, now.Seconds(), wantA, wantB)
			}
			// A clock that went back forgets nothing.
			if a, b := w.sums(now - sim.Instant(time.Hour)); a != wantA || b != wantB {
				t.Fatalf("seed %d: %d and %d an hour before %v s, want %d and %d", seed, a, b, now.Seconds(), wantA, wantB)
			}
		}
	}
}
