package engine

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Tally is what the engines have done since the start, for those who measure a run from outside of it.
// Real engines do not tell all of it.
type Tally struct {
	OutputTokens int64 // made
	PromptTokens int64 // computed
	// ZombieTokens are output tokens that legs have made after their clients had gone, and ZombieSlots
	// the time that such legs were in running batches, added up.
	ZombieTokens int64
	ZombieSlots  time.Duration
	// Legs is the time that decode or unified engines had legs, added up: over a time, it is how many
	// they had on average.
	Legs time.Duration
}

// Tally returns what has been done by now.
func (e *Engines) Tally() Tally {
	var t Tally
	for _, w := range e.all {
		for _, r := range w.ranks {
			l := r.load(0)
			t.OutputTokens += l.DecodeTokens
			t.PromptTokens += l.PrefillTokens
			t.ZombieTokens += r.deserted.tokens
			t.ZombieSlots += r.deserted.until(e.now)
			if w.Kind != KindPrefill {
				t.Legs += r.legTime + time.Duration(r.legs)*e.now.Sub(r.legsAt)
			}
		}
		for l := w.oldest; l != nil; l = l.younger {
			if l.deserted {
				made, _ := l.Made(e.now)
				t.ZombieTokens += int64(made - l.desertedAt)
			}
		}
	}
	return t
}

// OnGone has f called when a leg ends, for whatever reason, before its owner is told. nil: nobody is.
func (e *Engines) OnGone(f func(*Leg)) { e.onGone = f }

// Legs calls f for all legs that engines have, worker by worker and by arrival.
func (e *Engines) Legs(f func(*Leg)) {
	for _, w := range e.all {
		for l := w.oldest; l != nil; l = l.younger {
			f(l)
		}
	}
}

// Computed returns how many tokens of its prompt have been computed for a leg, more than once if it was retracted
// and began anew.
func (l *Leg) Computed() int { return l.spent }

// Desert says that whoever waits for the leg has gone, whether the engine hears of it or not. It
// changes nothing but the Tally.
func (l *Leg) Desert() {
	if l.deserted || !l.alive() {
		return
	}
	l.deserted = true
	l.desertedAt, _ = l.Made(l.rank.e.now)
	if l.inBatch {
		l.rank.deserted.change(1, l.rank.e.now)
	}
}

// deserted counts legs in a batch whose clients have gone.
type deserted struct {
	n      int
	at     sim.Instant // of the latest change of n
	slots  time.Duration
	tokens int64 // of legs that have ended
}

func (d *deserted) change(by int, now sim.Instant) {
	d.slots = d.until(now)
	d.n, d.at = d.n+by, now
}

// until returns the time that such legs were in the batch, up to now.
func (d *deserted) until(now sim.Instant) time.Duration {
	return d.slots + time.Duration(d.n)*now.Sub(d.at)
}

// countLegs changes the number of legs.
func (r *rank) countLegs(by int) {
	r.legTime += time.Duration(r.legs) * r.e.now.Sub(r.legsAt)
	r.legsAt = r.e.now
	r.legs += by
}

// Deserted says whether the client has gone, whether the engine has heard of it or not.
func (l *Leg) Deserted() bool { return l.deserted }
