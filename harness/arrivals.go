package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// Process says how the instants of arrivals come about.
type Process string

// The processes. The zero value is Poisson.
const (
	Poisson  Process = "poisson"  // gaps are exponential
	Constant Process = "constant" // gaps are all the same
	Recorded Process = "trace"    // as the trace of the workflow has them
)

// Arrivals is an open loop: tasks arrive whether or not earlier ones have ended, besides those that are
// there from the start. It is the block fleet.arrivals of a scenario. The zero value is off.
type Arrivals struct {
	Process Process `json:"process,omitempty" yaml:"process,omitempty"`
	// RatePerS is how many tasks arrive in a second, Every the mean gap between two: one of them, and
	// none for a trace.
	RatePerS float64       `json:"rate_per_s,omitzero" yaml:"rate_per_s,omitzero"`
	Every    time.Duration `json:"every_ns,omitzero" yaml:"every,omitzero"`
	// Tasks is how many arrive at most. 0: as many as come before To, or as the trace has.
	Tasks int `json:"tasks,omitzero" yaml:"tasks,omitzero"`
	// From is the instant from which on they arrive, To the first after. To 0: until there have been Tasks.
	From time.Duration `json:"from_ns,omitzero" yaml:"from,omitzero"`
	To   time.Duration `json:"to_ns,omitzero" yaml:"to,omitzero"`
}

// On says whether any tasks arrive.
func (a *Arrivals) On() bool { return *a != Arrivals{} }

// PerSecond returns how many tasks arrive in a second; 0 for a trace.
func (a *Arrivals) PerSecond() float64 {
	if a.Every > 0 {
		return 1 / a.Every.Seconds()
	}
	return a.RatePerS
}

// Bounds of a rate, in tasks a second.
const (
	rateMin = 1e-6
	rateMax = 1e6
)

func (a *Arrivals) validate() error {
	if !a.On() {
		return nil
	}
	if err := a.validateWhen(); err != nil {
		return err
	}
	switch a.Process {
	case "", Poisson, Constant:
	case Recorded:
		if a.RatePerS != 0 || a.Every != 0 {
			return errors.New("process: found trace beside rate_per_s or every, want one of them: the trace says when")
		}
		return nil
	default:
		return fmt.Errorf("process: found %q, want %s, %s or %s", a.Process, Poisson, Constant, Recorded)
	}
	switch {
	case a.RatePerS != 0 && a.Every != 0:
		return fmt.Errorf("every: found %v beside rate_per_s %v, want one of them", a.Every, a.RatePerS)
	case a.RatePerS == 0 && a.Every == 0:
		return errors.New("rate_per_s: found neither it nor every, want how often tasks arrive, such as every: 10s")
	case a.Every == 0 && !(a.RatePerS >= rateMin && a.RatePerS <= rateMax):
		return fmt.Errorf("rate_per_s: found %v, want %v to %.0f", a.RatePerS, rateMin, rateMax)
	case a.Tasks == 0 && a.To == 0:
		return errors.New("tasks: found 0 while to is 0s, want one of them: nothing would end the arrivals")
	}
	if n := a.PerSecond() * (a.To - a.From).Seconds(); a.Tasks == 0 && n > AgentsLimit/2 {
		return fmt.Errorf("to: found %v, by which some %.0f tasks arrive, want at most %d", a.To, n, AgentsLimit/2)
	}
	return nil
}

func (a *Arrivals) validateWhen() error {
	if err := checkLength("every", a.Every, 0); err != nil {
		return err
	}
	if err := checkLength("from", a.From, 0); err != nil {
		return err
	}
	if err := checkLength("to", a.To, 0); err != nil {
		return err
	}
	switch {
	case a.Every > 0 && a.Every < time.Microsecond:
		return fmt.Errorf("every: found %v, want at least %v", a.Every, time.Microsecond)
	case a.Tasks < 0 || a.Tasks > AgentsLimit:
		return fmt.Errorf("tasks: found %d, want 0 (until to) to %d", a.Tasks, AgentsLimit)
	case a.To != 0 && a.To <= a.From:
		return fmt.Errorf("to: found %v, want more than from (%v)", a.To, a.From)
	}
	return nil
}

// Spike is a stretch of time in which more tasks arrive than otherwise.
type Spike struct {
	ID       string // of its draws
	From, To time.Duration
	Load     float64 // times as many arrive as Arrivals says, more than 1; 0: as many
	Tasks    int     // that arrive besides, at instants spread evenly at random over it
}

// Arrival is a task and the instant at which it is there.
type Arrival struct {
	At    sim.Instant
	Index int // of the task, from Config.Agents on
}

// Schedule returns who arrives when, in the order of arrival. It is a function of its arguments alone:
// whatever becomes of the tasks, the next ones come at the same instants. What a spike adds does not
// move the others, nor change their numbers. recorded are the instants that a trace has, in order.
func (c *Config) Schedule(seed uint64, spikes []Spike, recorded []time.Duration) []Arrival {
	var all []Arrival
	add := func(at []time.Duration) {
		for _, t := range at {
			if len(all)+c.Agents < AgentsLimit {
				all = append(all, Arrival{At: sim.Instant(t), Index: c.Agents + len(all)})
			}
		}
	}
	a := &c.Arrivals
	if a.On() {
		add(a.base(seed, recorded))
	}
	for i := range spikes {
		add(a.more(seed, &spikes[i]))
	}
	slices.SortStableFunc(all, func(x, y Arrival) int { return cmp.Compare(x.At, y.At) })
	return all
}

// base returns when tasks arrive without spikes.
func (a *Arrivals) base(seed uint64, recorded []time.Duration) []time.Duration {
	if a.Process != Recorded {
		return a.gaps(sim.NewStream(seed, "fleet", "arrivals"), a.PerSecond(), a.From, a.To, a.Tasks)
	}
	var at []time.Duration
	for _, t := range recorded {
		if t += a.From; (a.To == 0 || t < a.To) && (a.Tasks == 0 || len(at) < a.Tasks) {
			at = append(at, t)
		}
	}
	return at
}

// more returns when those arrive whom a spike adds.
func (a *Arrivals) more(seed uint64, s *Spike) []time.Duration {
	var at []time.Duration
	if s.Load > 1 {
		at = a.gaps(sim.NewStream(seed, "fleet/spike", s.ID), a.PerSecond()*(s.Load-1), s.From, s.To, 0)
	}
	draw := sim.NewStream(seed, "fleet/spike/tasks", s.ID)
	for range s.Tasks {
		at = append(at, s.From+time.Duration(draw.Float64()*float64(s.To-s.From)))
	}
	slices.Sort(at)
	return at
}

// gaps draws instants at a rate: before to, if that is not 0, and at most so many, if that is not 0.
func (a *Arrivals) gaps(draw sim.Stream, rate float64, from, to time.Duration, most int) []time.Duration {
	var at []time.Duration
	if rate <= 0 {
		return at
	}
	due := 0.0 // seconds from the start
	for n := 0; (most == 0 || n < most) && n < AgentsLimit; n++ {
		if a.Process == Constant {
			due = float64(n) / rate
		} else {
			due -= math.Log1p(-draw.Float64()) / rate
		}
		t := from + time.Duration(min(due, lengthMax.Seconds()*10)*float64(time.Second))
		if to != 0 && t >= to {
			break
		}
		at = append(at, t)
	}
	return at
}

// admit is the process that brings in the tasks that arrive. A task that finds all workers busy waits
// for one, as those of the start do.
func (f *Fleet) admit(ctx context.Context) {
	for i := range f.o.Arrivals {
		one := &f.o.Arrivals[i]
		if f.w.Sleep(ctx, one.At.Sub(f.w.Now())) != nil {
			return
		}
		f.w.Lock()
		f.due--
		if f.o.Arrived != nil {
			f.o.Arrived(f.nameOf("agent", one.Index))
		}
		f.tasks.PutLocked(one.Index)
		hires := f.why == Running && f.working < f.workersMax()
		if hires {
			f.working++
		}
		f.w.Unlock()
		if hires {
			f.hire(false)
		}
	}
}

// workersMax returns how many agents may work at once, those included that have not arrived.
func (f *Fleet) workersMax() int {
	if n := f.o.Fleet.Workers; n > 0 {
		return n
	}
	return f.total()
}

// total returns how many tasks there will have been.
func (f *Fleet) total() int { return f.o.Fleet.Agents + len(f.o.Arrivals) }
