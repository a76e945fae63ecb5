package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// backWithin is how long, on the machine's clock, a request that was refused, cut off or left may take
// to come back as another attempt. The official clients wait 8 s at most.
const backWithin = 15 * time.Second

// session is the parts of one run.
type session struct {
	s      *repro.Scenario
	o      Options
	w      *sim.Wall
	bundle *bundle.Bundle
	ledger *harness.Ledger
	table  *table
	served *repro.Served
	fleet  *harness.Fleet
	child  *child
	began  time.Time

	judge  *judge
	report *harness.Report
	seen   func() Seen             // closes the books at the first call, as of which it is
	stop   context.CancelCauseFunc // ends the watching; its cause is why
}

// Why a run ended before the harness did; causes with which the watching is ended.
var (
	errGivenUp  = errors.New("guest: given up")
	errTimeOver = errors.New("guest: the time is over")
	errExited   = errors.New("guest: the harness has ended")
)

// Run runs the harness until it ends, is given up, or ctx is cancelled. Whatever the reason, the harness
// and all of its process group have ended when it returns. The error is an *repro.InputError for bad
// input, in which case the harness has not run, or a failure of wedge itself.
func Run(ctx context.Context, s *repro.Scenario, o Options) (*Result, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	g := &session{s: s, o: o, w: sim.NewWall(sim.WallOptions{Seed: s.Seed, Scale: o.Scale})}
	if err := g.open(); err != nil {
		return nil, err
	}
	defer g.bundle.Close()
	if err := g.serve(); err != nil {
		return nil, err
	}
	defer g.served.Close()
	if err := g.watch(ctx); err != nil {
		if g.child == nil { // such as a file that is no program after all
			return nil, errors.Join(err, g.discard())
		}
		return nil, err
	}
	r := g.result(ctx)
	g.bundle.WriteJSON(bundle.VerdictFile, r.Document())
	r.WriteErr = g.bundle.Close() // its first failure, whenever that was
	return r, nil
}

// open makes the bundle and the books.
func (g *session) open() error {
	if g.o.Out != "" {
		b, err := bundle.Create(g.o.Out, bundle.Run{
			Name: "exec-" + g.s.Name, Seed: g.s.Seed, Clock: string(repro.ClockWall), Scale: g.o.Scale, Version: g.o.Version, Config: g.s,
		}, bundle.Options{Secrets: secrets(g.o.Env)})
		if err != nil {
			return &repro.InputError{Source: "--out", Msg: err.Error()}
		}
		g.bundle = b
	}
	g.ledger = harness.NewLedger(g.w, harness.NewJournal(g.w, g.bundle.Log(bundle.EventsLog)))
	g.seen = sync.OnceValue(func() Seen { return g.table.close() })
	g.table = newTable(g.w, g.ledger, g.bundle.Log(RequestsLog), time.Duration(float64(backWithin)*g.o.Scale))
	if g.o.Tap != nil {
		books := repro.Tap{Calls: g.table.calls, Agents: g.table.agents}
		tap := books.And(g.o.Tap(repro.Inside{World: g.w, Ask: func(look func()) bool { look(); return true }}))
		g.table.calls, g.table.agents = tap.Calls, tap.Agents
	}
	return nil
}

// discard removes the bundle of a harness that never ran. The directory is the bundle's own: it was not
// there before.
func (g *session) discard() error {
	if g.bundle == nil {
		return nil
	}
	return errors.Join(g.bundle.Close(), os.RemoveAll(g.bundle.Dir()))
}

// serve has the servers listen, and makes the watching of them.
func (g *session) serve() error {
	log := harness.NewRouterLog(g.w, g.bundle.Log(bundle.RouterLogFile), time.Time{})
	served, err := repro.Serve(g.s, repro.ServeOptions{
		World: g.w, Scale: g.o.Scale, Logs: serving.Logs{Router: log}, AnyModel: true, PlainModel: g.o.PlainModel, Observer: g.table,
	})
	if err != nil {
		return err
	}
	g.served = served
	scraper, err := api.NewScraper(g.servers().MetricsURL)
	if err == nil {
		g.judge = newJudge(g)
		g.fleet, err = harness.New(g.w, g.ledger, harness.Options{
			Name: fmt.Sprintf("exec-%s-%d", g.s.Name, g.s.Seed), Guests: true, Watchdog: g.o.watchdog(),
			Calls: g.table.snapshot, Servers: gauges{scraper}, Router: log, Judge: g.judge.verdict, Bundle: g.bundle,
			Setup: harness.Setup{SimulatedModel: true, Servers: "simulated, over HTTP", FromServers: true},
		})
	}
	if err != nil {
		return errors.Join(fmt.Errorf("guest: %w", err), served.Close())
	}
	return nil
}

func (g *session) servers() Servers {
	host := strings.TrimSuffix(g.served.BaseURL, "/v1")
	return Servers{
		BaseURL: g.served.BaseURL, MetricsURL: host + "/metrics", FaultsURL: host + "/wedge/faults", Model: g.s.Servers.Model.ID,
	}
}

// gauges reads the simulated servers as it would real ones.
type gauges struct{ scraper *api.Scraper }

var _ harness.Servers = gauges{}

// Gauges implements harness.Servers.
func (g gauges) Gauges(ctx context.Context) ([]harness.Gauge, error) {
	read, err := g.scraper.Gauges(ctx)
	out := make([]harness.Gauge, len(read))
	for i := range read {
		out[i] = harness.Gauge(read[i])
	}
	return out, err
}

// watch runs the harness and watches it until the run is over.
func (g *session) watch(ctx context.Context) error {
	if g.o.Started != nil {
		g.o.Started(g.servers())
	}
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g.stop = stop
	var watched error
	over := make(chan struct{})
	go func() {
		defer close(over)
		watched = g.run(inner)
	}()
	err := g.startChild(inner)
	if err == nil {
		g.wait(ctx, over)
	}
	stop(err)
	<-over
	if err := cmp.Or(err, watched); err != nil {
		if g.child != nil {
			g.child.end()
		}
		return err
	}
	return nil
}

// run watches in the world of the servers until ctx is cancelled.
func (g *session) run(ctx context.Context) error {
	var failed error
	err := g.w.Run(context.WithoutCancel(ctx), func(process context.Context) {
		process, cancel := g.w.WithCancel(process)
		detach := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		defer detach()
		g.report, failed = g.fleet.Run(process)
		g.seen() // before the world ends, and answers under way with it
	})
	var panicked *sim.PanicError
	if failed == nil && (g.report == nil || errors.As(err, &panicked)) {
		failed = fmt.Errorf("guest: the run broke off: %w", err)
	}
	return failed
}

// startChild starts the harness once it is watched.
func (g *session) startChild(ctx context.Context) error {
	if err := g.fleet.WaitBegun(ctx); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	if g.o.Watch != nil {
		g.o.Watch(g.fleet.Progress)
	}
	g.began = time.Now()
	c, err := start(&g.o, g.environment(), "WEDGE_BASE_URL="+g.served.BaseURL)
	if err != nil {
		return err
	}
	g.child = c
	if g.o.Running != nil {
		g.o.Running(c.kill)
	}
	g.table.begin(g.o.Command[0])
	return nil
}

// wait waits for a reason to end the run, and ends the watching of it.
func (g *session) wait(ctx context.Context, watched <-chan struct{}) {
	var timeOver <-chan time.Time
	if g.o.For > 0 {
		timer := time.NewTimer(g.o.For)
		defer timer.Stop()
		timeOver = timer.C
	}
	select {
	case <-g.child.ended:
		g.settle()
		g.stop(errExited)
	case <-timeOver:
		g.quit()
		g.stop(errTimeOver)
	case <-ctx.Done():
		g.child.interrupt() // as the terminal would have, were it not in a group of its own
		g.stop(context.Cause(ctx))
	case <-watched: // given up
	}
}

// quit has the harness dump its goroutines, if that is wanted. The servers must be there still: what the
// harness waits for would be gone with them.
func (g *session) quit() {
	if g.o.Quit {
		g.seen() // what was out is not left by the harness, but ends with it
		g.judge.dumps.quit()
	}
}

// settleWithin is how long the ends of the harness's connections may take to be noticed.
const settleWithin = time.Second

// settle waits until the front has noticed that the harness is gone, and closes its books.
func (g *session) settle() {
	for deadline := time.Now().Add(settleWithin); !g.table.quiet() && time.Now().Before(deadline); {
		time.Sleep(groupPoll)
	}
	var err error
	if code, text := g.child.status(); code != 0 {
		err = errors.New(text)
	}
	g.table.end(err)
}

// ended says why the run ended.
func (g *session) ended() diagnose.Ending {
	switch cause := g.report.Cause; {
	case errors.Is(cause, errExited):
		return diagnose.EndedByItself
	case errors.Is(cause, errGivenUp):
		return diagnose.EndedByWatchdog
	case errors.Is(cause, errTimeOver):
		return diagnose.EndedAtHorizon
	}
	return diagnose.EndedInterrupted
}
