package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestDropDead: an engine that looks for the dead serves nobody who has left or whose deadline is past, in
// whichever queue they wait; one that does not look serves them all. There is room for one request at a
// time at the place that the row is about; a answers for about 100 s, b leaves at 5 s, c has until 20 s, d
// until much later. In between it comes to them in this order.
func TestDropDead(t *testing.T) {
	places := []struct {
		name   string
		change func(c *engine.Config)
	}{
		{"batch", func(c *engine.Config) { c.Decode.RunningMax = 1 }},
		{"prealloc", func(c *engine.Config) { c.Decode.RequestsMax = 1 }},
		{"unified", func(c *engine.Config) { c.Mode, c.Decode.RunningMax = engine.Unified, 1 }},
		{"prefill", func(c *engine.Config) { c.Prefill.ChunkBase, c.Prefill.ChunkTokens = 100*time.Second, 1000 }},
	}
	for _, place := range places {
		for _, drops := range []bool{false, true} {
			t.Run(fmt.Sprint(place.name, " ", drops), func(t *testing.T) {
				p := newPlay(t, func(c *engine.Config) {
					c.Prefill.BootstrapTimeout, c.Transfer.WaitingTimeout = 0, 0
					c.Abort.Detect, c.Abort.DropDead = engine.DetectNever, drops
					place.change(c)
				})
				a, b := p.ask("a", 1000, 4000), p.ask("b", 1000, 400)
				c, d := p.prepare("c", 1000, 400), p.prepare("d", 1000, 400)
				c.job.Deadline, d.job.Deadline = sim.Instant(20*time.Second), sim.Instant(2*time.Hour)
				c.send()
				d.send()
				p.until(5 * time.Second)
				b.leave()
				p.until(time.Hour)
				for _, row := range []struct {
					r      *pair
					served bool
				}{{a, true}, {b, !drops}, {c, !drops}, {d, true}} {
					if served := row.r.made() == row.r.job.OutputTokens; served != row.served {
						t.Errorf("%s: served %v, want %v: %s, %d tokens", row.r.name, served, row.served, row.r.where(), row.r.made())
					}
				}
				told := strings.Join(p.told, "\n")
				if drops != strings.Contains(told, "failed 504 GATEWAY_TIMEOUT") {
					t.Errorf("told:\n%s", told)
				}
				p.empty()
			})
		}
	}
}

// TestExpect: the estimate of a wait is that of a queue that goes on as it has gone.
func TestExpect(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) {
		c.Decode.RunningMax, c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 1, 100*time.Millisecond, 0, 0
	})
	w := p.Decodes()[0]
	if turn, serve := w.Expect(); turn != 0 || serve != 0 {
		t.Errorf("before the first turn: %v and %v, want 0s", turn, serve)
	}
	for i := range 60 {
		p.ask(fmt.Sprint("r", i), 100, 100) // 10 s each
	}
	p.until(400 * time.Second) // 39 or 40 are done or running
	if turn, serve := w.Expect(); turn < 180*time.Second || turn > 220*time.Second || serve.Round(time.Second) != 10*time.Second {
		t.Errorf("with some 20 waiting for 10 s each: %v and %v, want about 200 s and 10 s", turn, serve)
	}
	p.until(700 * time.Second)
	if turn, _ := w.Expect(); turn < 5*time.Second || turn > 11*time.Second {
		t.Errorf("with nobody there: %v, want the latest turns' 10 s at most", turn)
	}
}
