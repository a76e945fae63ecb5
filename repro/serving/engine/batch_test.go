package engine

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
		b := batch{growthNs: size(1_000_000)}
		b.firstNs = max(1, 2*b.growthNs+size(10_000_000_000))
		n := size(100_000_000)
		d := b.span(n)
		if d == spanLimit {
			continue
		}
		if got := b.stepsIn(int64(d)); got != n {
			t.Fatalf("first %d, growth %d: %d steps in %v, want %d", b.firstNs, b.growthNs, got, d, n)
		}
		if n > 0 {
			if got := b.stepsIn(int64(d - 1)); got != n-1 {
				t.Fatalf("first %d, growth %d: %d steps in %v, want %d", b.firstNs, b.growthNs, got, d-1, n-1)
			}
		}
	}
}

// TestSpanLimit checks that what would overflow is a very long time instead.
func TestSpanLimit(t *testing.T) {
	b := batch{firstNs: int64(time.Hour), growthNs: int64(time.Hour)}
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
	b = batch{size: 1, makers: 1, context: 1_000_000_000}
	b.setSpeed(&DecodeConfig{StepBase: time.Hour, StepPerRequest: time.Minute, StepPerContextToken: time.Millisecond}, 100_000)
	if b.firstNs != spanLimit {
		t.Errorf("a step of 10^20 ns takes %d", b.firstNs)
	}
}

// TestFirstOver checks the step at which memory runs out against counting.
func TestFirstOver(t *testing.T) {
	draw := sim.NewStream(1, "batch", "over")
	for range 10_000 {
		b := batch{makers: int64(1 + draw.IntN(8)), steps: int64(draw.IntN(1000)), context: int64(draw.IntN(5000) - 2500)}
		limit := int64(draw.IntN(20_000) - 1000)
		want := b.steps
		for b.kvTokens(want) <= limit {
			want++
		}
		if got := b.firstOver(limit); got != want {
			t.Fatalf("%+v: over %d tokens at step %d, want %d", b, limit, got, want)
		}
	}
	if (&batch{}).firstOver(0) >= 0 {
		t.Error("an empty batch runs out of memory")
	}
}
