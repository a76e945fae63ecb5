package serving

import (
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// TestStepsIn checks that the number of steps within a time is the exact inverse of the time that
// steps take, at the ends of steps and right before them, up to lengths where floats are rounded.
func TestStepsIn(t *testing.T) {
	draw := sim.NewStream(1, "batch", "steps")
	size := func(most int) int64 { return int64(draw.IntN(most)) >> draw.IntN(30) }
	for range 200_000 {
		b := batch{growth: size(1_000_000)}
		b.first = max(1, 2*b.growth+size(10_000_000_000))
		n := size(100_000_000)
		d := b.span(n)
		if d == spanLimit {
			continue
		}
		if got := b.stepsIn(int64(d)); got != n {
			t.Fatalf("first %d, growth %d: %d steps in %v, want %d", b.first, b.growth, got, d, n)
		}
		if n > 0 {
			if got := b.stepsIn(int64(d - 1)); got != n-1 {
				t.Fatalf("first %d, growth %d: %d steps in %v, want %d", b.first, b.growth, got, d-1, n-1)
			}
		}
	}
}

// TestSpanLimit checks that what would overflow is a very long time instead.
func TestSpanLimit(t *testing.T) {
	b := batch{first: int64(time.Hour), growth: int64(time.Hour)}
	last := time.Duration(0)
	for n := int64(1); n < 1<<40; n *= 2 {
		d := b.span(n)
		if d < last {
			t.Errorf("%d steps take %v, half of them %v", n, d, last)
		}
		last = d
	}
	if last != spanLimit {
		t.Errorf("2^39 steps of an hour take %v", last)
	}
}
