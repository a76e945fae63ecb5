package metrics

import (
	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// agent is an agent that has begun to work, or whose task waits for a worker, or a sub-agent.
type agent struct {
	name    string
	index   int
	task    *agent        // whose task it works on: its own, or of a sub-agent the one that has no parent
	state   *agents.State // nil: nobody works on the task yet, or it is over
	started sim.Instant   // of its task: when that was there
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
	if a := m.agent(s.Name); a != nil && a.state == nil && s.Parent == "" { // its task has waited
		a.state, a.since = s, s.Since
		return
	}
	parent := m.agent(s.Parent)
	a := m.newAgent(s.Name, s.Since, parent)
	a.state = s
	if s.Parent == "" {
		m.taskStarted(s.Since)
	}
}

// TaskArrived tells that a task is there, on which an agent of that name will work when it can. Its time
// counts from now. A task that nobody has told of counts from when its agent begins. The monitor is held.
func (m *Meter) TaskArrived(agent string) {
	if !m.closed && m.agent(agent) == nil {
		now := m.w.Now()
		m.newAgent(agent, now, nil)
		m.taskStarted(now)
	}
}

// newAgent takes in an agent, or a sub-agent of another.
func (m *Meter) newAgent(name string, now sim.Instant, parent *agent) *agent {
	a := &agent{name: name, index: len(m.agents), started: now, since: now, heldSince: sim.Never}
	a.task = a
	if parent != nil {
		a.task = parent.task
	}
	m.agents = append(m.agents, a)
	m.byName[a.name] = a
	return a
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
