package series

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// callBook is the meter as a pacer sees it.
type callBook Meter

var _ pacer.Observer = (*callBook)(nil)

func (b *callBook) StageChanged(s *pacer.CallState, from pacer.Stage) {
	m := (*Meter)(b)
	now := m.at(s.Since)
	if from == pacer.StageThink { // the call's first
		m.total.calls.Begun++
		m.total.calls.Open++
		m.flight.set(m.total.calls.Open, now)
	} else {
		m.stages[from].set(m.stages[from].value-1, now)
	}
	if mayMoveSlot(s) {
		m.askSlots(now)
	}
	if s.Stage == pacer.StageDone {
		return
	}
	m.stages[s.Stage].set(m.stages[s.Stage].value+1, now)
	if s.Resumed {
		return
	}
	switch s.Stage {
	case pacer.StageConnect:
		m.total.attempts.Begun++
		if s.Attempts > 1 {
			m.total.attempts.Again++
		}
	case pacer.StageStream:
		took := s.FirstToken.Sub(s.Sent)
		m.times[atTTFT].add(took, false)
		m.buckets.ttft.add(took)
	}
}

// mayMoveSlot says whether a call may have got a slot, or given one back, since its last stage.
func mayMoveSlot(s *pacer.CallState) bool {
	switch s.Stage {
	case pacer.StageConnect, pacer.StageBackoff, pacer.StageDone:
		return true
	case pacer.StageFirstToken, pacer.StageStream: // it is given back with the headers, or the first token, if the pacer is set up so
		return !s.HoldsSlot
	}
	return false
}

func (b *callBook) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	m := (*Meter)(b)
	m.total.attempts.ended(r.Outcome)
	m.total.tokens.Received += r.Tokens
	if r.Outcome != pacer.AttemptOK {
		m.total.tokens.Wasted += r.Tokens - r.Kept
	}
	switch r.Outcome {
	case pacer.AttemptTimeout:
		m.timeouts.add(r.Limit)
	case pacer.AttemptStatus:
		m.statuses.add(r.Status)
	}
	if s.Stage == pacer.StageStream && s.Tokens > 1 {
		each := max(s.LastToken.Sub(s.FirstToken), 0) / time.Duration(s.Tokens-1)
		m.times[atInterToken].add(each, false)
		m.buckets.interToken.add(each)
	}
}

func (b *callBook) CallEnded(s *pacer.CallState, tokens int, err error) {
	m := (*Meter)(b)
	now := m.at(s.Since)
	c := &m.total.calls
	c.Open--
	m.flight.set(c.Open, now)
	took := now.Sub(s.Started)
	m.times[atCall].add(took, err != nil)
	if err != nil {
		c.Failed++
		m.total.tokens.Wasted += s.Kept
		m.buckets.callFailed.add(took)
	} else {
		c.OK++
		m.buckets.call.add(took)
		m.buckets.output.add(tokens)
	}
	m.total.tokens.Prompt += s.PromptTokens
	m.buckets.input.add(s.PromptTokens)
	m.waited(s)
}

// waited takes in for how long a call that has ended had waited on the client's side.
func (m *Meter) waited(s *pacer.CallState) {
	slot, rate, backoff := s.StageTime[pacer.StageSlot], s.StageTime[pacer.StageRate], s.StageTime[pacer.StageBackoff]
	m.times[atSlotWait].add(slot, false)
	m.times[atRateWait].add(rate, false)
	m.times[atBackoff].add(backoff, false)
	m.times[atQueue].add(slot+rate, false)
	m.buckets.slotWait.add(slot)
	m.buckets.rateWait.add(rate)
	m.buckets.backoff.add(backoff)
}

// takeOpen takes in the calls in flight at the end of the run: what they have taken so far is a lower bound.
func (m *Meter) takeOpen(open []pacer.CallState, now sim.Instant) {
	for i := range open {
		m.times[atCall].add(now.Sub(open[i].Started), true)
	}
}
