package metrics

import (
	"errors"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// control is what can be seen from outside of the client's own control.
type control struct {
	refused, rejected, shed int

	open      bool // the breaker has turned an attempt away, and let none out since
	openSince sim.Instant
	openFor   time.Duration

	moves   bool // the limit does: it is the number of slots in use while calls wait for one
	held    int  // slots in use
	since   sim.Instant
	waited  time.Duration // while a call waited
	heldFor float64       // slots times seconds, then
}

// turnedAway takes in an attempt that was not sent.
func (k *control) turnedAway(r *pacer.AttemptResult, now sim.Instant) {
	if r.Outcome == pacer.AttemptShed {
		k.shed++
		return
	}
	k.rejected++
	var e *pacer.RejectedError
	if errors.As(r.Err, &e) && e.By == byBreaker && !k.open {
		k.open, k.openSince = true, now
	}
}

// byBreaker is who has turned an attempt away, as a pacer.RejectedError has it.
const byBreaker = "breaker"

// letOut takes in that an attempt was.
func (k *control) letOut(now sim.Instant) {
	if k.open {
		k.open = false
		k.openFor += now.Sub(k.openSince)
	}
}

// pass takes in the time since the latest change, in which so many calls waited for a slot.
func (k *control) pass(waiting int, now sim.Instant) {
	if !k.moves {
		return
	}
	if d := now.Sub(k.since); waiting > 0 {
		k.waited += d
		k.heldFor += float64(k.held) * d.Seconds()
	}
	k.since = now
}

// hold takes in that a call holds a slot, or not, which it did or did not before.
func (k *control) hold(before, holds bool) {
	switch {
	case holds && !before:
		k.held++
	case before && !holds:
		k.held--
	}
}

func (m *Meter) finishControl(r *Run, now sim.Instant) {
	k, c := &m.control, &r.Control
	k.letOut(now)
	k.pass(m.inStage[pacer.StageSlot], now)
	c.Rejected, c.Shed, c.Refused = k.rejected, k.shed, k.refused
	c.BreakerOpenS = k.openFor.Seconds()
	c.InflightClientMean = m.inflight.mean(m.began, now)
	if !k.moves {
		c.LimitMean = float64(m.setup.Pacer.Slots)
		return
	}
	c.LimitMean = over(k.heldFor, k.waited.Seconds())
}
