package repro

import (
	"io"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Tap is second observers, each of which may be nil. They are told what the ledger is told, right after
// it, with the monitor held, until the run is over: of its being taken down they are not told.
type Tap struct {
	Calls  pacer.Observer
	Agents agents.Observer
}

// And returns a tap that tells other what it has told t.
func (t Tap) And(other Tap) Tap {
	goesOn := func() bool { return false }
	switch {
	case t.Calls == nil:
		t.Calls = other.Calls
	case other.Calls != nil:
		t.Calls = &bothCalls{t.Calls, other.Calls, goesOn}
	}
	switch {
	case t.Agents == nil:
		t.Agents = other.Agents
	case other.Agents != nil:
		t.Agents = &bothAgents{t.Agents, other.Agents, goesOn}
	}
	return t
}

// Inside is what a run lets others see of itself.
type Inside struct {
	World sim.World
	// Backend is the way to the servers.
	Backend pacer.Backend
	// Controls tells how the pacer's controls stand. The monitor must be held.
	Controls func() pacer.ControlState
	// Occupancy tells how much of the pacer's limits is in use. The monitor must be held.
	Occupancy func() pacer.Occupancy
	// Stalls tells how many stalls the watchdog has raised. The monitor must be held. nil: there is no watchdog of a fleet.
	Stalls func() int
	// Ask is for those outside of the run: it has a function called while the run stands still, and returns
	// true when that has been. On the wall that is at once; in virtual time it is when the gauges are next read, and if
	// that takes longer than a moment, or the run broke off, the function is not called. The monitor is not held.
	Ask func(look func()) bool
}

// tapIn makes the observers that Options.Tap asks for.
func (a *assembly) tapIn() {
	if a.o.Tap != nil {
		a.tap = a.o.Tap(Inside{
			World: a.w, Backend: a.backend,
			Controls:  func() pacer.ControlState { return a.pacer.ControlsLocked() }, // which is made after the tap
			Occupancy: func() pacer.Occupancy { return a.pacer.OccupancyLocked() },
			Stalls:    func() int { return a.ledger.StallsLocked() },
			Ask:       a.porthole.ask,
		})
	}
}

func (a *assembly) callObserver() pacer.Observer {
	first := a.ledger.CallObserver()
	if a.meter != nil {
		first = a.meter.CallObserver(first)
	}
	if a.tap.Calls != nil {
		return &bothCalls{first, a.tap.Calls, a.ledger.ClosedLocked}
	}
	return first
}

func (a *assembly) agentObserver() agents.Observer {
	first := a.ledger.AgentObserver()
	if a.meter != nil {
		first = a.meter.AgentObserver(first)
	}
	if a.tap.Agents != nil {
		return &bothAgents{first, a.tap.Agents, a.ledger.ClosedLocked}
	}
	return first
}

// bothCalls tells two observers of calls, one after the other.
type bothCalls struct {
	first, second pacer.Observer
	over          func() bool // the second is told no more
}

var _ pacer.Observer = (*bothCalls)(nil)

func (b *bothCalls) StageChanged(s *pacer.CallState, from pacer.Stage) {
	b.first.StageChanged(s, from)
	if !b.over() {
		b.second.StageChanged(s, from)
	}
}

func (b *bothCalls) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	b.first.AttemptEnded(s, r)
	if !b.over() {
		b.second.AttemptEnded(s, r)
	}
}

func (b *bothCalls) CallEnded(s *pacer.CallState, tokens int, err error) {
	b.first.CallEnded(s, tokens, err)
	if !b.over() {
		b.second.CallEnded(s, tokens, err)
	}
}

// bothAgents tells two observers of agents, one after the other.
type bothAgents struct {
	first, second agents.Observer
	over          func() bool // the second is told no more
}

var _ agents.Observer = (*bothAgents)(nil)

func (b *bothAgents) AgentStarted(s *agents.State) {
	b.first.AgentStarted(s)
	if !b.over() {
		b.second.AgentStarted(s)
	}
}

func (b *bothAgents) StageChanged(s *agents.State) {
	b.first.StageChanged(s)
	if !b.over() {
		b.second.StageChanged(s)
	}
}

func (b *bothAgents) ToolCalled(s *agents.State, c agents.ToolCall) {
	b.first.ToolCalled(s, c)
	if !b.over() {
		b.second.ToolCalled(s, c)
	}
}

func (b *bothAgents) StepDone(s *agents.State) {
	b.first.StepDone(s)
	if !b.over() {
		b.second.StepDone(s)
	}
}

func (b *bothAgents) AgentEnded(s *agents.State, err error) {
	b.first.AgentEnded(s, err)
	if !b.over() {
		b.second.AgentEnded(s, err)
	}
}

// tee writes everything twice. What becomes of it is for the writers to know: one that fails does not keep
// the other from its share.
type tee struct{ first, second io.Writer }

var _ io.Writer = tee{}

func (t tee) Write(p []byte) (int, error) {
	_, _ = t.first.Write(p)
	_, _ = t.second.Write(p)
	return len(p), nil
}
