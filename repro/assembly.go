package repro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/metrics"
	"example.com/wedge/repro/serving"
)

// assembly is the parts of one run.
type assembly struct {
	s        *Scenario
	o        Options
	w        sim.World
	porthole *porthole
	bundle   *bundle.Bundle
	tasks    []agents.Task // nil: the fleet's own

	arrivals []harness.Arrival // in the course of the run

	faults    *fault.Set
	ledger    *harness.Ledger
	routerLog *harness.RouterLog
	stack     *serving.Stack // nil: a real server
	backend   pacer.Backend
	gauges    harness.Servers
	pacer     *pacer.Pacer
	workspace agents.Workspace
	fleet     *harness.Fleet
	client    *serving.Client // nil: not in memory
	meter     *metrics.Meter  // nil: nothing is measured
	tap       Tap
	measured  *metrics.Run

	episodes episodes // seen by the process that captures
	report   *harness.Report
	closes   []func() // what is to be taken down, last first
}

// run builds the parts and runs them in the world.
func (a *assembly) run(ctx context.Context) error {
	defer a.takeDown()
	if err := a.build(ctx); err != nil {
		return err
	}
	if a.o.Watch != nil {
		a.o.Watch(a.progress())
	}
	var failed error
	err := a.w.Run(ctx, func(ctx context.Context) {
		a.report, failed = a.fleet.Run(ctx)
		a.finishMeasuring()
	})
	if failed != nil {
		return failed
	}
	// On the wall the fleet takes the panic of another process for an interrupt, and reports.
	var panicked *sim.PanicError
	if a.report == nil || errors.As(err, &panicked) || err != nil && !a.report.Interrupted() {
		return fmt.Errorf("repro: the run broke off: %w", err)
	}
	return nil
}

func (a *assembly) takeDown() {
	for i := len(a.closes) - 1; i >= 0; i-- {
		a.closes[i]()
	}
}

func (a *assembly) build(ctx context.Context) error {
	var err error
	if a.faults, err = fault.NewSet(a.w, append(a.s.allFaults(), a.o.Faults...)); err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	var journal *harness.Journal
	if !a.o.NoVerdict {
		journal = harness.NewJournal(a.w, a.eventsLog())
	}
	a.ledger = harness.NewLedger(a.w, journal)
	if err := a.buildServers(ctx); err != nil {
		return err
	}
	a.buildMeter()
	a.tapIn()
	a.pacer, err = pacer.New(a.w, a.s.Pacer, a.s.Policy, a.backend, a.callObserver(), a.faults)
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	if err := a.buildWorkspace(); err != nil {
		return err
	}
	a.fleet, err = harness.New(a.w, a.ledger, a.fleetOptions())
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	return nil
}

// eventsLog returns where the journal goes.
func (a *assembly) eventsLog() io.Writer {
	events := a.bundle.Log(bundle.EventsLog)
	if a.o.JournalTee == nil {
		return events
	}
	return tee{events, a.o.JournalTee}
}

// buildServers makes the simulated servers, in memory or behind a socket, or the way to real ones.
func (a *assembly) buildServers(ctx context.Context) error {
	if a.o.Server != nil {
		return a.connect(ctx)
	}
	var logs serving.Logs
	if !a.o.NoVerdict {
		a.routerLog = harness.NewRouterLog(a.w, a.bundle.Log(bundle.RouterLogFile), time.Time{})
		logs.Router = a.routerLog
	}
	model := serving.Model{Output: a.outputs()}
	cfg := a.s.Servers
	if a.o.NoVerdict {
		cfg.Gauges.Exact = true // nobody reads them: nothing need be kept of what they showed
	}
	stack, err := serving.New(a.w, cfg, model, a.faults, logs)
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	a.stack = stack
	if wall, ok := a.w.(*sim.Wall); ok {
		return a.listen(wall)
	}
	client := serving.ClientConfig{ConnectionsMax: a.s.Pacer.ConnectionsMax}
	if a.o.Oracle {
		client.Oracle = oracleEvery
	}
	a.client = serving.NewClient(stack, client)
	a.backend = a.client
	a.gauges = &inMemory{stack: stack, porthole: a.porthole}
	return nil
}

// inMemory reads the gauges of servers in the same process.
type inMemory struct {
	stack *serving.Stack
	read  []serving.Gauge // room for one reading, which is copied by whoever asked
	given []harness.Gauge

	porthole *porthole // nil: nobody may look in
}

var _ harness.Servers = (*inMemory)(nil)

// Gauges implements harness.Servers.
func (m *inMemory) Gauges(context.Context) ([]harness.Gauge, error) {
	m.read = m.stack.AppendGauges(m.read[:0])
	m.given = appendGauges(m.given[:0], m.read)
	m.porthole.open()
	return m.given, nil
}

func appendGauges(to []harness.Gauge, read []serving.Gauge) []harness.Gauge {
	for _, g := range read {
		to = append(to, harness.Gauge(g))
	}
	return to
}

// buildWorkspace keeps the articles in memory, or beside the evidence when the run is on the wall.
func (a *assembly) buildWorkspace() error {
	shared := agents.NewShared(a.w, &a.s.Workflow)
	if a.o.Clock == ClockVirtual || a.o.Out == "" {
		a.workspace = agents.NewMemory(shared)
		return nil
	}
	dir, err := agents.NewDirectory(shared, filepath.Join(a.bundle.Dir(), "workspace"))
	if err != nil {
		return fmt.Errorf("repro: %w", err)
	}
	a.closes = append(a.closes, func() { _ = dir.Close() }) // nothing is written through it any more
	a.workspace = dir
	if a.o.Server != nil && a.o.Server.APIKey != "" {
		a.workspace = redacting{dir, a.o.Server.APIKey}
	}
	return nil
}

func (a *assembly) fleetOptions() harness.Options {
	s := a.s
	o := harness.Options{
		Name: s.runName(), Fleet: s.Fleet, Watchdog: s.Watchdog, Horizon: s.Horizon, Ticks: a.o.Ticks,
		Arrivals: a.arrivals, Tasks: a.tasks, Run: a.runAgent, Calls: a.pacer.Calls, Controls: a.pacer.ControlsLocked,
		Occupancy: a.pacer.OccupancyLocked, Setup: a.setup(),
	}
	if a.o.Horizon > 0 {
		o.Horizon = a.o.Horizon
	}
	a.meet(&o)
	if a.meter != nil {
		o.Arrived = a.meter.TaskArrived
	}
	if a.o.Hooks.Arrived != nil {
		o.Arrived = a.o.Hooks.Arrived
	}
	if a.o.NoVerdict {
		o.Watchdog = blind(s.Watchdog)
		return o
	}
	o.Servers, o.Router, o.Bundle, o.Dumps, o.Graph = a.servers(), a.routerLog, a.bundle, a.o.Dumps, diagnose.WaitGraph
	o.Judge = func(now, before *harness.Evidence) any {
		v := a.judge(now, before)
		a.episodes.see(v, now)
		if a.o.Hooks.Judged != nil && now.Episode > 0 {
			a.o.Hooks.Judged(now.Episode, v)
		}
		return v
	}
	return o
}

// setup returns what diagnosis is told about the configuration.
func (a *assembly) setup() harness.Setup {
	s, p := a.s, &a.s.Policy
	setup := harness.Setup{
		Slots: s.Pacer.SlotsMax(), ConnectionsMax: s.Pacer.ConnectionsMax, Hold: string(s.Pacer.Hold),
		ConnectLimit: p.Connect, HeaderLimit: p.ResponseHeader, FirstLimit: p.FirstToken, IdleLimit: p.Idle, TotalLimit: p.Total,
		CallLimit: p.CallTotal, WorkLimit: p.WorkLimit(s.Workflow.MaxTokens), RoundLimit: p.Round, TaskLimit: p.Task,
		Throttle: string(p.Throttle.Rule), Breaker: string(p.Breaker.Rule), RetryBudget: string(p.RetryBudget.Rule),
		AttemptsMax: p.MaxAttempts, SimulatedModel: a.stack != nil, Servers: "in memory",
	}
	for i := range p.Adaptive {
		limit := string(p.Adaptive[i].Limit)
		setup.Learnt = append(setup.Learnt, limit)
		if p.Adaptive[i].SuccessOnly {
			setup.LearntFromOK = append(setup.LearntFromOK, limit)
		}
	}
	switch {
	case a.o.Server != nil:
		setup.Servers = a.o.Server.BaseURL
	case a.o.Clock == ClockWall:
		setup.Servers = "simulated, over HTTP"
	}
	return setup
}

func (a *assembly) runAgent(ctx context.Context, name string, task agents.Task) error {
	agent := agents.New(a.w, name, &a.s.Workflow, a.workspace, a.pacer, a.agentObserver(), a.faults)
	agent.Limit(agents.Limits{Round: a.s.Policy.Round, Task: a.s.Policy.Task})
	if a.o.Demand != nil {
		agent.Forgets()
	}
	return agent.Run(ctx, task)
}

// ending translates why a run ended.
func ending(why harness.Reason) diagnose.Ending {
	switch why {
	case harness.Horizon:
		return diagnose.EndedAtHorizon
	case harness.GaveUp:
		return diagnose.EndedByWatchdog
	case harness.Interrupted:
		return diagnose.EndedInterrupted
	}
	return diagnose.EndedByItself
}
