package serving_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// cliff is what 20 clients get in 30 s from a server of four slots, each of which sends its next request
// at once, after an answer as after a timeout.
type cliff struct {
	replies, timeouts int
	tokens            int // that the server has made
}

// cliffAt plays clients of the given patience. Lengths are 100 tokens, or vary a little around that.
func cliffAt(t *testing.T, detect engine.Detection, varied bool, patience time.Duration) (v cliff) {
	const clients, span = 20, 30 * time.Second
	slots, err := serving.Preset("slots")
	if err != nil {
		t.Fatal(err)
	}
	su := setup{cfg: func(c *serving.Config) {
		*c = slots
		c.Abort.Detect = detect
		c.Gauges.Exact = true
	}}
	if varied {
		su.model.Output = func(_ string, _, promptTokens int) (int, int) { return promptTokens, 0 }
	}
	su.run(t, 1, func(p *play) {
		all := make([]*sim.Process, clients)
		for i := range all {
			all[i] = p.w.Spawn(p.ctx, "client", func(ctx context.Context) {
				draw := p.w.Stream("client", "lengths").At(i)
				for k := 0; p.w.Now() < sim.Instant(span); k++ {
					limited, cancel := sim.WithTimeout(ctx, p.w, patience, context.DeadlineExceeded)
					a := p.chat(limited, fmt.Sprintf("c%02d-%d", i, k), prompt(97+draw.IntN(8), 0))
					cancel()
					switch {
					case a.end >= sim.Instant(span): // cut off
					case a.err == nil:
						v.replies++
					case errors.Is(a.err, context.DeadlineExceeded):
						v.timeouts++
					default:
						t.Error(a.err)
					}
				}
			})
		}
		p.sleep(span)
		v.tokens = int(p.gauge(serving.GaugeDecodeTokens))
		for _, c := range all {
			p.must(c.Wait(p.ctx))
		}
	})
	return v
}

// TestTimeoutCliff reproduces a measurement at a server that keeps slots of clients that have left: 20
// clients, 4 slots, about 1 s of service, so that a turn takes 5 s. Who waits for that gets all the
// server can do. Who does not gets next to nothing: the slots are full of dead work.
func TestTimeoutCliff(t *testing.T) {
	measured := [...]struct {
		patience          time.Duration
		replies, timeouts int
	}{{10 * time.Second, 116, 0}, {6 * time.Second, 115, 0}, {4 * time.Second, 11, 132}, {2 * time.Second, 4, 280}}
	for _, row := range []struct {
		name   string
		detect engine.Detection
		varied bool
		least  int // times as many replies as were measured, beyond the cliff
	}{
		{"slots kept, 100 tokens each", engine.DetectNever, false, 1},
		{"slots kept, 97 to 104 tokens", engine.DetectNever, true, 1},
		// A slot that is freed at a timeout is taken by a request whose own time is up as it is done, if
		// all take the same: that is the worst of cases. Otherwise some of them make it.
		{"slots freed, 100 tokens each", engine.DetectNow, false, 1},
		{"slots freed, 97 to 104 tokens", engine.DetectNow, true, 3},
	} {
		t.Logf("%-30s %8s %8s %9s %13s", row.name, "patience", "replies", "timeouts", "tokens/reply")
		for _, m := range measured {
			got := cliffAt(t, row.detect, row.varied, m.patience)
			t.Logf("%-30s %8v %8d %9d %13.0f", "", m.patience, got.replies, got.timeouts, float64(got.tokens)/float64(got.replies))
			switch more := got.replies - m.replies; {
			case row.least > 1 && m.timeouts > 0:
				if got.replies < row.least*m.replies {
					t.Errorf("%s, %v: %d replies, want %d times the %d without freed slots", row.name, m.patience, got.replies, row.least, m.replies)
				}
			case more < 0, more > 2, got.timeouts != m.timeouts:
				t.Errorf("%s, %v: %d replies and %d timeouts, measured were %d and %d", row.name, m.patience, got.replies, got.timeouts, m.replies, m.timeouts)
			}
		}
	}
}
