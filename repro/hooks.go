package repro

import (
	"context"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/diagnose"
)

// Hooks let who starts a run have a part in it. Each may be nil. None changes what happens in the run.
type Hooks struct {
	// Opened is called with the bundle, nil if there is none, before the run begins.
	Opened func(b *bundle.Bundle)
	// Gauges is told of each reading of the servers' gauges, with the monitor held. They are not to be kept.
	Gauges func(now sim.Instant, gauges []harness.Gauge)
	// Arrived is told of each task of an open loop when it is there, by the name of the agent that will work on it. The
	// monitor is held.
	Arrived func(agent string)
	// Judged is told of each verdict of a stall: at each capture, or at the end of the stall only where there is no
	// bundle. It is called by one process at a time, without the monitor held. The number of the stall comes with it.
	Judged func(episode int, v diagnose.Verdict)
	// Ended is called with the result, before the bundle is closed.
	Ended func(r *Result)
}

// tappedServers passes on what it reads.
type tappedServers struct {
	harness.Servers
	w    sim.World
	told func(now sim.Instant, gauges []harness.Gauge)
}

var _ harness.Servers = tappedServers{}

// Gauges implements harness.Servers.
func (t tappedServers) Gauges(ctx context.Context) ([]harness.Gauge, error) {
	read, err := t.Servers.Gauges(ctx)
	if err == nil {
		t.w.Lock()
		t.told(t.w.Now(), read)
		t.w.Unlock()
	}
	return read, err
}

// servers returns where the fleet reads gauges.
func (a *assembly) servers() harness.Servers {
	if told := a.o.Hooks.Gauges; told != nil && a.gauges != nil {
		return tappedServers{a.gauges, a.w, told}
	}
	return a.gauges
}
