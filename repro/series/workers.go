package series

import (
	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
)

// workers are the agents at work, by the state that each keeps the same from start to end.
type workers struct {
	byState map[*agents.State]*worker
	arrived map[string]sim.Instant // tasks that wait for a worker, by the name that it will have
	free    *worker                // to be used again
}

type worker struct {
	began sim.Instant // of its task: when that was there
	step  sim.Instant // end of the latest step, or its start
	next  *worker     // in the list of free ones
}

func newWorkers() workers {
	return workers{byState: map[*agents.State]*worker{}, arrived: map[string]sim.Instant{}}
}

func (l *workers) add(s *agents.State, now sim.Instant) {
	w := l.free
	if w == nil {
		w = &worker{}
	} else {
		l.free = w.next
	}
	*w = worker{began: now, step: now}
	if at, ok := l.arrived[s.Name]; ok {
		w.began = at
		delete(l.arrived, s.Name)
	}
	l.byState[s] = w
}

// remove takes an agent off the list and returns since when its task was there.
func (l *workers) remove(s *agents.State) (began sim.Instant, ok bool) {
	w := l.byState[s]
	if w == nil {
		return 0, false
	}
	delete(l.byState, s)
	w.next, l.free = l.free, w
	return w.began, true
}

// agentBook is the meter as agents see it. Two types, since both observers have a StageChanged.
type agentBook Meter

var _ agents.Observer = (*agentBook)(nil)

func (b *agentBook) AgentStarted(s *agents.State) {
	m := (*Meter)(b)
	now := m.at(m.w.Now())
	m.workers.add(s, now)
	m.agents.set(m.agents.value+1, now)
	if s.Parent == "" {
		m.stalls.taskBegun(now)
		m.total.tasks.Begun++
		m.total.tasks.Open++
	}
}

// StageChanged has nothing to do: what agents do between calls is no part of the series.
func (b *agentBook) StageChanged(*agents.State) {}

func (b *agentBook) ToolCalled(_ *agents.State, c agents.ToolCall) {
	m := (*Meter)(b)
	m.total.tools++
	if c.Error != "" { // it could not be made, so that nothing ran
		m.total.toolErrors++
		return
	}
	m.times[atTool].add(c.Took, false)
	m.buckets.tool.add(c.Took)
}

func (b *agentBook) StepDone(s *agents.State) {
	m := (*Meter)(b)
	now := m.at(m.w.Now())
	m.total.steps++
	m.stalls.step(now)
	if w := m.workers.byState[s]; w != nil {
		m.times[atStep].add(now.Sub(w.step), false)
		w.step = now
	}
}

func (b *agentBook) AgentEnded(s *agents.State, err error) {
	m := (*Meter)(b)
	began, ok := m.workers.remove(s)
	if !ok {
		return
	}
	now := m.at(m.w.Now())
	m.agents.set(m.agents.value-1, now)
	m.askSlots(now)
	if s.Parent != "" {
		return
	}
	m.stalls.taskEnded(now)
	t := &m.total.tasks
	t.Open--
	took := now.Sub(began)
	m.times[atTask].add(took, err != nil)
	if err != nil {
		t.Failed++
		m.buckets.taskFailed.add(took)
		return
	}
	t.Done++
	m.buckets.task.add(took)
}
