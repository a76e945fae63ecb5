package serving

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Fate is what would have become of a request whose client has left, as far as the servers know it at
// that instant: of faults that were still to come they do not. It is there for measuring what a policy
// does, never for a diagnosis: real servers do not show it.
type Fate struct {
	Kind  FateKind
	Since sim.Instant   // of FateDead: since when nothing could come any more
	Left  time.Duration // of FateHealthy: until the end of the answer; negative: that cannot be told yet
}

// FateKind says how a request would have ended.
type FateKind uint8

// The ways to end. The zero value is FateHealthy.
const (
	FateHealthy FateKind = iota // with a complete answer
	FateFailing                 // with an error, or an answer that breaks off or goes silent, which has not happened yet
	FateDead                    // not at all: nothing more would have come, but perhaps an error when a limit of the servers' own fires
)

// Witness is told what only the servers know. The functions are called with the monitor held and must
// not wait; nil ones are not called.
type Witness struct {
	// Left is told that the client of a request has left before it had the complete answer.
	Left func(id string, f Fate)
	// Computed is told that an engine is done with a request, for which it has computed so many tokens
	// of a prompt. The client may have left long ago.
	Computed func(id string, promptTokens int)
}

// Watch has w told from now on. It must be called before the first request.
func (s *Stack) Watch(w Witness) {
	s.w.Lock()
	defer s.w.Unlock()
	s.witness = w
	s.engines.OnGone(nil)
	if w.Computed != nil {
		s.engines.OnGone(s.computed)
	}
}

func (s *Stack) computed(l *engine.Leg) {
	if a, ok := l.Owner.(*attempt); ok && l.Computed() > 0 {
		s.witness.Computed(a.id, l.Computed())
	}
}

// Tally is what the servers have done since the start.
type Tally struct {
	engine.Tally
	Dispatched int // requests that the router has sent to engines, again ones included
}

// Tally returns what the servers have done by now, and tells the witness of the requests that engines
// still have.
func (s *Stack) Tally() Tally {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	if s.witness.Computed != nil {
		s.engines.Legs(s.computed)
	}
	return Tally{s.engines.Tally(), s.dispatched}
}

// leaves tells the witness that a client leaves, and the engines that nobody waits any more. It comes
// before anything that follows from it.
func (h *Handle) leaves() {
	if left := h.s.witness.Left; left != nil && !h.left {
		left(h.r.ID, h.fate())
	}
	h.left = true
	if a := h.r.a; a != nil {
		a.prefill.Desert()
		a.decode.Desert()
	}
}

// Fates tells what would become of each request that the client waits for. Those whose connection was
// dead when they were sent are not among them: the servers have never heard of them.
func (c *Client) Fates(f func(id string, fate Fate)) {
	c.s.w.Lock()
	defer c.s.w.Unlock()
	c.s.enter()
	for b := c.open; b != nil; b = b.next {
		if b.h.s != nil && (b.h.severed || !b.h.r.over()) {
			f(b.h.r.ID, b.h.fate())
		}
	}
}

// fate says what will become of the request, whose answer is not complete.
func (h *Handle) fate() Fate {
	r := &h.r
	stop := &r.stop
	switch {
	case h.severed:
		return Fate{Kind: FateDead, Since: h.severedAt}
	case r.lost:
		return Fate{Kind: FateDead, Since: r.arrived}
	case r.phase == phaseUnknown:
		return Fate{Kind: FateDead, Since: r.since}
	case r.stopped():
		return Fate{Kind: FateDead, Since: stop.reachedAt}
	case stop.at != never:
		return Fate{Kind: FateFailing}
	case r.a == nil:
		return Fate{Left: -1} // at the router, which goes on with it in a while
	}
	return r.a.fate()
}

// fate is that of the request, as far as its engines decide it.
func (a *attempt) fate() Fate {
	if a.refused != nil || a.failure != nil {
		return Fate{Kind: FateFailing}
	}
	left := time.Duration(0)
	for _, l := range [...]*engine.Leg{&a.prefill, &a.decode} {
		if stage, _ := l.Stage(); stage == engine.StageNone {
			continue
		}
		p := l.Prospect()
		switch p.Kind {
		case engine.ProspectFailed:
			return Fate{Kind: FateFailing}
		case engine.ProspectNone:
			return Fate{Kind: FateDead, Since: p.Since}
		}
		if left = p.Left; left < 0 {
			return Fate{Left: left}
		}
	}
	if limit := a.s.cfg.Router.RequestTimeout; limit > 0 && a.began.Add(limit) < a.s.now().Add(left) {
		return Fate{Kind: FateFailing}
	}
	return Fate{Left: left}
}
