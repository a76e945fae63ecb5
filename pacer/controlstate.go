package pacer

import (
	"time"

	"example.com/wedge/pacer/admission"
)

// ControlState is how a pacer's controls stand at an instant.
type ControlState struct {
	// Budget is how much room the retry budget has left, as [admission.Budget.Level] says. -1: there is none.
	Budget float64
	// Throttle is the probability with which the throttle turns an attempt away. 0 without one.
	Throttle float64
	// Breaker is the breaker's state, and how long it has been open and half-open so far. Without one it is closed.
	Breaker               admission.State
	BreakerOpen, HalfOpen time.Duration
	// Slots is the limit on calls in flight. 0: there is none.
	Slots int
	// SlotSeconds is the sum of Slots over time so far, in slots times seconds: its mean is the
	// difference of two of these, over the time in between.
	SlotSeconds float64
}

// ControlsLocked returns how the pacer's controls stand. It changes none of them. The monitor is held.
func (p *Pacer) ControlsLocked() ControlState {
	now := p.w.Now()
	s := ControlState{Budget: -1, Breaker: admission.Closed, Slots: p.config.Slots, SlotSeconds: float64(p.config.Slots) * now.Sub(p.began).Seconds()}
	if k := p.controls; k != nil {
		s.Budget, s.Throttle, s.Breaker = k.budget.Level(now), k.throttle.Probability(now), k.breaker.State(now)
		s.BreakerOpen, s.HalfOpen = k.breaker.Spent(now)
	}
	if p.line != nil {
		s.Slots, s.SlotSeconds = p.line.gate.CapacityLocked(), p.line.slotSeconds(now)
	}
	return s
}
