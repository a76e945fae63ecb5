package metrics

import (
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/admission"
)

// control is what the client's own control has done.
type control struct{ refused, rejected, shed int }

// turnedAway takes in an attempt that was not sent.
func (k *control) turnedAway(r *pacer.AttemptResult) {
	if r.Outcome == pacer.AttemptShed {
		k.shed++
		return
	}
	k.rejected++
}

// controls returns how the client's controls stand, as far as is known. The monitor is held.
func (m *Meter) controls() pacer.ControlState {
	if m.setup.Controls != nil {
		return m.setup.Controls()
	}
	slots := m.setup.Pacer.Slots
	return pacer.ControlState{Budget: -1, Slots: slots, SlotSeconds: float64(slots) * m.w.Now().Sub(m.began).Seconds()}
}

func (m *Meter) finishControl(r *Run, now sim.Instant) {
	k, c, state := &m.control, &r.Control, m.controls()
	c.Rejected, c.Shed, c.Refused = k.rejected, k.shed, k.refused
	c.BreakerOpenS, c.BreakerHalfOpenS = state.BreakerOpen.Seconds(), state.HalfOpen.Seconds()
	c.LimitMean = over(state.SlotSeconds, now.Sub(m.began).Seconds())
	c.InflightClientMean = m.inflight.mean(m.began, now)
	if m.setup.Pacer.Limit.Rule != "" {
		c.LimitEnd = state.Slots
	}
	if c.HasBudget = state.Budget >= 0; c.HasBudget {
		c.BudgetEnd = state.Budget
	}
}

// note adds how the client's controls stand to the series.
func (s *Series) note(state *pacer.ControlState) {
	s.Limit = append(s.Limit, float32(state.Slots))
	s.Budget = append(s.Budget, float32(state.Budget))
	s.Throttle = append(s.Throttle, float32(state.Throttle))
	open := float32(0)
	switch state.Breaker {
	case admission.Open:
		open = 1
	case admission.HalfOpen:
		open = 0.5
	}
	s.Breaker = append(s.Breaker, open)
}
