package harness

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Ledger keeps the books of a run as it happens: what has finished, who is at what. It observes a
// pacer and the agents of a [Fleet], writes the journal, and tells the watchdog of steps. An event
// costs the same however many agents there are, and allocates nothing but for the start of an agent.
// It is safe for concurrent use. Make one with [NewLedger].
type Ledger struct {
	w       sim.World
	journal *Journal
	router  *RouterLog // told of attempts that have ended, in a run without end; nil: nobody is

	// Guarded by the monitor.
	watch   watch
	ended   func(at sim.Instant, by string) // told when a step ends a stall, and whose; nil: nobody is
	closed  bool                            // the run is over: what comes now is its tear-down
	total   Totals                          // tokens in flight not counted
	atStep  Totals                          // total at the latest step
	tasks   int                             // begun
	tools   []ToolStats                     // in the order in which they first returned
	inStage [pacer.StageCount]int           // calls in flight
	beside  int                             // attempts under way beside the one that their call is said to be at
	calls   int                             // in flight
	byName  map[string]*member
	latest  *member // the one looked up last: most events follow one of the same agent
	oldest  *member // agents at work, in the order of their start
	newest  *member
	live    int
}

// member is an agent at work.
type member struct {
	state        *agents.State
	older, newer *member
	ended        []AgentEnd // sub-agents of the delegation under way that have ended
}

// NewLedger returns empty books of w's run. The journal may be nil.
func NewLedger(w sim.World, j *Journal) *Ledger {
	return &Ledger{w: w, journal: j, byName: map[string]*member{}}
}

// CallObserver returns what a pacer is to be given as its observer.
func (l *Ledger) CallObserver() pacer.Observer { return (*callBook)(l) }

// ClosedLocked says whether the run is over, so that what happens now is only its being taken down. The monitor is
// held.
func (l *Ledger) ClosedLocked() bool { return l.closed }

// StallsLocked returns how many stalls the watchdog has raised. The monitor must be held.
func (l *Ledger) StallsLocked() int { return l.watch.raised }

// AgentObserver returns what agents are to be given as their observer.
func (l *Ledger) AgentObserver() agents.Observer { return (*agentBook)(l) }

// sent returns how many attempts the servers should know of.
func (l *Ledger) sent() int {
	return l.inStage[pacer.StageHeaders] + l.inStage[pacer.StageFirstToken] + l.inStage[pacer.StageStream] + l.beside
}

// streaming returns how many of those have had their response headers.
func (l *Ledger) streaming() int {
	return l.inStage[pacer.StageFirstToken] + l.inStage[pacer.StageStream]
}

// agentStates returns what every agent at work is doing.
func (l *Ledger) agentStates() []AgentState {
	out := make([]AgentState, 0, l.live)
	for m := l.oldest; m != nil; m = m.newer {
		s := m.state
		state := AgentState{
			Name: s.Name, Task: s.Task, Parent: s.Parent, Round: s.Round, Step: s.Step,
			Stage: s.Stage, Since: s.Since, Tool: s.Tool, Call: s.Call, WaitsOn: slices.Clone(s.WaitsFor),
		}
		if s.Tries > 1 {
			state.Tries, state.ToolError = s.Tries, s.Mistake
		}
		out = append(out, state)
	}
	return out
}

// agentEndOf is the end of a sub-agent as evidence has it.
func agentEndOf(at sim.Instant, s *agents.State, err error) AgentEnd {
	e := AgentEnd{Name: s.Name, Parent: s.Parent, At: at}
	if err != nil {
		e.Err = err.Error()
	}
	return e
}

// unheard returns the sub-agents that have ended and that their parents still wait for, in the order of
// the parents' start, then of their end.
func (l *Ledger) unheard() []AgentEnd {
	var out []AgentEnd
	for m := l.oldest; m != nil; m = m.newer {
		for _, e := range m.ended {
			if slices.Contains(m.state.WaitsFor, e.Name) {
				out = append(out, e)
			}
		}
	}
	return out
}

// toolStats returns how the tools have behaved, in the order of their names.
func (l *Ledger) toolStats() []ToolStats {
	out := append([]ToolStats{}, l.tools...)
	slices.SortFunc(out, func(a, b ToolStats) int { return cmp.Compare(a.Tool, b.Tool) })
	return out
}

// toolReturned notes a call of a tool that has run. A workflow has a handful of tools, so looking
// through them is no work.
func (l *Ledger) toolReturned(tool string, took time.Duration) {
	i := slices.IndexFunc(l.tools, func(s ToolStats) bool { return s.Tool == tool })
	if i < 0 {
		i = len(l.tools)
		l.tools = append(l.tools, ToolStats{Tool: tool})
	}
	s := &l.tools[i]
	s.Finished++
	s.Longest = max(s.Longest, took)
}

// TaskStarted says that an agent, of whatever kind, begins to work on a task. The monitor is held.
func (l *Ledger) TaskStarted(agent, task string) {
	now := l.w.Now()
	l.watch.taskStarted(now)
	l.tasks++
	l.journal.taskStart(now, agent, task)
}

// TaskEnded says that it has ended; err is nil if the task is done. The monitor is held.
func (l *Ledger) TaskEnded(agent, task string, err error) {
	if l.closed { // what comes now is the run's tear-down
		return
	}
	l.watch.taskEnded()
	if err == nil {
		l.total.AgentsDone++
	} else {
		l.total.AgentsFailed++
		l.total.outOfTime(err)
	}
	l.journal.agentEnd(l.w.Now(), agent, task, "", err)
}

func (l *Ledger) add(s *agents.State) {
	m := &member{state: s, older: l.newest}
	if l.newest != nil {
		l.newest.newer = m
	} else {
		l.oldest = m
	}
	l.newest = m
	l.byName[s.Name] = m
	l.live++
}

// member returns an agent at work by its name, or nil.
func (l *Ledger) member(name string) *member {
	if l.latest == nil || l.latest.state.Name != name {
		l.latest = l.byName[name]
	}
	return l.latest
}

func (l *Ledger) remove(name string) {
	m := l.member(name)
	if m == nil {
		return
	}
	l.latest = nil
	delete(l.byName, name)
	if m.older != nil {
		m.older.newer = m.newer
	} else {
		l.oldest = m.newer
	}
	if m.newer != nil {
		m.newer.older = m.older
	} else {
		l.newest = m.older
	}
	l.live--
}

// agentBook is the ledger as agents see it. Two types, since both observers have a StageChanged.
type agentBook Ledger

var _ agents.Observer = (*agentBook)(nil)

func (b *agentBook) AgentStarted(s *agents.State) {
	if l := (*Ledger)(b); !l.closed {
		l.add(s)
	}
}

// StageChanged has nothing to do: the state is the agent's own, and is read when it is asked for.
func (b *agentBook) StageChanged(*agents.State) {}

func (b *agentBook) ToolCalled(s *agents.State, c agents.ToolCall) {
	l := (*Ledger)(b)
	if l.closed {
		return
	}
	if c.Tool == agents.ToolSubAgent {
		if m := l.member(s.Name); m != nil {
			m.ended = nil
		}
	}
	l.total.ToolCalls++
	if c.Error != "" {
		l.total.ToolErrors++
	}
	if c.Error == "" { // else it could not be made, so that nothing ran
		l.toolReturned(c.Tool, c.Took)
	}
	l.journal.toolEnd(l.w.Now(), s, &c)
}

func (b *agentBook) StepDone(s *agents.State) {
	l := (*Ledger)(b)
	if l.closed {
		return
	}
	now := l.w.Now()
	l.total.Steps++
	l.atStep = l.total
	l.journal.stepEnd(now, s)
	stalledFor := now.Sub(l.watch.last)
	if episode := l.watch.step(now); episode != 0 {
		l.journal.stallEnd(now, episode, stalledFor)
		if l.ended != nil {
			l.ended(now, s.Name)
		}
	}
}

func (b *agentBook) AgentEnded(s *agents.State, err error) {
	l := (*Ledger)(b)
	if l.closed {
		return
	}
	l.remove(s.Name)
	if s.Parent != "" { // the end of a task is told by the fleet
		if m := l.member(s.Parent); m != nil {
			m.ended = append(m.ended, agentEndOf(l.w.Now(), s, err))
		}
		l.journal.agentEnd(l.w.Now(), s.Name, s.Task, s.Parent, err)
	}
}

// callBook is the ledger as a pacer sees it.
type callBook Ledger

var _ pacer.Observer = (*callBook)(nil)

func (b *callBook) StageChanged(s *pacer.CallState, from pacer.Stage) {
	l := (*Ledger)(b)
	if m := l.member(s.Agent); m != nil {
		m.state.Follow(s)
	}
	if l.closed {
		return
	}
	if from == pacer.StageThink { // the call's first
		l.calls++
	} else {
		l.inStage[from]--
	}
	switch s.Stage {
	case pacer.StageDone: // CallEnded follows, and says it better than a line would here
		l.calls--
		return
	case pacer.StageConnect:
		if !s.Resumed {
			l.total.Attempts++
			if s.Beside > 0 {
				l.beside++
				l.total.Hedges++
			}
		}
	}
	if s.Stage == pacer.StageFirstToken && !s.Resumed {
		l.total.answered(s)
	}
	l.inStage[s.Stage]++
	l.journal.stage(s, from)
}

func (b *callBook) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	l := (*Ledger)(b)
	if l.closed {
		return
	}
	t := &l.total
	t.ended(s, &r)
	if r.Beside {
		l.beside--
	}
	if r.Again {
		t.Backoffs++
		t.BackoffWait += r.Delay
	}
	if l.router != nil {
		l.router.attemptEnded(r.ID)
	}
	l.journal.attemptEnd(l.w.Now(), s, &r)
}

func (b *callBook) CallEnded(s *pacer.CallState, tokens int, err error) {
	l := (*Ledger)(b)
	if l.closed {
		return
	}
	if err == nil {
		l.total.CallsCompleted++
	} else {
		l.total.callFailed(s, err)
	}
	l.journal.callEnd(l.w.Now(), s, tokens, err)
}
