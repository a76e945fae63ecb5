package engine_test

import (
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestThrottle: while an engine is throttled, steps and chunks take as much longer, for whoever is there;
// what is under way when that begins or ends has its length already.
func TestThrottle(t *testing.T) {
	flat := func(c *engine.Config) {
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 100*time.Millisecond, 0, 0
		c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 100*time.Millisecond, 0, 0
	}
	t.Run("steps", func(t *testing.T) {
		for _, mode := range []engine.Mode{engine.PD, engine.Unified} {
			p := newPlay(t, func(c *engine.Config) { flat(c); c.Mode = mode },
				fault.Fault{Where: fault.Decode, What: fault.Throttle, Factor: 4, From: 10 * time.Second, To: 20 * time.Second})
			r := p.ask("a", 100, 1000)
			p.until(time.Second)
			for p.Now() < sim.Instant(30*time.Second) {
				_, began := r.legs[1].Made(p.Now())
				want := 100 * time.Millisecond
				if began >= sim.Instant(10*time.Second) && began < sim.Instant(20*time.Second) {
					want *= 4
				}
				p.until(time.Duration(r.legs[1].NextToken(p.Now())))
				if made, at := r.legs[1].Made(p.Now()); at.Sub(began) != want {
					t.Fatalf("%s: token %d is made at %v, %v after the one before, want %v after", mode, made, at, at.Sub(began), want)
				}
			}
			if made, _ := r.legs[1].Made(p.Now()); made < 150 {
				t.Errorf("%s: only %d tokens", mode, made)
			}
		}
	})
	t.Run("chunks", func(t *testing.T) {
		p := newPlay(t, flat, fault.Fault{Where: fault.Prefill, What: fault.Throttle, Factor: 3, From: 10 * time.Second, To: 20 * time.Second})
		for _, row := range []struct{ at, takes time.Duration }{
			{time.Second, 100 * time.Millisecond}, {9950 * time.Millisecond, 100 * time.Millisecond},
			{12 * time.Second, 300 * time.Millisecond}, {19900 * time.Millisecond, 300 * time.Millisecond}, {25 * time.Second, 100 * time.Millisecond},
		} {
			p.until(row.at)
			r := p.ask("a", 100, 1)
			p.until(row.at + 2*time.Second)
			if got := r.legs[0].Time(engine.StagePrefill); got != row.takes {
				t.Errorf("a prompt at %v takes %v, want %v", row.at, got, row.takes)
			}
		}
	})
}
