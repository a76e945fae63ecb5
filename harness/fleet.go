package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/sim"
	"example.com/wedge/harness/waitgraph"
	"example.com/wedge/pacer"
)

// Options is what a fleet is made of.
type Options struct {
	Name     string // of the run: name and seed, such as "starvation-1"
	Fleet    Config
	Watchdog Watchdog

	// Horizon is the instant, counted from the start of the run, at which it ends whatever is going on.
	// 0: none. In virtual time there must be a horizon or Watchdog.GiveUpAfter.
	Horizon time.Duration

	// Arrivals are the tasks that come later, as [Config.Schedule] has them.
	Arrivals []Arrival

	// Arrived is told of each of these when it is there, by the name of the agent that will work on it: at
	// once, or when a worker is free. The monitor is held. nil: nobody asks.
	Arrived func(agent string)

	// Demand, if there is one, has the fleet work on tasks without end: agents and tasks are numbered as they
	// begin, agent-000001 and so on. A closed loop that does not say how many agents are at work has as many as
	// Fleet has workers; otherwise only Fleet.StartSpread is used, and there may be no Arrivals. Tasks, if they are
	// given, are gone through again and again, each with its number added to its ID.
	Demand *demand.Config

	// TasksMax ends a run with a Demand when so many tasks have ended; no more than that are begun. 0: it
	// goes on.
	TasksMax int

	// Ticks are things to be done at regular instants.
	Ticks []Tick

	// Tasks are the agents' tasks, as many as Fleet.Agents and Arrivals. nil: named task-01 and so on.
	Tasks []agents.Task

	// Guests says that the agents are somebody else's. The fleet hires none and has no tasks: who runs
	// them tells the ledger of each ([Ledger.TaskStarted], and the observers), and the run goes on until ctx is cancelled or
	// the horizon is reached. Fleet, Tasks and Run are not used.
	Guests bool

	// Run works on a task as an agent of the given name, on a process of that name, until it is done.
	// An error is the agent's failure; the others go on.
	Run func(ctx context.Context, agent string, task agents.Task) error

	// Calls returns the calls in flight: those of the pacer that the ledger observes.
	Calls func() []pacer.CallState

	// What follows may be left out.

	// Controls asks the pacer how its controls stand, with the monitor held. nil: that is not known.
	Controls func() pacer.ControlState

	// Occupancy asks the pacer how much of its limits is in use, for [Fleet.Progress], with the monitor held.
	// nil: that is not known.
	Occupancy func() pacer.Occupancy

	Servers Servers    // gauges
	Router  *RouterLog // log of the router

	// Judge makes a verdict of a capture, and of the one before it in the episode, which may be nil.
	// It is asked again when the episode ends. What it returns is written as JSON. Without a bundle it
	// is asked once about each episode, when that ends or the run does.
	Judge func(now, before *Evidence) any

	// Graph tells who waits for whom in a capture, with the one before it in the episode, which may be
	// nil. It is asked only when a bundle is written, which then has the graph drawn.
	Graph func(now, before *Evidence) waitgraph.Graph

	// Bundle takes what the run leaves on disk. The fleet flushes it and does not close it.
	Bundle *bundle.Bundle

	// Dumps says whether captures take goroutine dumps. A dump shows all goroutines of the process, so
	// leave it out where runs go on beside each other. Labels show once goroutine.EnableLabels has been
	// called.
	Dumps bool

	// Setup is what diagnosis is told about the configuration. The fleet's own part of it is filled in.
	Setup Setup
}

// Fleet runs agents on workers, watches them, and captures evidence. Make one with [New].
type Fleet struct {
	w       sim.World
	ledger  *Ledger
	o       Options
	tasks   *sim.Queue[int] // indices of those that nobody works on yet
	begun   *sim.Latch      // the watchdog has its bearings
	sampler *sampler

	// capturing is held by the process that captures. It guards what follows.
	capturing *sim.Semaphore
	dumper    dumper
	episodes  []*Episode
	dumped    *stacks // of the latest capture of the open episode

	// Guarded by the monitor.
	why      Reason
	over     sim.Cond // why has been set
	working  int      // agents that have been hired and not let go
	due      int      // tasks that have not arrived
	current  *Episode // the open one
	glimpse  StallGlimpse
	failures []Failure

	crew     context.Context // of the agents; they outlive an interrupt until it has been captured
	dismiss  context.CancelCauseFunc
	started  bool
	finished bool
}

// errRunOver is the cause with which the fleet's processes are cancelled at the end.
var errRunOver = errors.New("harness: the run is over")

// New returns a fleet that has not begun. The ledger must be the observer of the agents and of the
// pacer that o.Run and o.Calls stand for; it serves one fleet. The error names the option that is
// wrong.
func New(w sim.World, l *Ledger, o Options) (*Fleet, error) {
	if err := o.validate(w); err != nil {
		return nil, fmt.Errorf("harness: New: %w", err)
	}
	o.Setup.Agents, o.Setup.Workers = o.Fleet.Agents+len(o.Arrivals), o.Fleet.workers()
	if len(o.Arrivals) > 0 {
		o.Setup.Workers = o.Setup.Agents
		if n := o.Fleet.Workers; n > 0 {
			o.Setup.Workers = min(n, o.Setup.Agents)
		}
	}
	o.Setup.StallAfter, o.Setup.SampleEvery = o.Watchdog.StallAfter, o.Watchdog.SampleEvery
	o.Setup.Captures = slices.Clone(o.Watchdog.Captures)
	o.Setup.HasGauges, o.Setup.HasRouterLog = o.Servers != nil, o.Router != nil
	f := &Fleet{
		w: w, ledger: l, o: o,
		tasks:     sim.NewQueue[int](w, "harness.tasks", 0),
		begun:     sim.NewLatch(w, ""),
		sampler:   newSampler(w, l, o.Servers, &o.Watchdog),
		capturing: sim.NewSemaphore(w, "", 1),
		dumper:    dumper{w: w},
	}
	if o.Bundle != nil && o.Servers != nil {
		f.sampler.log = o.Bundle.Log(bundle.SamplesLog)
	}
	l.ended = f.stallEnded
	return f, nil
}

func (o *Options) validate(w sim.World) error {
	if o.Guests {
		o.Fleet, o.Arrivals = Config{}, nil
	} else if err := o.Fleet.Validate(); err != nil {
		return fmt.Errorf("fleet.%w", err)
	}
	if err := o.Watchdog.Validate(); err != nil {
		return fmt.Errorf("watchdog.%w", err)
	}
	switch {
	case o.Horizon < 0 || o.Horizon > 100*lengthMax:
		return fmt.Errorf("horizon: found %v, want 0 (none) to %v", o.Horizon, 100*lengthMax)
	case w.Virtual() && o.Horizon == 0 && o.Watchdog.GiveUpAfter == 0:
		return errors.New("horizon: found 0 (none) while watchdog.give_up_after is 0 (never): in virtual time a run needs one of them")
	case o.Run == nil && !o.Guests || o.Calls == nil:
		return errors.New("Run and Calls must be given")
	case o.Fleet.Agents+len(o.Arrivals) > AgentsLimit:
		return fmt.Errorf("fleet.agents: found %d and %d arrivals, want at most %d in all", o.Fleet.Agents, len(o.Arrivals), AgentsLimit)
	case o.Tasks != nil && len(o.Tasks) != o.Fleet.Agents+len(o.Arrivals):
		return fmt.Errorf("%d tasks for %d agents, want as many", len(o.Tasks), o.Fleet.Agents+len(o.Arrivals))
	}
	return nil
}

// Run runs the fleet until all tasks have ended, the horizon is reached, the watchdog gives up or ctx
// is cancelled. It is to be called once, from a process of the world: the main one, that is. However
// the run ends, evidence is captured of how things stood, the bundle is brought up to date, and only
// then are the agents cancelled; the world waits for them when main returns. What else runs in the
// world should stand under a context that an interrupt does not reach, so that it does not end before
// the evidence is captured: context.WithoutCancel(ctx) is one.
//
// The error is for a second call. All else is in the report.
func (f *Fleet) Run(ctx context.Context) (*Report, error) {
	if f.started {
		return nil, errors.New("harness: Fleet.Run: a fleet runs once")
	}
	f.started = true
	defer f.abandon()
	detached := context.WithoutCancel(ctx)
	var aides context.Context
	var stopAides context.CancelCauseFunc
	f.crew, f.dismiss = f.w.WithCancel(detached)
	aides, stopAides = f.w.WithCancel(detached)

	f.begin(aides)
	cause := f.wait(ctx)
	stopAides(errRunOver)
	report := f.finish(detached)
	report.Cause = cause
	f.dismiss(errRunOver)
	return report, nil
}

// WaitBegun waits until Run watches. Guests that begin before would not be seen.
func (f *Fleet) WaitBegun(ctx context.Context) error { return f.begun.Wait(ctx) }

// begin starts the processes.
func (f *Fleet) begin(aides context.Context) {
	f.w.Lock()
	now := f.w.Now()
	f.ledger.watch = newWatch(&f.o.Watchdog, now)
	f.ledger.journal.runStart(now, f.o.Name, f.o.Setup.Agents, f.o.Setup.Workers)
	for i := range f.o.Fleet.Agents {
		f.tasks.PutLocked(i)
	}
	f.begun.OpenLocked()
	f.working, f.due = f.o.Fleet.workers(), len(f.o.Arrivals)
	if f.working == 0 && f.due == 0 && !f.o.Guests {
		f.end(Completed)
	}
	f.w.Unlock()
	f.w.Spawn(aides, "harness.watchdog", f.guard)
	f.w.Spawn(aides, "harness.sampler", f.sampler.run)
	if !f.w.Virtual() && f.o.Bundle != nil {
		f.w.Spawn(aides, "harness.journal", f.flushEachSecond)
	}
	for range f.o.Fleet.workers() {
		f.hire(true)
	}
	if len(f.o.Arrivals) > 0 {
		f.w.Spawn(aides, "harness.arrivals", f.admit)
	}
}

// wait waits for the end of the run, and returns why ctx was cancelled if that was it.
func (f *Fleet) wait(ctx context.Context) error {
	var horizon *sim.Timer
	if f.o.Horizon > 0 {
		horizon = f.w.AfterFunc(f.o.Horizon-time.Duration(f.w.Now()), func() { f.end(Horizon) })
		defer horizon.Stop()
	}
	f.w.Lock()
	defer f.w.Unlock()
	for f.why == Running {
		if err := f.over.WaitLocked(ctx, f.w, "the end of the run"); err != nil {
			f.end(Interrupted)
			return err
		}
	}
	return nil
}

// end ends the run, unless it has ended already. The monitor is held.
func (f *Fleet) end(why Reason) {
	if f.why == Running {
		f.why = why
		f.over.WakeAllLocked(f.w)
	}
}

// flushEachSecond brings the bundle's logs to the disk, so that a crash costs a second at most.
func (f *Fleet) flushEachSecond(ctx context.Context) {
	for f.w.Sleep(ctx, realSecond(f.w)) == nil {
		f.o.Bundle.Flush()
	}
}

// finish captures how things stand, and closes the books.
func (f *Fleet) finish(ctx context.Context) *Report {
	report := &Report{}
	// A capture under way is let finish. The wait fails only if the world has stopped, since a process
	// has panicked; then there is nothing to capture any more.
	if turn, err := f.capturing.Acquire(ctx, sim.Party{}); err == nil {
		f.settle()
		f.judgeOpen()
		report.End, report.Episodes = f.captureEnd(), f.episodes
		_ = turn.Release()
	}
	f.w.Lock()
	l := f.ledger
	report.Totals, report.Why, report.Stalls, report.Failures = l.total, f.why, l.watch.raised, f.failures
	l.journal.runEnd(f.w.Now(), f.why.String(), &l.total, l.watch.raised)
	l.closed = true
	f.w.Unlock()
	if report.End != nil {
		report.Totals = report.End.Totals // which has the tokens in flight
	}
	f.o.Bundle.Flush()
	report.WriteErr = f.o.Bundle.Err()
	f.finished = true
	return report
}

// abandon brings to the disk what there is when Run is left by a panic: the one with which a virtual
// world unwinds its processes after another one has panicked.
func (f *Fleet) abandon() {
	if !f.finished {
		f.o.Bundle.Flush()
	}
}
