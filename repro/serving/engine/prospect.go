package engine

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Prospect is what will become of a leg if nobody interferes, as things stand: faults that are still to
// come are not known, whoever waits in a queue that moves is taken to get its turn, and limits of the
// engines' own (300 s) are taken to make room for nobody.
type Prospect struct {
	Kind  ProspectKind
	Since sim.Instant   // of ProspectNone: when it came to a standstill
	Left  time.Duration // of ProspectDone: until it will be; negative: that cannot be told yet
}

// ProspectKind is how a leg will end.
type ProspectKind uint8

// The ways to end. The zero value is ProspectDone.
const (
	ProspectDone   ProspectKind = iota // well
	ProspectFailed                     // with a failure
	ProspectNone                       // not at all, or only when a limit of the engines' own fires
)

// Prospect says what will become of the leg. Of a pair, ask the prefill leg first: what it does is
// not told by the decode leg.
func (l *Leg) Prospect() Prospect {
	now := sim.Instant(0)
	if l.rank != nil {
		now = l.rank.e.now
	}
	switch {
	case l.stage == StageAborted:
		return Prospect{Kind: ProspectNone, Since: l.since}
	case l.stage == StageFailed, l.alive() && (l.verdict != StageNone || l.lost.pos > 0):
		return Prospect{Kind: ProspectFailed}
	case !l.alive():
		return Prospect{}
	case l.inBatch && l.hung:
		return Prospect{Kind: ProspectNone, Since: l.since}
	case l.inBatch && l.rank.halted():
		return l.rank.standing(l.since)
	case l.inBatch:
		end := l.rank.batch.endOf(l.startStep + int64(l.Job.OutputTokens-l.made))
		return Prospect{Left: end.Sub(now)}
	}
	switch l.stage {
	case StageInflight:
		if l.due.pos == 0 {
			return Prospect{Kind: ProspectNone, Since: l.since}
		}
		return Prospect{Left: -1}
	case StageBootstrap:
		if l.mate == nil || l.deaf {
			return Prospect{Kind: ProspectNone, Since: l.since}
		}
		if p := l.mate.rank.prospect(l.since); p.Kind != ProspectDone && l.queue == &l.rank.bootstrap {
			return p
		}
	case StagePrealloc:
		if l.mate == nil || l.mate.deaf {
			return Prospect{Kind: ProspectNone, Since: l.since}
		}
	}
	return l.rank.prospect(l.since)
}

// prospect is that of a leg which has waited at the rank since an instant: good, if anything is under
// way there that ends by itself, or if an engine is about to notice that somebody has gone.
func (r *rank) prospect(since sim.Instant) Prospect {
	p := r.standing(since)
	if p.Kind == ProspectNone && r.e.notices() {
		return Prospect{Left: -1}
	}
	return p
}

// notices says whether an engine is about to notice that a client or the other leg of a pair has gone.
func (e *Engines) notices() (soon bool) {
	e.Legs(func(l *Leg) { soon = soon || l.lost.pos > 0 || l.leave.pos > 0 })
	return soon
}

// standing is prospect by what is under way at the rank alone.
func (r *rank) standing(since sim.Instant) Prospect {
	good, stuck := Prospect{Left: -1}, Prospect{Kind: ProspectNone, Since: since}
	if r.halted() {
		for l := r.computing.head; l != nil; l = l.behind {
			if l.hung {
				stuck.Since = max(stuck.Since, l.since)
			}
		}
		return stuck
	}
	if len(r.chunk.shares) > 0 {
		return good
	}
	for l := r.inflight.head; l != nil; l = l.behind {
		if l.due.pos > 0 {
			return good
		}
	}
	if r.w.Kind == KindPrefill {
		if r.waiting.n == 0 && r.ready.n == 0 {
			return good // it waits for decode alone
		}
		return stuck
	}
	if r.batch.makers > 0 || r.w.starved > 0 && r.e.boundary.pos > 0 || r.receives() {
		return good
	}
	stuck.Since = max(stuck.Since, r.madeUntil)
	return stuck
}

// halted says whether a chunk is under way that never ends. The batch of a unified engine stands still then.
func (r *rank) halted() bool { return len(r.chunk.shares) > 0 && r.chunk.due == sim.Never }

// receives says whether memory is on its way to the rank, or will be.
func (r *rank) receives() bool {
	for l := r.sending.head; l != nil; l = l.behind {
		if p := l.mate; l.due.pos > 0 || p != nil && (p.due.pos > 0 || p.stage != StageInflight && p.rank.standing(p.since).Kind == ProspectDone) {
			return true
		}
	}
	return false
}
