package series

import (
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// A stall is one where the watchdog has raised it: on the wall a step may come while it reads the gauges.
func TestStallsAreTheWatchdogs(t *testing.T) {
	raised := 0
	s := stalls{after: time.Minute, raised: func() int { return raised }}
	at := func(seconds int) sim.Instant { return sim.Instant(time.Duration(seconds) * time.Second) }
	s.taskBegun(at(0))
	s.step(at(61))
	if w := s.window(); w != (Stalls{}) {
		t.Errorf("a step came before the watchdog spoke: %+v", w)
	}
	raised = 1
	s.look(at(121))
	if w := s.window(); w != (Stalls{Begun: 1, S: 60, Open: true}) {
		t.Errorf("it has spoken: %+v", w)
	}
	s.next()
	s.step(at(131))
	s.step(at(140))
	if w := s.window(); w != (Stalls{S: 10, OpenBefore: true}) {
		t.Errorf("a step has ended it: %+v", w)
	}
	raised = 2 // and a step ends this one before anybody looks
	s.step(at(210))
	if w := s.window(); w != (Stalls{Begun: 1, S: 80, OpenBefore: true}) {
		t.Errorf("one that nobody saw while it was open: %+v", w)
	}
}
