package metrics

import (
	"errors"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// call is a call that an agent has wanted.
type call struct {
	id       string
	agent    *agent // nil: not known
	started  sim.Instant
	ended    bool
	stage    pacer.Stage
	since    sim.Instant
	attempts int  // seen so far: the number of the latest
	sent     int  // of these: those that were begun, and not turned away before
	beside   int  // attempts under way beside the one that the state is about
	holds    bool // a slot, when it entered its stage
	computed int  // tokens of its prompt: the most that any of its attempts had computed
}

// callBook is the meter as a pacer sees it.
type callBook Meter

var _ pacer.Observer = (*callBook)(nil)

// roomCalls is for how many calls memory is taken at a time.
const roomCalls = 128

// call returns the call of a state, which is new if it has not been seen before.
func (m *Meter) call(s *pacer.CallState) *call {
	if c := m.latestID; c != nil && c.id == s.ID && !c.ended {
		return c
	}
	c := m.byID[s.ID]
	if c == nil || c.ended {
		c = m.newCall(s)
	}
	m.latestID = c
	return c
}

func (m *Meter) newCall(s *pacer.CallState) *call {
	if len(m.room) == 0 {
		m.room = make([]call, roomCalls)
	}
	c := &m.room[0]
	m.room = m.room[1:]
	*c = call{id: s.ID, agent: m.agent(s.Agent), started: s.Started, since: s.Started}
	m.calls = append(m.calls, c)
	m.byID[c.id] = c
	m.attempts.window.calls++
	if a := c.agent; a != nil {
		m.leave(a, s.Started)
		a.stage = pacer.StageDone // of its own; until the call is over
		m.giveBack(a, s.Started)
	}
	return c
}

func (b *callBook) StageChanged(s *pacer.CallState, from pacer.Stage) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	c := m.call(s)
	m.pass(c, s.Since, s.HoldsSlot)
	if c.stage != pacer.StageThink {
		m.inStage[c.stage]--
	}
	c.stage, c.since, c.holds = s.Stage, s.Since, s.HoldsSlot
	if s.Stage != pacer.StageDone {
		m.inStage[s.Stage]++
	}
	if s.Stage == pacer.StageConnect && s.Attempts > c.attempts { // else an earlier one is shown again
		m.attemptBegun(c, s)
	}
	m.besides += s.Beside - c.beside
	c.beside = s.Beside
	m.countInflight(s.Since)
}

// pass takes in the time of a stage that a call leaves. Whether it holds a slot is asked at the end of
// the stage: at its start, one that is given back with the headers would seem to be held on.
func (m *Meter) pass(c *call, now sim.Instant, holds bool) {
	took := now.Sub(c.since)
	m.stageTime[c.stage] += took
	switch c.stage {
	case pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken:
		if c.stage != pacer.StageConnect {
			m.gapMax = max(m.gapMax, took)
		}
		if holds && took > m.o.Silent {
			m.slotIdle += took
		}
	case pacer.StageBackoff, pacer.StageRate:
		if holds {
			m.slotIdle += took
		}
	}
	if m.sampler != nil && c.agent != nil {
		m.sampler.span(c.agent, c.stage, c.since, now)
	}
}

func (m *Meter) countInflight(now sim.Instant) {
	m.inflight.set(m.inStage[pacer.StageHeaders]+m.inStage[pacer.StageFirstToken]+m.inStage[pacer.StageStream]+m.besides, now)
}

func (m *Meter) attemptBegun(c *call, s *pacer.CallState) {
	c.attempts = s.Attempts
	c.sent++
	a := &m.attempts
	a.begun++
	if c.sent > 1 {
		a.again++
	}
	a.window.attempted(s.Since)
	if m.sampler != nil {
		m.sampler.attempts++
	}
}

func (b *callBook) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	c, now := m.call(s), m.w.Now()
	if c.holds && !s.HoldsSlot && !m.givesBackBefore(s.Stage) {
		m.leaked = append(m.leaked, now)
	}
	c.holds = s.HoldsSlot
	a := &m.attempts
	a.received += r.Tokens
	a.useful += r.Kept
	if s.Stage == pacer.StageStream {
		m.streamed(c, s, now)
	}
	switch r.Outcome {
	case pacer.AttemptOK:
		a.useful += r.Tokens
		m.goodput = append(m.goodput, made{s.FirstToken, max(s.FirstToken, s.LastToken), r.Tokens})
	case pacer.AttemptTimeout, pacer.AttemptCanceled, pacer.AttemptLost:
		m.harm.killed(m, s, &r, now)
	case pacer.AttemptNetwork:
		if errors.Is(r.Err, serving.ErrDead) {
			m.harm.killed(m, s, &r, now)
		}
	case pacer.AttemptStatus:
		m.control.refused++
	case pacer.AttemptRejected, pacer.AttemptShed:
		m.control.turnedAway(&r)
		c.attempts = s.Attempts
	}
	if r.Beside && r.Outcome != pacer.AttemptLost && c.beside > 0 { // one less is under way; a loser was not counted any more
		c.beside--
		m.besides--
		m.countInflight(now)
	}
}

// givesBackBefore says whether slots are given back before a stage, or in it, so that it is no leak if an
// attempt has none at its end.
func (m *Meter) givesBackBefore(s pacer.Stage) bool {
	switch m.setup.Pacer.Hold {
	case pacer.HoldStart:
		return s >= pacer.StageFirstToken
	case pacer.HoldFirstToken:
		return s >= pacer.StageStream
	}
	return false
}

// streamed takes in how the tokens of an attempt came: they flowed from the first to the last of them, and
// then there was silence.
func (m *Meter) streamed(c *call, s *pacer.CallState, now sim.Instant) {
	last := max(s.FirstToken, s.LastToken)
	if c.agent != nil {
		m.progressed(c.agent, s.FirstToken, last)
	}
	silence := now.Sub(last)
	m.gapMax = max(m.gapMax, silence)
	if s.HoldsSlot && silence > m.o.Silent {
		m.slotIdle += silence
	}
}

func (b *callBook) CallEnded(s *pacer.CallState, tokens int, err error) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	c, now := m.call(s), m.w.Now()
	c.ended = true
	m.attempts.window.ended(now)
	took := float32(now.Sub(c.started).Seconds())
	if err != nil {
		m.raw.CallCensoredS = append(m.raw.CallCensoredS, took)
	} else {
		m.raw.CallS = append(m.raw.CallS, took)
	}
	a := c.agent
	if a == nil {
		return
	}
	if err == nil {
		a.task.tokens += tokens
	}
	a.stage, a.since, a.tool = pacer.StageThink, now, ""
	if m.agentsHold && c.sent > 0 {
		a.heldSince = now
	}
}

// window is the sliding window over which amplification is at its peak: attempts begun in it, over the calls that
// were under way at any time in it.
type window struct {
	length   time.Duration
	begun    []sim.Instant // of attempts; those before first are out of the window
	first    int
	calls    int           // begun
	ends     []sim.Instant // of calls; those before firstEnd are out of the window
	firstEnd int
	peak     float64
}

func (w *window) ended(now sim.Instant) { w.ends = append(w.ends, now) }

func (w *window) attempted(now sim.Instant) {
	from := now.Add(-w.length)
	w.begun = append(w.begun, now)
	for w.begun[w.first] <= from {
		w.first++
	}
	for w.firstEnd < len(w.ends) && w.ends[w.firstEnd] <= from {
		w.firstEnd++
	}
	w.peak = max(w.peak, over(float64(len(w.begun)-w.first), float64(w.calls-w.firstEnd)))
}
