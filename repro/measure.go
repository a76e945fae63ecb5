package repro

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/metrics"
)

// oracleEvery is how often the oracle looks.
const oracleEvery = time.Second

// buildMeter makes what measures the run, if anybody wants that.
func (a *assembly) buildMeter() {
	if a.o.Measure == nil {
		return
	}
	o := *a.o.Measure
	if o.Horizon == 0 {
		o.Horizon = a.s.Horizon
	}
	if o.Triggers == nil {
		o.Triggers = a.s.TriggerWindows()
	}
	a.meter = metrics.New(a.w, o, metrics.Setup{
		Tasks: a.s.Fleet.Agents + len(a.arrivals), Pacer: a.s.Pacer, Stack: a.stack, Client: a.client,
		Controls: func() pacer.ControlState { return a.pacer.ControlsLocked() }, // which is made after the meter
	})
}

// finishMeasuring is called by the main process when the fleet has ended, before anything is taken down:
// in virtual time nobody else has run since.
func (a *assembly) finishMeasuring() {
	if a.meter != nil && a.report != nil {
		a.measured = a.meter.Finish(a.pacer.Calls())
	}
}

// blind returns a watchdog that gives up when w does, and captures next to nothing before.
func blind(w harness.Watchdog) harness.Watchdog {
	const captureNever = 1000 * time.Hour // the longest that a watchdog takes
	w.StallAfter = captureNever
	if w.GiveUpAfter > 0 {
		w.StallAfter = w.GiveUpAfter
	}
	w.Captures, w.EpisodesKept, w.SampleEvery, w.Window = []int{1}, 1, captureNever, 0
	return w
}
