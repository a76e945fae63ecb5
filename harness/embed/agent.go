package embed

import (
	"context"
	"fmt"
	"runtime/pprof"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Agent is somebody who works on a task: makes calls, runs tools, and gets on by steps. Its methods
// may be called on any goroutine, and do nothing after End.
type Agent struct {
	dog     *Watchdog
	process context.Context // what the goroutine's labels were before

	// Guarded by the world's monitor.
	state    agents.State
	calls    int   // begun so far
	held     *call // one that has been given a slot or has asked for one, and has not ended
	steps    bool  // Step has been called, so that calls alone are no steps
	nameless bool  // made for one call of nobody
	ended    bool
}

type agentKey struct{}

// agentOf returns the agent that the context belongs to, nil if it is nobody's or another watchdog's.
func (d *Watchdog) agentOf(ctx context.Context) *Agent {
	if a, _ := ctx.Value(agentKey{}).(*Agent); a != nil && a.dog == d {
		return a
	}
	return nil
}

// Agent says that an agent begins to work on a task. Calls and waits with the returned context are its
// own, and an agent that is made with it is its sub-agent. A name that is in use gets a number. The
// calling goroutine gets the labels agent and task, so that goroutine dumps show whose it is; call End
// on the same one.
func (d *Watchdog) Agent(ctx context.Context, name, task string) (context.Context, *Agent) {
	a := &Agent{dog: d, process: ctx}
	parent := d.agentOf(ctx)
	d.w.Lock()
	d.begin(a, name, task, parent)
	name = a.state.Name
	d.w.Unlock()
	ctx = context.WithValue(ctx, agentKey{}, a)
	ctx = pprof.WithLabels(ctx, pprof.Labels("agent", name, "task", task))
	pprof.SetGoroutineLabels(ctx)
	return ctx, a
}

// begin puts the agent in the books. The monitor is held.
func (d *Watchdog) begin(a *Agent, name, task string, parent *Agent) {
	if name == "" {
		name = "agent"
	}
	d.names[name]++
	if n := d.names[name]; n > 1 {
		name = fmt.Sprintf("%s#%d", name, n)
	}
	a.state = agents.State{Name: name, Task: task, Round: 1, Stage: pacer.StageThink, Since: d.w.Now()}
	if parent != nil {
		a.state.Parent = parent.state.Name
	} else {
		d.ledger.TaskStarted(name, task)
	}
	d.ledger.AgentObserver().AgentStarted(&a.state)
}

// Step says that a step has finished: this is progress, and ends a stall. Of an agent that never says
// so, each completed call is a step.
func (a *Agent) Step() {
	if a == nil {
		return
	}
	a.dog.w.Lock()
	defer a.dog.w.Unlock()
	if !a.ended {
		a.steps = true
		a.step()
	}
}

// step counts a step. The monitor is held.
func (a *Agent) step() {
	a.state.Step++
	a.dog.ledger.AgentObserver().StepDone(&a.state)
}

// Round says that a round has begun; steps are counted from 1 within it.
func (a *Agent) Round(n int) {
	if a == nil {
		return
	}
	a.dog.w.Lock()
	defer a.dog.w.Unlock()
	a.state.Round, a.state.Step = n, 0
}

// Tool says that the agent runs a tool, until the returned function is called, once.
func (a *Agent) Tool(name string) (returned func()) {
	if a == nil {
		return func() {}
	}
	d := a.dog
	d.w.Lock()
	defer d.w.Unlock()
	began := d.w.Now()
	a.stage(pacer.StageTool, name)
	done := false
	return func() {
		d.w.Lock()
		defer d.w.Unlock()
		if done || a.ended {
			return
		}
		done = true
		d.ledger.AgentObserver().ToolCalled(&a.state, agents.ToolCall{Tool: name, Took: d.w.Now().Sub(began), InRange: true})
		a.stage(pacer.StageThink, "")
	}
}

// stage puts the agent between calls into a stage. The monitor is held.
func (a *Agent) stage(s pacer.Stage, tool string) {
	if a.ended {
		return
	}
	a.state.Stage, a.state.Tool, a.state.Since = s, tool, a.dog.w.Now()
	a.dog.ledger.AgentObserver().StageChanged(&a.state)
}

// Await says that the agent waits for others to end, such as its sub-agents, or for somebody to do
// something that it names, until the returned function is called.
func (a *Agent) Await(names ...string) (done func()) {
	if a == nil {
		return func() {}
	}
	set := func(to []string) {
		a.dog.w.Lock()
		defer a.dog.w.Unlock()
		a.state.WaitsFor = to
	}
	set(names)
	return func() { set(nil) }
}

// Name returns the agent's name, with its number if it got one.
func (a *Agent) Name() string {
	if a == nil {
		return ""
	}
	return a.state.Name
}

// End says that the agent has ended; err is nil if its task is done. A second call does nothing.
func (a *Agent) End(err error) {
	if a == nil {
		return
	}
	pprof.SetGoroutineLabels(a.process)
	a.dog.w.Lock()
	defer a.dog.w.Unlock()
	a.end(err)
}

// end takes the agent out of the books. The monitor is held.
func (a *Agent) end(err error) {
	if a.ended {
		return
	}
	a.abandoned()
	a.ended = true
	a.state.Stage, a.state.Since = pacer.StageDone, a.dog.w.Now()
	l := a.dog.ledger
	l.AgentObserver().AgentEnded(&a.state, err)
	if a.state.Parent == "" {
		l.TaskEnded(a.state.Name, a.state.Task, err)
	}
	delete(a.dog.names, a.state.Name)
}

// party is the agent as a holder or waiter.
func (a *Agent) party(what string) sim.Party { return sim.Party{Name: a.state.Name, What: what} }
