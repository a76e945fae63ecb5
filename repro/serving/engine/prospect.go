package engine

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Prospect is what will become of a leg if nobody interferes, as things stand: faults that are still to
// come are not known, and whoever waits in a queue that moves is taken to get its turn.
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
	ProspectNone                       // not at all
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
			return l.waitsInVain()
		}
		if p := l.mate.rank.prospect(l.since); p.Kind != ProspectDone && l.queue == &l.rank.bootstrap {
			return p
		}
	case StagePrealloc:
		if l.mate == nil || l.mate.deaf {
			return l.waitsInVain()
		}
	}
	return l.rank.prospect(l.since)
}

// waitsInVain is the prospect of a leg that nothing but a limit will bring on.
func (l *Leg) waitsInVain() Prospect {
	if l.due.pos > 0 || l.mate != nil && l.mate.due.pos > 0 {
		return Prospect{Kind: ProspectFailed}
	}
	return Prospect{Kind: ProspectNone, Since: l.since}
}

// prospect is that of a leg which has waited at the rank since an instant: good, if anything is under
// way there that ends by itself.
func (r *rank) prospect(since sim.Instant) Prospect {
	good, stuck := Prospect{Left: -1}, Prospect{Kind: ProspectNone, Since: since}
	if len(r.chunk.shares) > 0 {
		if r.chunk.due < sim.Never {
			return good
		}
		for l := r.computing.head; l != nil; l = l.behind {
			if l.hung {
				stuck.Since = max(stuck.Since, l.since)
			}
		}
		return stuck
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
	_, ended := r.batch.at(r.e.now)
	stuck.Since = max(stuck.Since, ended)
	return stuck
}

// receives says whether memory is on its way to the rank, or will be.
func (r *rank) receives() bool {
	for l := r.sending.head; l != nil; l = l.behind {
		if p := l.mate; l.due.pos > 0 || p != nil && (p.due.pos > 0 || p.stage != StageInflight && p.rank.prospect(p.since).Kind == ProspectDone) {
			return true
		}
	}
	return false
}
