package repro

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/diagnose"
)

// Run runs a scenario and returns its verdict with the evidence. If ctx is cancelled, the run ends at
// once with its evidence complete, and Result.Interrupted says so. The error is an *InputError for
// bad input, in which case nothing was written, a *ServerError for a server that does not answer, the
// cause of ctx if that is cancelled before the run begins, or a failure of wedge itself.
func Run(ctx context.Context, s *Scenario, o Options) (*Result, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if o.Demand != nil {
		o.Demand = new(s.demandOf(*o.Demand))
	}
	arrivals, tasks, err := s.loadFor(&o)
	if err != nil {
		return nil, err
	}
	if err := o.Server.check(ctx); err != nil {
		return nil, err
	}
	b, err := openBundle(s, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if o.Hooks.Opened != nil {
		o.Hooks.Opened(b)
	}

	var w sim.World
	if o.Clock == ClockWall {
		w = sim.NewWall(sim.WallOptions{Seed: s.Seed, Scale: o.Scale, Start: o.Start})
	} else {
		w = sim.NewVirtual(sim.VirtualOptions{Seed: s.Seed, Shuffle: o.Shuffle})
	}
	a := &assembly{s: s, o: o, w: w, porthole: newPorthole(w), bundle: b, arrivals: arrivals, tasks: tasks}
	broken := true
	defer func() { a.porthole.end(broken) }()
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	r := a.result()
	b.WriteJSON(bundle.VerdictFile, r.Document())
	if o.Hooks.Ended != nil {
		o.Hooks.Ended(r)
	}
	r.WriteErr = b.Close() // its first failure, whenever that was
	broken = false
	return r, nil
}

// load returns the tasks that arrive in the course of the run, and all tasks if they are a trace's, else
// nil for the fleet's own. It depends on the scenario alone, so that all policies meet the same.
func (s *Scenario) load() ([]harness.Arrival, []agents.Task, error) {
	if s.Workflow.Trace == "" {
		return s.Fleet.Schedule(s.Seed, s.spikes(), nil), nil, nil
	}
	trace, err := workload.ReadFile(s.Workflow.Trace)
	if err != nil {
		return nil, nil, &InputError{Source: "workflow.trace", Msg: err.Error()}
	}
	tasks := agents.TraceTasks(trace)
	first := min(s.Fleet.Agents, len(tasks))
	recorded := make([]time.Duration, 0, len(tasks)-first)
	for i := first; i < len(tasks); i++ {
		recorded = append(recorded, tasks[i].Arrival)
	}
	arrivals := s.Fleet.Schedule(s.Seed, s.spikes(), recorded)
	if n := s.Fleet.Agents + len(arrivals); n > len(tasks) {
		return nil, nil, &InputError{
			Source: s.Workflow.Trace, Field: "fleet.agents",
			Msg: fmt.Sprintf("found %d agents for a trace of %d sessions, want at most that many", n, len(tasks)),
		}
	}
	return arrivals, tasks[:s.Fleet.Agents+len(arrivals)], nil
}

// TaskCount returns how many tasks the fleet has in all, those that arrive included. Where the trace that it
// depends on cannot be read, it is how many are there from the start.
func (s *Scenario) TaskCount() int {
	arrivals, _, err := s.load()
	if err != nil {
		return s.Fleet.Agents
	}
	return s.Fleet.Agents + len(arrivals)
}

// runName is the name and seed of a run, as its evidence carries it.
func (s *Scenario) runName() string { return fmt.Sprintf("%s-%d", s.Name, s.Seed) }

// openBundle makes the bundle's directory; a nil bundle takes everything and writes nothing.
func openBundle(s *Scenario, o Options) (*bundle.Bundle, error) {
	if o.Out == "" {
		return nil, nil
	}
	run := bundle.Run{Name: s.Name, Seed: s.Seed, Clock: string(o.Clock), Scale: o.Scale, Version: o.Version, Config: s}
	options := o.Bundle
	options.Replace, options.Inline = o.Replace, o.Clock == ClockVirtual
	if o.Server != nil {
		options.Secrets = []string{o.Server.APIKey}
	}
	b, err := bundle.Create(o.Out, run, options)
	if err != nil {
		return nil, &InputError{Source: "--out", Msg: err.Error()}
	}
	return b, nil
}

// judge turns evidence into a verdict of this run.
func (a *assembly) judge(now, before *harness.Evidence) diagnose.Verdict {
	v := diagnose.Diagnose(now, before)
	v.Scenario, v.Seed, v.Clock = a.s.Name, a.s.Seed, string(a.o.Clock)
	v.EvidenceDir, v.Replay = a.bundle.Dir(), a.o.Replay
	if now.EndedAt != 0 {
		v.End(now.EndedAt.Sub(0))
	}
	if want := &a.s.Expect; want.any() {
		v.Expected = &diagnose.Expectation{Outcome: want.Outcome, Layer: want.Layer, Cause: want.Cause, Mechanisms: want.Mechanisms}
		v.Reproduced = v.Meets(*v.Expected)
	}
	return v
}
