package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
)

// Fleet runs agents on workers, watches them, and captures evidence. Make one with [New].
type Fleet struct {
	w       sim.World
	ledger  *Ledger
	o       Options
	tasks   *sim.Queue[int] // indices of those that nobody works on yet
	endless *endless        // nil: the tasks have an end
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
	if o.Demand != nil {
		o.Setup.Agents, o.Setup.Workers = o.TasksMax, o.Fleet.workers()
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
		dumper:    dumper{w: w, of: o.DumpOf},
	}
	if o.Demand != nil {
		f.endless = newEndless(&o)
	}
	if o.Bundle != nil && o.Servers != nil {
		f.sampler.log = o.Bundle.Log(bundle.SamplesLog)
	}
	l.ended = f.stallEnded
	if f.endless != nil {
		l.router = o.Router // which could not remember all there is
	}
	return f, nil
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
	f.begun.OpenLocked()
	if f.endless == nil {
		f.putTasks()
	}
	f.w.Unlock()
	f.w.Spawn(aides, "harness.watchdog", f.guard)
	f.w.Spawn(aides, "harness.sampler", f.sampler.run)
	if !f.w.Virtual() && f.o.Bundle != nil {
		f.w.Spawn(aides, "harness.journal", f.flushEachSecond)
	}
	for _, t := range f.o.Ticks {
		f.w.Spawn(aides, "harness.tick", func(ctx context.Context) { f.tick(ctx, t) })
	}
	if f.endless != nil {
		f.w.Spawn(aides, "harness.demand", f.meetDemand)
		return
	}
	for range f.o.Fleet.workers() {
		f.hire(true)
	}
	if len(f.o.Arrivals) > 0 {
		f.w.Spawn(aides, "harness.arrivals", f.admit)
	}
}

// putTasks lays out the tasks that are there from the start. The monitor is held.
func (f *Fleet) putTasks() {
	for i := range f.o.Fleet.Agents {
		f.tasks.PutLocked(i)
	}
	f.working, f.due = f.o.Fleet.workers(), len(f.o.Arrivals)
	if f.working == 0 && f.due == 0 && !f.o.Guests {
		f.end(Completed)
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
