package repro

import (
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/harness/strict"
	"example.com/wedge/repro/metrics"
)

// Trigger is something that upsets the fleet for a while: a spike of load, a drop of the servers'
// capacity, or both. It is an element of the block triggers of a scenario. Whether goodput comes back after
// the last of them has ended is what a run is measured by: see [metrics.Recovery]. The zero value is
// refused.
//
// The two kinds are those of Huang et al., "Metastable Failures in the Wild" (OSDI '22).
type Trigger struct {
	ID string `json:"id" yaml:"id"` // unique in the scenario
	// From is the instant at which it begins, To the first after it.
	From time.Duration `json:"from_ns" yaml:"from"`
	To   time.Duration `json:"to_ns" yaml:"to"`

	// Load is how many times as many tasks arrive as fleet.arrivals says, more than 1. 0: as many.
	Load float64 `json:"load,omitzero" yaml:"load,omitzero"`
	// ExtraTasks is how many tasks arrive besides, at instants drawn evenly from the time of the trigger.
	ExtraTasks int `json:"extra_tasks,omitzero" yaml:"extra_tasks,omitzero"`

	// Capacity is the share of their speed that engines have left, more than 0 and less than 1. 0: all.
	Capacity float64 `json:"capacity,omitzero" yaml:"capacity,omitzero"`
	// Where says whose: decode, or prefill. Empty: both. Worker is one of them; empty: all.
	Where  fault.Where `json:"where,omitempty" yaml:"where,omitempty"`
	Worker string      `json:"worker,omitempty" yaml:"worker,omitempty"`
}

// Bounds of a trigger.
const (
	loadMax     = 1000
	capacityMin = 0.001
)

// validate says what is wrong with a trigger by itself.
func (t *Trigger) validate() error {
	switch {
	case t.ID == "":
		return fmt.Errorf("id: found nothing, want a name such as %q", "spike")
	case badID(t.ID):
		return fmt.Errorf("id: found %q, want letters, digits, dashes and underscores", t.ID)
	case t.From < 0:
		return fmt.Errorf("from: found %v, want 0s or more", t.From)
	case t.To <= t.From:
		return fmt.Errorf("to: found %v, want more than from (%v): a trigger has an end", t.To, t.From)
	case t.Load == 0 && t.ExtraTasks == 0 && t.Capacity == 0:
		return fmt.Errorf("load: found neither it nor extra_tasks nor capacity, want what happens, such as capacity: 0.25")
	case t.Load != 0 && !(t.Load > 1 && t.Load <= loadMax):
		return fmt.Errorf("load: found %v, want how many times as many tasks arrive, more than 1 and at most %d", t.Load, loadMax)
	case t.ExtraTasks < 0 || t.ExtraTasks > harness.AgentsLimit:
		return fmt.Errorf("extra_tasks: found %d, want 0 to %d", t.ExtraTasks, harness.AgentsLimit)
	case t.Capacity != 0 && !(t.Capacity >= capacityMin && t.Capacity < 1):
		return fmt.Errorf("capacity: found %v, want the share that is left, %v or more and less than 1", t.Capacity, capacityMin)
	case t.Where != "" && t.Where != fault.Decode && t.Where != fault.Prefill:
		return fmt.Errorf("where: found %q, want %s or %s: only engines have a speed", t.Where, fault.Decode, fault.Prefill)
	case t.Capacity == 0 && (t.Where != "" || t.Worker != ""):
		return fmt.Errorf("where: found %q without a capacity, want them together", string(t.Where)+t.Worker)
	}
	return nil
}

func badID(id string) bool {
	return slices.ContainsFunc([]rune(id), func(r rune) bool { return strict.NotInName(r) || r == '.' })
}

// validateTriggers checks arrivals and triggers with what they need of the rest of the scenario.
func (s *Scenario) validateTriggers() error {
	a := &s.Fleet.Arrivals
	if a.To > s.Horizon {
		return s.bad("fleet.arrivals", fmt.Errorf("to: found %v, want at most the horizon (%v)", a.To, s.Horizon))
	}
	tasks := float64(s.Fleet.Agents)
	for i := range s.Triggers {
		t := &s.Triggers[i]
		block := fmt.Sprintf("triggers[%d]", i)
		if err := t.validate(); err != nil {
			return s.bad(block, err)
		}
		tasks += float64(t.ExtraTasks) + max(0, t.Load-1)*a.PerSecond()*(t.To-t.From).Seconds()
		switch {
		case slices.IndexFunc(s.Triggers, func(o Trigger) bool { return o.ID == t.ID }) != i:
			return s.bad(block, fmt.Errorf("id: found %q twice, want ids that differ", t.ID))
		case t.To > s.Horizon:
			return s.bad(block, fmt.Errorf("to: found %v, want at most the horizon (%v)", t.To, s.Horizon))
		case t.Load != 0 && (!a.On() || a.Process == harness.Recorded):
			return s.bad(block, fmt.Errorf("load: found %v without a rate of fleet.arrivals to multiply, want fleet.arrivals.rate_per_s, or extra_tasks in its place", t.Load))
		case t.Worker != "" && !slices.Contains(s.Servers.WorkerNames(), t.Worker):
			return s.bad(block, fmt.Errorf("worker: found %q, want one of %s", t.Worker, oneOf(s.Servers.WorkerNames())))
		case tasks > harness.AgentsLimit:
			return s.bad(block, fmt.Errorf("to: found %v, by which some %.0f tasks have arrived, want at most %d", t.To, tasks, harness.AgentsLimit))
		}
	}
	return nil
}

// spikes returns what the triggers add to the load.
func (s *Scenario) spikes() []harness.Spike {
	var spikes []harness.Spike
	for i := range s.Triggers {
		if t := &s.Triggers[i]; t.Load > 0 || t.ExtraTasks > 0 {
			spikes = append(spikes, harness.Spike{ID: t.ID, From: t.From, To: t.To, Load: t.Load, Tasks: t.ExtraTasks})
		}
	}
	return spikes
}

// allFaults returns the scenario's faults, and those that its triggers are.
func (s *Scenario) allFaults() []fault.Fault {
	all := slices.Clip(s.Faults)
	for i := range s.Triggers {
		t := &s.Triggers[i]
		for _, where := range [...]fault.Where{fault.Decode, fault.Prefill} {
			if t.Capacity > 0 && (t.Where == "" || t.Where == where) {
				all = append(all, fault.Fault{
					ID: "trigger-" + t.ID + "-" + string(where), Where: where, What: fault.Throttle, Factor: 1 / t.Capacity,
					From: t.From, To: t.To, Worker: t.Worker,
				})
			}
		}
	}
	return all
}

// TriggerWindows returns the times in which something upsets the fleet for a while: those of the triggers,
// or if there are none, those of faults that have an end.
func (s *Scenario) TriggerWindows() []metrics.Window {
	windows := []metrics.Window{}
	for i := range s.Triggers {
		windows = append(windows, metrics.Window{From: sim.Instant(s.Triggers[i].From), To: sim.Instant(s.Triggers[i].To)})
	}
	if len(windows) > 0 {
		return windows
	}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.To > 0 {
			windows = append(windows, metrics.Window{From: sim.Instant(f.From), To: sim.Instant(f.To)})
		}
	}
	return windows
}
