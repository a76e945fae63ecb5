package series

import (
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Options say what a Meter is to know of a run.
type Options struct {
	// StallAfter is the watchdog's: work without a finished step for so long is a stall. 0: nothing is.
	StallAfter time.Duration
	// Slots tells how many of the pacer's slots are in use, and the limit on them (0: none). It is asked at each
	// event, with the monitor held. nil: that is not known.
	Slots func() (used, limit int)
	// FirstWindow is the Index of the first window. 0: 1. A run that is resumed on the wall goes on counting.
	FirstWindow int
}

// Meter counts what happens in a run. It is to be the observer of the run's pacer and agents ([Meter.CallObserver],
// [Meter.AgentObserver]). An event costs the same however much has happened, and takes no memory but for what is in
// flight. All of its methods but these two are to be called with the monitor held. Make one with [NewMeter].
type Meter struct {
	w sim.World
	o Options
}

// NewMeter returns a meter whose first window begins now.
func NewMeter(w sim.World, o Options) *Meter { return &Meter{w: w, o: o} }

// Extra is what a window is to have beside what its meter has seen.
type Extra struct {
	// Open are the calls in flight at the end of the run: they become part of the last window's distribution of calls
	// with the time they have taken, and count there as censored. nil for all windows but the last.
	Open []pacer.CallState
}

// Close ends a window and starts the next.
func (m *Meter) Close(now sim.Instant, extra Extra) Window { return Window{} }

// Snapshot returns what was counted until now.
func (m *Meter) Snapshot(now sim.Instant) Cumulative { return Cumulative{} }

// Gauges takes in a reading of the servers' gauges, which is copied.
func (m *Meter) Gauges(now sim.Instant, gauges []harness.Gauge) {}

// TaskArrived tells that a task is there, on which an agent of that name will work when it can. Its time counts from
// now. A task that nobody has told of counts from when its agent begins.
func (m *Meter) TaskArrived(agent string) {}

// CallObserver returns what a pacer is to be given as an observer.
func (m *Meter) CallObserver() pacer.Observer { return nil }

// AgentObserver returns what agents are to be given as an observer.
func (m *Meter) AgentObserver() agents.Observer { return nil }
