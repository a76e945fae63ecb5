package agents

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Agent works on tasks, one after the other. Make one with [New]. [Agent.State] may be called by
// anybody, all else only by the process that the agent runs on.
type Agent struct {
	w      sim.World
	wf     *Workflow
	ws     Workspace
	shared *Shared
	chat   Chatter
	obs    Observer
	faults *fault.Set // nil if none is at a tool or in the harness
	mail   *mailbox   // of its sub-agents; nil: none so far
	limits Limits
	// forgets says that nothing of a task is kept when it has ended.
	forgets bool

	state State // guarded by the monitor; only the agent's own process changes what Follow does not
	proc  *sim.Process
	sub   bool
	calls int  // made over the agent's life
	kids  int  // sub-agents spawned over the agent's life
	job   *job // nil between tasks
}

// job is what an agent keeps for the task in hand only. It is on the heap, since a parked agent's
// stack should be small.
type job struct {
	task      Task
	tools     []openai.Tool // offered
	messages  []openai.ChatCompletionMessage
	expected  int               // messages in the end, if each answer calls one tool
	bytes     int               // of text in the messages
	asked     []openai.ToolCall // by the latest answer
	calls     int               // made for this task
	stepsLeft int               // of the task, where that is drawn; else not above 0
	article   string            // path of the task's own article
	output    *sim.Pipe         // of the tools; nil: none of them has printed yet
	unread    bool              // nobody reads it any more

	think, toolTime, message sim.Stream // keyed by the task
	draw                     sim.Stream // scratch: the sub-stream that is drawn from
}

// New returns an agent. The name must be unique in the run. The workspace is shared by the agents of
// a fleet, the workflow is the one its Shared was made with. The observer and the faults may be nil.
func New(w sim.World, name string, wf *Workflow, ws Workspace, chat Chatter, obs Observer, faults *fault.Set) *Agent {
	a := &Agent{w: w, wf: wf, ws: ws, shared: ws.Shared(), chat: chat, obs: obs, state: State{Name: name}}
	if obs == nil {
		a.obs = silent{}
	}
	if faults.At(fault.Tool) || faults.At(fault.Harness) {
		a.faults = faults
	}
	return a
}

// Forgets has the agent, and its sub-agents, drop the articles of a task when it has ended, and take what it
// waited for off the world's Objects: where tasks have no end, these must have one. Call it before Run.
func (a *Agent) Forgets() { a.forgets = true }

// State returns a copy of the agent's state. The monitor must not be held.
func (a *Agent) State() State {
	a.w.Lock()
	defer a.w.Unlock()
	s := a.state
	s.WaitsFor = slices.Clone(s.WaitsFor)
	return s
}

// Run works on a task until it is done. It puts the agent's labels on the calling process. The error
// says agent, round and step; if ctx was cancelled it is ctx's cause as it is. Whatever the Chatter
// returns ends the task: it has retried what was worth it. So do failing sub-agents and a failing
// workspace, while a tool call that makes no sense is the model's to mend.
func (a *Agent) Run(ctx context.Context, task Task) error {
	a.begin(ctx, task)
	err := a.work(ctx)
	if a.forgets {
		if failed := a.ws.Forget(task.ID); err == nil {
			err = failed
		}
	}
	a.end(err)
	return err
}

func (a *Agent) begin(ctx context.Context, task Task) {
	a.job = &job{
		task:     task,
		tools:    a.shared.tools,
		article:  folderOf(task.ID) + "/" + articleName,
		think:    a.w.Stream(task.ID, purposeThink),
		toolTime: a.w.Stream(task.ID, purposeTool),
		message:  a.w.Stream(task.ID, purposeMessage),
	}
	a.proc = sim.ProcessOf(ctx)

	a.w.Lock()
	a.state = State{Name: a.state.Name, Parent: a.state.Parent, Task: task.ID, Since: a.w.Now()}
	a.obs.AgentStarted(&a.state)
	a.w.Unlock()
	if a.proc != nil {
		a.proc.SetLabels(a.labels)
	}
}

// work does the task within its limit.
func (a *Agent) work(ctx context.Context) error {
	if err := a.within(ctx, LimitTask, a.limits.Task, a.play); err != nil {
		return a.failed(ctx, err)
	}
	return nil
}

// play does the task from its first round to its last, with what the Chatter lets an agent hold over
// several calls.
func (a *Agent) play(ctx context.Context) error {
	ctx, release, err := a.chat.Hold(ctx, a.identity())
	if err != nil {
		return err
	}
	defer release()
	if a.replays() {
		return a.within(ctx, LimitRound, a.limits.Round, a.replay)
	}
	return a.playRounds(ctx)
}

// end drops all that belongs to the task and reports the end.
func (a *Agent) end(err error) {
	if a.job.output != nil {
		a.job.output.Close()
	}
	if a.forgets {
		a.retire()
	}
	a.job = nil
	a.w.Lock()
	a.state.Stage, a.state.Since, a.state.Tool, a.state.WaitsFor = pacer.StageDone, a.w.Now(), "", nil
	a.state.Call, a.state.Attempt = "", ""
	a.obs.AgentEnded(&a.state, err)
	a.w.Unlock()
	if a.proc != nil {
		a.proc.SetLabels(noLabels)
		a.proc = nil
	}
}

// retire takes what the agent waited for in its task off the world's Objects.
func (a *Agent) retire() {
	if a.job.output != nil {
		a.job.output.Retire()
	}
	if a.mail != nil {
		a.mail.store.Retire()
		a.mail = nil
	}
}

// failed makes the error of the task out of what ended it.
func (a *Agent) failed(ctx context.Context, err error) error {
	if cause := sim.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("agents: %s: round %d, step %d: %w", a.state.Name, a.state.Round, a.state.Step, err)
}

func (a *Agent) rounds() int {
	if a.sub {
		return 1
	}
	return a.wf.Rounds
}

func (a *Agent) steps() int {
	if a.sub {
		return a.wf.SubAgents.Steps
	}
	return a.wf.Steps
}

// identity returns that of the next call.
func (a *Agent) identity() pacer.Identity {
	return pacer.Identity{
		Agent: a.state.Name, Task: a.state.Task,
		Round: max(a.state.Round, 1), Step: max(a.state.Step, 1), Call: a.calls + 1,
	}
}

// labels are the agent's pprof labels. It is called from the agent's process, without the monitor.
func (a *Agent) labels() []string {
	a.w.Lock()
	defer a.w.Unlock()
	s := &a.state
	return []string{
		"agent", s.Name, "task", s.Task, "round", strconv.Itoa(s.Round), "step", strconv.Itoa(s.Step),
		"call", s.Call, "attempt", s.Attempt, "stage", s.Stage.String(), "since", s.Since.String(),
	}
}

func noLabels() []string { return nil }
