package metrics

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// Options say what to measure beyond what is always measured. The zero value will do: each length of 0
// stands for its default.
type Options struct {
	// Series asks for values over time and the agents' spans, for plots.
	Series bool
	// Every is the distance of their instants. 0: EveryDefault.
	Every time.Duration

	// Horizon is how long the run may last, for the mean time of tasks that did not end. 0: as long as the run lasted.
	Horizon time.Duration
	// Triggers are what is expected to upset the fleet: faults with an end, spikes of load. In any order.
	Triggers []Window

	Silent time.Duration // a silence longer than this is a stall. 0: SilentDefault
	Window time.Duration // of the peak of amplification. 0: WindowDefault
	Hold   time.Duration // for how long goodput must be back. 0: HoldDefault
}

// The defaults of Options.
const (
	EveryDefault  = 10 * time.Second
	SilentDefault = time.Minute
	WindowDefault = 5 * time.Minute
	HoldDefault   = 5 * time.Minute
)

// Window is a stretch of time. With To at [sim.Never] or 0 it has no end.
type Window struct{ From, To sim.Instant }

// Validate says what is wrong with the options in one line, field first, or returns nil.
func (o *Options) Validate() error {
	for _, d := range [...]struct {
		name  string
		value time.Duration
	}{{"every", o.Every}, {"horizon", o.Horizon}, {"silent", o.Silent}, {"window", o.Window}, {"hold", o.Hold}} {
		if d.value < 0 || d.value > 0 && d.value < time.Millisecond {
			return fmt.Errorf("%s: found %v, want 0 (the default) or at least 1ms", d.name, d.value)
		}
	}
	for i, t := range o.Triggers {
		if t.From < 0 || t.To != 0 && t.To < t.From {
			return fmt.Errorf("triggers[%d]: found %s to %s, want an end that is not before the start", i, t.From, t.To)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	for _, d := range [...]struct {
		value  *time.Duration
		preset time.Duration
	}{{&o.Every, EveryDefault}, {&o.Silent, SilentDefault}, {&o.Window, WindowDefault}, {&o.Hold, HoldDefault}} {
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	return o
}
