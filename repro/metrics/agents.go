package metrics

import (
	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// agent is an agent that has begun to work, or a sub-agent.
type agent struct {
	name    string
	index   int
	task    *agent // whose task it works on: its own, or of a sub-agent the one that has no parent
	state   *agents.State
	started sim.Instant
	ended   bool
	well    bool // the task is done
	tokens  int  // useful ones of the task so far

	stage pacer.Stage
	since sim.Instant
	tool  string

	latest    int         // stretch of progress of its task, one more than its place; 0: none so far
	heldSince sim.Instant // since when it holds a slot between calls; sim.Never: it does not
}

// agentBook is the meter as agents see it. Two types, since both observers have a StageChanged.
type agentBook Meter

var _ agents.Observer = (*agentBook)(nil)

// agent returns an agent at work by its name, or nil.
func (m *Meter) agent(name string) *agent {
	if a := m.latestName; a != nil && a.name == name {
		return a
	}
	a := m.byName[name]
	if a != nil {
		m.latestName = a
	}
	return a
}

func (b *agentBook) AgentStarted(s *agents.State) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	a := &agent{name: s.Name, index: len(m.agents), state: s, started: s.Since, since: s.Since, heldSince: sim.Never}
	a.task = a
	if s.Parent != "" {
		if parent := m.agent(s.Parent); parent != nil {
			a.task = parent.task
		}
	} else {
		m.taskStarted(s.Since)
	}
	m.agents = append(m.agents, a)
	m.byName[a.name] = a
}

func (m *Meter) taskStarted(now sim.Instant) {
	t := &m.tasks
	if t.open == 0 { // a pause in which there is nothing to do is no stall
		m.idled(now)
	}
	t.started++
	t.open++
	t.lastStart = now
}

func (b *agentBook) StageChanged(s *agents.State) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	if a := m.agent(s.Name); a != nil {
		m.leave(a, s.Since)
		a.stage, a.since, a.tool = s.Stage, s.Since, s.Tool
	}
}

// leave ends what an agent does beside calls: it was at work all the time, unless it had others do it.
func (m *Meter) leave(a *agent, now sim.Instant) {
	switch {
	case a.stage == pacer.StageThink, a.stage == pacer.StageTool && a.tool != agents.ToolSubAgent:
		if now > a.since {
			m.progressed(a, a.since, now)
		}
	}
	if m.sampler != nil && (a.stage == pacer.StageThink || a.stage == pacer.StageTool) {
		m.sampler.span(a, a.stage, a.since, now)
	}
}

func (b *agentBook) ToolCalled(*agents.State, agents.ToolCall) {}

func (b *agentBook) StepDone(s *agents.State) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	if a := m.agent(s.Name); a != nil {
		now := m.w.Now()
		m.leave(a, now) // first, so that this is one with it
		a.since = now
		m.progressed(a, now, now)
	}
}

func (b *agentBook) AgentEnded(s *agents.State, err error) {
	m := (*Meter)(b)
	if m.closed {
		return
	}
	a := m.agent(s.Name)
	if a == nil {
		return
	}
	now := s.Since
	m.leave(a, now)
	m.giveBack(a, now)
	a.ended, a.since, a.stage, a.state = true, now, pacer.StageDone, nil
	delete(m.byName, a.name)
	m.latestName = nil
	if a.task != a {
		return
	}
	m.taskEnded(a, now, err == nil)
}

func (m *Meter) taskEnded(a *agent, now sim.Instant, well bool) {
	t := &m.tasks
	t.open--
	if t.open == 0 {
		t.idleSince = now
	}
	t.lastEnd = now
	m.progressed(a, now, now)
	took := float32(now.Sub(a.started).Seconds())
	if !well {
		t.failed++
		m.raw.TaskCensoredS = append(m.raw.TaskCensoredS, took)
		return
	}
	t.completed++
	a.well = true
	t.tokens += a.tokens
	m.raw.TaskS = append(m.raw.TaskS, took)
}

// progressed takes in that there was progress of an agent's task.
func (m *Meter) progressed(a *agent, from, to sim.Instant) {
	m.progress.add(stretch{from, to, a.task.index}, &a.task.latest)
}

// idled takes in that there was no task until now.
func (m *Meter) idled(now sim.Instant) {
	m.progress.add(stretch{m.tasks.idleSince, now, everybody}, new(int))
}

// giveBack ends the time in which an agent keeps a slot between two calls.
func (m *Meter) giveBack(a *agent, now sim.Instant) {
	if a.heldSince < sim.Never {
		m.slotIdle += now.Sub(a.heldSince)
		a.heldSince = sim.Never
	}
}
