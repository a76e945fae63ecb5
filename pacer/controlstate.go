package pacer

import (
	"time"

	"example.com/wedge/pacer/admission"
)

// ControlState is how a pacer's controls stand at an instant.
type ControlState struct {
	// Budget is how much room the retry budget has left, as [admission.Budget.Level] says. -1: there is none.
	Budget float64 `json:"budget"`
	// Throttle is the probability with which the throttle turns an attempt away. 0 without one.
	Throttle float64 `json:"throttle"`
	// Breaker is the breaker's state, BreakerOpen and HalfOpen how long it has been so. Without one it is closed.
	Breaker     admission.State `json:"breaker"`
	BreakerOpen time.Duration   `json:"breaker_open_ns"`
	HalfOpen    time.Duration   `json:"half_open_ns"`
	// Slots is the limit on calls in flight. 0: there is none.
	Slots int `json:"slots"`
	// SlotSeconds is the sum of Slots over time so far, in slots times seconds: its mean is the
	// difference of two of these, over the time in between.
	SlotSeconds float64 `json:"slot_seconds"`
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
