package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/goroutine"
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

	// Demand, if there is one, has the fleet work on tasks without end: agents and tasks are numbered in the
	// order in which they begin, agent-000001 and so on. A closed loop that does not say how many agents are at
	// work has as many as Fleet has workers. In an open one Fleet.Workers is how many work at once: what arrives
	// beyond that waits. Of the rest of Fleet only StartSpread is used, and there may be no Arrivals. Tasks, if
	// they are given, are gone through again and again, each with its number added to its ID.
	Demand *demand.Config

	// TasksMax ends a run with a Demand when so many tasks have ended; no more than that are begun. 0: it
	// goes on.
	TasksMax int

	// TasksBefore is how many tasks an earlier part of a run with a Demand has begun: agents and tasks are numbered
	// on from there. 0: this is all of the run.
	TasksBefore int

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
	// DumpOf says whose goroutines count in a dump, in a process where others are at work too. nil: all do. The
	// dump as text has all of them in any case.
	DumpOf func(*goroutine.Goroutine) bool

	// Setup is what diagnosis is told about the configuration. The fleet's own part of it is filled in.
	Setup Setup
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
	if err := o.validateTicks(); err != nil {
		return err
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
	case o.Demand != nil:
		return o.validateDemand()
	case o.TasksMax != 0:
		return fmt.Errorf("tasks_max: found %d without a Demand, want them together", o.TasksMax)
	case o.Tasks != nil && len(o.Tasks) != o.Fleet.Agents+len(o.Arrivals):
		return fmt.Errorf("%d tasks for %d agents, want as many", len(o.Tasks), o.Fleet.Agents+len(o.Arrivals))
	}
	return nil
}

func (o *Options) validateDemand() error {
	switch err := o.Demand.Validate(); {
	case err != nil:
		return fmt.Errorf("demand.%w", err)
	case o.Guests || len(o.Arrivals) > 0 || o.Fleet.Arrivals.On():
		return errors.New("demand: found it beside guests or arrivals, want one of them")
	case o.TasksMax < 0 || o.TasksMax > tasksLimit:
		return fmt.Errorf("tasks_max: found %d, want 0 (no end) to %d", o.TasksMax, tasksLimit)
	case o.Tasks != nil && len(o.Tasks) == 0:
		return errors.New("tasks: found none to be gone through, want some, or nil")
	}
	return nil
}

// validateTicks is for what a run with and without a demand may have.
func (o *Options) validateTicks() error {
	for i, t := range o.Ticks {
		if t.Every < lengthMin || t.Every > lengthMax || t.Do == nil {
			return fmt.Errorf("ticks[%d]: found one every %v, want %v to %v, and something to do", i, t.Every, lengthMin, lengthMax)
		}
	}
	return nil
}
