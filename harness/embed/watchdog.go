package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Watchdog watches the agents of a program. Make one with [Start]. Its methods and those of what it
// hands out are safe for concurrent use, and none fails or panics because a caller forgot or repeated
// a mark: the evidence is then as good as the marks.
type Watchdog struct {
	o      Options
	w      *sim.Wall
	ledger *harness.Ledger
	calls  pacer.Observer
	fleet  *harness.Fleet
	bundle *bundle.Bundle
	slots  *sim.Semaphore // nil: no limit

	stop context.CancelFunc
	over chan struct{} // closed once report and err are set

	closing sync.Once
	report  *harness.Report
	err     error

	// Guarded by the world's monitor.
	first, last *call // in flight, in the order of their start
	names       map[string]int
	nameless    int // calls of no agent so far
}

// slotsName is the name by which the diagnosis knows the slots.
const slotsName = "pacer.slots"

// Start begins to watch. It makes later goroutine dumps of this process show labels, for which it adds
// to the environment variable GODEBUG. The error names the option that is wrong, or why the bundle
// cannot be written.
func Start(o Options) (*Watchdog, error) {
	if err := o.fill(); err != nil {
		return nil, fmt.Errorf("embed: Start: %w", err)
	}
	// Without labels the dumps say less, and no more.
	_ = goroutine.EnableLabels()
	w := o.World
	if w == nil {
		w = sim.NewWall(sim.WallOptions{})
	}
	d := &Watchdog{o: o, w: w, over: make(chan struct{}), names: map[string]int{}}
	if o.Slots > 0 {
		d.slots = sim.NewSemaphore(w, slotsName, o.Slots)
	}
	if err := o.Watchdog.Validate(); err != nil { // before there is a bundle
		return nil, fmt.Errorf("embed: Start: Watchdog.%w", err)
	}
	b, err := o.bundle()
	if err != nil {
		return nil, fmt.Errorf("embed: Start: %w", err)
	}
	d.bundle = b
	d.ledger = harness.NewLedger(w, harness.NewJournal(w, b.Log(bundle.EventsLog)))
	d.calls = d.ledger.CallObserver()
	if d.fleet, err = harness.New(w, d.ledger, d.options()); err != nil {
		_ = b.Close()
		return nil, fmt.Errorf("embed: Start: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	go d.run(ctx)
	if err := d.fleet.WaitBegun(context.Background()); err != nil {
		return nil, fmt.Errorf("embed: Start: %w", err)
	}
	return d, nil
}

func (d *Watchdog) options() harness.Options {
	o := harness.Options{
		Name: d.o.Name, Guests: true, Watchdog: d.o.Watchdog, Calls: d.inFlight,
		Servers: d.o.Servers, Bundle: d.bundle, Dumps: true, Setup: d.o.Setup,
		DumpOf: d.o.DumpOf, Router: d.o.Router,
	}
	if d.o.Judge != nil || d.o.OnStall != nil {
		o.Judge = d.judge
	}
	if d.o.RouterLog != nil {
		o.Router = harness.NewRouterLog(d.w, d.bundle.Log(bundle.RouterLogFile), time.Now())
		go func() { _, _ = io.Copy(o.Router, d.o.RouterLog) }() // a log that breaks off has ended
	}
	return o
}

// run is the run that goes on beside the program.
func (d *Watchdog) run(ctx context.Context) {
	defer close(d.over)
	err := d.w.Run(ctx, func(ctx context.Context) {
		d.report, d.err = d.fleet.Run(ctx)
		d.conclude()
	})
	if panicked := new(sim.PanicError); errors.As(err, &panicked) { // in Judge or OnStall
		d.err = err
	}
	if err := d.bundle.Close(); d.err == nil {
		d.err = err
	}
}

// conclude writes the verdict of the watch as a whole, where runs of wedge have theirs: that of the
// stall that matters most, which is the one that is open, else the longest; without a stall, that of how
// things stand at the end.
func (d *Watchdog) conclude() {
	if d.bundle == nil || d.o.Judge == nil || d.report == nil {
		return
	}
	var main *harness.Episode
	for _, e := range d.report.Episodes {
		if main == nil || !main.Open() && (e.Open() || e.EndedAt.Sub(e.StartedAt) > main.EndedAt.Sub(main.StartedAt)) {
			main = e
		}
	}
	var verdict any
	switch {
	case main != nil:
		verdict = main.Verdict
	case d.report.End != nil:
		verdict = d.o.Judge(d.report.End, nil)
	}
	if verdict != nil {
		d.bundle.WriteJSON(bundle.VerdictFile, verdict)
	}
}

// Close ends the watch: evidence is captured of how things stand, and the bundle is closed. Who waits
// in Acquire gets an error, and later marks are ignored. The error is the first one in writing the
// bundle, or a panic of Judge or OnStall. Later calls return the same.
func (d *Watchdog) Close() (*harness.Report, error) {
	d.closing.Do(d.stop)
	<-d.over
	return d.report, d.err
}

// Dir returns the directory of the bundle, "" if there is none.
func (d *Watchdog) Dir() string { return d.bundle.Dir() }

// Progress returns how things stand.
func (d *Watchdog) Progress() harness.Progress { return d.ledger.Progress() }

// judge asks for the verdict and passes it on.
func (d *Watchdog) judge(now, before *harness.Evidence) any {
	s := Stall{Evidence: now}
	if d.o.Judge != nil {
		s.Verdict = d.o.Judge(now, before)
	}
	if d.bundle != nil {
		s.Dir = harness.StallDir(now.Episode)
	}
	if d.o.OnStall != nil {
		d.o.OnStall(s)
	}
	return s.Verdict
}

// inFlight returns the calls in flight, for the evidence.
func (d *Watchdog) inFlight() []pacer.CallState {
	d.w.Lock()
	defer d.w.Unlock()
	var out []pacer.CallState
	for c := d.first; c != nil; c = c.next {
		out = append(out, c.state)
	}
	return out
}
