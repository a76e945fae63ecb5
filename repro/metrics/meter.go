package metrics

import (
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// Setup is what a Meter is to know of the run beside its options.
type Setup struct {
	Tasks int // that the fleet has; 0: not known
	Pacer pacer.Config
	// Controls asks the pacer how its controls stand, with the monitor held. nil: that is not known.
	Controls func() pacer.ControlState
	// Stack and Client are the simulated servers and what talks to them; nil: they are real, and what
	// only they know is absent.
	Stack  *serving.Stack
	Client *serving.Client
}

// Meter measures one run. It is to be the observer of the run's pacer and agents ([Meter.CallObserver],
// [Meter.AgentObserver]), and asks simulated servers itself. An event costs the same however many agents there
// are. Everything but New and Finish happens within the run, with the monitor held. Make one with [New].
type Meter struct {
	w      sim.World
	o      Options
	setup  Setup
	began  sim.Instant
	closed bool // the run is over: what comes now is its tear-down

	agents     []*agent // in the order of their starts
	byName     map[string]*agent
	latestName *agent
	tasks      tasks

	calls      []*call // in the order of their starts
	byID       map[string]*call
	latestID   *call
	room       []call // for calls to come, in one block
	stageTime  [pacer.StageCount]time.Duration
	inStage    [pacer.StageCount]int
	besides    int   // attempts beside those that calls are shown with
	inflight   level // attempts that the client holds open
	raw        Raw
	attempts   attempts
	progress   progress
	harm       harm
	control    control
	slotIdle   time.Duration
	leaked     []sim.Instant // when slots were
	gapMax     time.Duration
	prompts    int // tokens of prompts that were computed again
	goodput    []made
	sampler    *sampler // nil: nobody asks for a series
	agentsHold bool     // slots are the agents', between calls as well
}

// tasks counts those of the fleet; sub-agents work on their parents'.
type tasks struct {
	started, completed, failed, open int
	tokens                           int         // useful ones of completed tasks
	lastStart, lastEnd               sim.Instant // of a task
	idleSince                        sim.Instant // since when no task is open
}

// attempts counts them by how they ended.
type attempts struct {
	begun, again int // again: after the first of their calls
	useful       int // tokens
	received     int // tokens
	window       window
}

// made are the tokens of an attempt that ended well, with the time in which they came.
type made struct {
	from, to sim.Instant
	tokens   int
}

// New returns a meter for a run that has not begun. The options must be valid.
func New(w sim.World, o Options, s Setup) *Meter {
	m := &Meter{
		w: w, o: o.withDefaults(), setup: s, began: w.Now(),
		byName: map[string]*agent{}, byID: map[string]*call{},
		agentsHold: s.Pacer.Hold == pacer.HoldAgent && s.Pacer.Slots > 0,
	}
	m.tasks.idleSince = m.began
	m.attempts.window.length = m.o.Window
	m.watchServers()
	if o.Series {
		m.sampler = newSampler(m)
	}
	return m
}

// level is a number that is averaged over time.
type level struct {
	value int
	since sim.Instant
	sum   float64 // value times seconds, up to since
}

// set changes the number at an instant.
func (l *level) set(value int, now sim.Instant) {
	if value == l.value {
		return
	}
	l.sum += float64(l.value) * now.Sub(l.since).Seconds()
	l.value, l.since = value, now
}

// mean returns the mean from one instant to another, which is now.
func (l *level) mean(from, now sim.Instant) float64 {
	sum := l.sum + float64(l.value)*now.Sub(l.since).Seconds()
	return over(sum, now.Sub(from).Seconds())
}

// over is a ratio, or 0 where there is none.
func over(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// both hands what a pacer tells to two observers.
type bothCalls struct{ first, then pacer.Observer }

func (b bothCalls) StageChanged(s *pacer.CallState, from pacer.Stage) {
	b.first.StageChanged(s, from)
	b.then.StageChanged(s, from)
}

func (b bothCalls) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	b.first.AttemptEnded(s, r)
	b.then.AttemptEnded(s, r)
}

func (b bothCalls) CallEnded(s *pacer.CallState, tokens int, err error) {
	b.first.CallEnded(s, tokens, err)
	b.then.CallEnded(s, tokens, err)
}

type bothAgents struct{ first, then agents.Observer }

func (b bothAgents) AgentStarted(s *agents.State) {
	b.first.AgentStarted(s)
	b.then.AgentStarted(s)
}

func (b bothAgents) StageChanged(s *agents.State) {
	b.first.StageChanged(s)
	b.then.StageChanged(s)
}

func (b bothAgents) ToolCalled(s *agents.State, c agents.ToolCall) {
	b.first.ToolCalled(s, c)
	b.then.ToolCalled(s, c)
}

func (b bothAgents) StepDone(s *agents.State) {
	b.first.StepDone(s)
	b.then.StepDone(s)
}

func (b bothAgents) AgentEnded(s *agents.State, err error) {
	b.first.AgentEnded(s, err)
	b.then.AgentEnded(s, err)
}

// CallObserver returns what a pacer is to be given as its observer. It tells all to another one first.
func (m *Meter) CallObserver(first pacer.Observer) pacer.Observer {
	return bothCalls{first, (*callBook)(m)}
}

// AgentObserver returns what agents are to be given as their observer. It tells all to another one first.
func (m *Meter) AgentObserver(first agents.Observer) agents.Observer {
	return bothAgents{first, (*agentBook)(m)}
}
