package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
	"example.com/wedge/repro/series"
)

// Options say how a soak is run. They change nothing of what happens in it.
type Options struct {
	// Run has the clock, the scale, the server, the bundle's directory, and who watches. Its Demand, TasksMax, Horizon,
	// Ticks, Tap, Faults, Hooks and Bundle are the soak's own.
	Run repro.Options
	// Warn is told in one line what has gone wrong while the soak goes on, such as files that cannot be written: once,
	// from any goroutine. nil: nobody is.
	Warn func(line string)
	// Started is called when the soak begins, with what shows how it goes. nil: nobody looks.
	Started func(m *Monitor)

	resumed *resumed // what there was before; nil: a new one
}

// Result is what a soak gave.
type Result struct {
	Document Document
	Windows  []series.Window  // in order; of a long one neighbours have been merged. Those of before a resumption included
	Process  []series.Process // readings, one a window; of a long one fewer
	Run      *repro.Result    // of the run, or of the part since it was resumed

	// WriteErr is why the files are incomplete; nil if they are complete, or if there are none.
	WriteErr error
}

// errFilesFailed is the cause with which a run is cancelled that was to stop when its files fail.
var errFilesFailed = errors.New("soak: the files could not be written")

// Run soaks a scenario, and returns what became of it. It writes the bundle of the run, in which logs are rotated,
// with soak.json, windows.jsonl and process.jsonl. If ctx is cancelled, the soak ends at once with everything
// complete so far, and [Resume] can go on with it. The errors are those of [repro.Run].
func Run(ctx context.Context, s *repro.Scenario, o Options) (*Result, error) {
	if o.Run.Clock == "" {
		o.Run.Clock = repro.ClockVirtual
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s, err := s.Soaking()
	if err != nil {
		return nil, err
	}
	k, err := newKeeper(s, o)
	if err != nil {
		return nil, err
	}
	// The run hears of an interrupt once soak.json says that it was one: what the run writes then is not what a replay
	// writes, and if wedge is killed in the midst of it, that has to be known.
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		k.interrupt()
		stop(context.Cause(ctx))
	})()
	k.stop = stop
	defer k.stopFlushing()
	r, err := repro.Run(inner, s, k.options())
	if err != nil {
		return nil, err
	}
	k.result.Run, k.result.WriteErr = r, r.WriteErr
	if err := k.failure; err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return k.result, nil
}

// options returns how the run is run.
func (k *keeper) options() repro.Options {
	o, c := k.o.Run, &k.s.Soak
	load := c.Load
	o.Demand, o.TasksMax, o.Horizon = &load, c.Tasks, k.lasts
	o.Faults = k.s.DrawnFaults()
	o.Ticks = []harness.Tick{{Every: c.Window, Do: k.tick}}
	o.Tap = k.tap
	o.Hooks = repro.Hooks{Opened: k.opened, Gauges: k.gauges, Arrived: k.arrived, Judged: k.judged, Ended: k.ended}
	o.Bundle = bundle.Options{
		Rotate: bundle.Rotation{BytesMax: int64(c.LogBytesMax), FilesMax: c.LogFilesMax},
		GoOn:   true, // also if the run is to stop then: what there is to say at its end may find room
	}
	if k.o.resumed != nil {
		k.o.resumed.into(&o, &k.history.totals)
	}
	return o
}

// realSince is how long ago an instant of the machine's clock was, in seconds to the millisecond.
func realSince(t time.Time) float64 { return time.Since(t).Round(time.Millisecond).Seconds() }
