package series

import (
	"time"

	"example.com/wedge/harness/sim"
)

// stalls tells when work makes no progress, by the watchdog's rule: no step finishes for so long although some task is
// worked on. It is told the time and never asks for it; a stall that nobody has looked at while it was open is found
// at the next event.
type stalls struct {
	after  time.Duration // 0: nothing is a stall
	raised func() int    // the watchdog's own count; nil: it is by its rule

	known   int         // of raised, those that are part of begun
	busy    int         // tasks that are worked on
	last    sim.Instant // end of the latest step, or when work began, at first or after a pause
	open    bool
	counted sim.Instant // up to when the open stall is part of spent
	begun   int
	spent   time.Duration

	atStart struct { // as things stood when the window began
		begun int
		spent time.Duration
		open  bool
	}
}

// look brings the books up to an instant.
func (s *stalls) look(now sim.Instant) {
	if !s.open && s.due(now) {
		s.open, s.counted = true, s.last
		s.begun++
	}
	if s.open {
		s.spent += now.Sub(s.counted)
		s.counted = now
	}
}

// due says whether a stall is open that was not when somebody looked last. A watchdog on the wall takes its time, and may
// see a step that comes while it does: so it is asked, if it can be.
func (s *stalls) due(now sim.Instant) bool {
	if s.raised == nil {
		return s.busy > 0 && s.after > 0 && now.Sub(s.last) >= s.after
	}
	raised := s.raised()
	more := raised > s.known
	s.known = raised
	return more
}

func (s *stalls) step(now sim.Instant) {
	s.look(now)
	s.last, s.open = now, false
}

func (s *stalls) taskBegun(now sim.Instant) {
	if s.busy == 0 && !s.open {
		s.last = now
	}
	s.busy++
}

func (s *stalls) taskEnded(now sim.Instant) {
	s.look(now)
	s.busy--
}

// idle returns for how long no step has finished although there was work.
func (s *stalls) idle(now sim.Instant) time.Duration {
	if s.busy == 0 && !s.open {
		return 0
	}
	return now.Sub(s.last)
}

// window returns what has happened since the window began. It is up to date after look.
func (s *stalls) window() Stalls {
	w := &s.atStart
	return Stalls{Begun: s.begun - w.begun, S: (s.spent - w.spent).Seconds(), Open: s.open, OpenBefore: w.open}
}

// next starts a window.
func (s *stalls) next() {
	s.atStart.begun, s.atStart.spent, s.atStart.open = s.begun, s.spent, s.open
}
