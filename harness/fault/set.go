package fault

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
)

// Occasion is a moment at which a fault may fire. What is not known stays zero: a fault that asks for
// it does not fire then.
type Occasion struct {
	Key           string // names it for the draw: the attempt's id, or agent, round, step and tool
	At            sim.Instant
	Round         int
	ContextTokens int
	Agent         string
	Tool          string
	Worker        string                       // the engine's name
	Concurrency   int                          // requests that the router has
	Aborts        int                          // clients that have left early so far
	Header        func(name string) (v string) // of the HTTP request; nil: none. It returns "" for one that is absent
}

// Set holds a run's faults. The zero value has none. It must be used with the monitor held, since it
// counts occasions, and faults may come and go during the run.
type Set struct {
	w       sim.World
	faults  []*armed
	changed []func()
}

type armed struct {
	Fault
	seen  int // occasions
	fired int
}

// NewSet returns the set of the given faults, which must be valid and have distinct ids.
func NewSet(w sim.World, faults []Fault) (*Set, error) {
	s := &Set{w: w}
	for i, f := range faults {
		if err := s.add(f); err != nil {
			return nil, fmt.Errorf("faults[%d].%w", i, err)
		}
	}
	return s, nil
}

func (s *Set) add(f Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if s.find(f.ID) >= 0 {
		return fmt.Errorf("id: %q is used twice", f.ID)
	}
	s.faults = append(s.faults, &armed{Fault: f})
	return nil
}

func (s *Set) find(id string) int {
	return slices.IndexFunc(s.faults, func(f *armed) bool { return f.ID == id })
}

// Put switches a fault on, in the place of one with the same id if there is one. Its occasions are
// counted from now on. The error is that of [Fault.Validate].
func (s *Set) Put(f Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if i := s.find(f.ID); i >= 0 {
		s.faults[i] = &armed{Fault: f}
	} else {
		s.faults = append(s.faults, &armed{Fault: f})
	}
	s.tell()
	return nil
}

// Remove switches a fault off, and says whether there was one with this id. What it has done to
// requests so far stays done.
func (s *Set) Remove(id string) bool {
	i := s.find(id)
	if i < 0 {
		return false
	}
	s.faults = slices.Delete(s.faults, i, i+1)
	s.tell()
	return true
}

// OnChange has f called after each Put and Remove, with the monitor held.
func (s *Set) OnChange(f func()) { s.changed = append(s.changed, f) }

func (s *Set) tell() {
	for _, f := range s.changed {
		f()
	}
}

// State is a fault that is switched on, and how often it has fired.
type State struct {
	Fault
	Occasions int `json:"occasions"` // seen since it was switched on
	Fired     int `json:"fired"`
}

// States returns the faults that are switched on, in the order they came.
func (s *Set) States() []State {
	all := []State{}
	if s == nil {
		return all
	}
	for _, f := range s.faults {
		all = append(all, State{f.Fault, f.seen, f.fired})
	}
	return all
}

// Has says whether any fault has this place and kind, whenever it fires.
func (s *Set) Has(where Where, what What) bool {
	return s != nil && slices.ContainsFunc(s.faults, func(f *armed) bool { return f.Where == where && f.What == what })
}

// At says whether any fault has this place, whatever its kind and whenever it fires.
func (s *Set) At(where Where) bool {
	return s != nil && slices.ContainsFunc(s.faults, func(f *armed) bool { return f.Where == where })
}

// Fires returns the first fault of this place and kind that fires on the occasion, or nil. The others
// have seen the occasion too, so that dropping one fault changes nothing for the next.
func (s *Set) Fires(where Where, what What, o Occasion) (first *Fault) {
	if s == nil {
		return nil
	}
	for _, f := range s.faults {
		if f.Where == where && f.What == what && f.fires(s.w, &o) && first == nil {
			first = &f.Fault
		}
	}
	return first
}

// Active returns the first fault of an engine as a whole (serialize, starve_kv, throttle, freeze) that is in
// force at a worker at an instant, or nil.
func (s *Set) Active(where Where, what What, worker string, at sim.Instant) *Fault {
	if s == nil {
		return nil
	}
	for _, f := range s.faults {
		if f.Where == where && f.What == what && f.inTime(at) && (f.Worker == "" || f.Worker == worker) {
			return &f.Fault
		}
	}
	return nil
}

// NextBoundary returns the next instant after the given one at which a fault of an engine as a whole
// begins or ends, or sim.Never.
func (s *Set) NextBoundary(after sim.Instant) sim.Instant {
	next := sim.Never
	if s == nil {
		return next
	}
	for _, f := range s.faults {
		if !slices.Contains(whole, f.What) {
			continue
		}
		for _, d := range [...]time.Duration{f.From, f.To} {
			if at := sim.Instant(d); at > after && at < next {
				next = at
			}
		}
	}
	return next
}

func (f *armed) inTime(at sim.Instant) bool {
	return at >= sim.Instant(f.From) && (f.To == 0 || at < sim.Instant(f.To))
}

func (f *armed) fires(w sim.World, o *Occasion) bool {
	if f.Tool != "" && f.Tool != o.Tool || f.Agent != "" && !f.isAgent(o.Agent) ||
		f.Worker != "" && f.Worker != o.Worker || f.Header != "" && !f.hasHeader(o) {
		return false
	}
	f.seen++
	if !f.applies(w, o) {
		return false
	}
	f.fired++
	return true
}

// isAgent says whether the fault is about an agent of that name.
func (f *armed) isAgent(name string) bool {
	ok, err := path.Match(f.Agent, name)
	return ok && err == nil || name == f.Agent
}

func (f *armed) applies(w sim.World, o *Occasion) bool {
	switch {
	case !f.inTime(o.At):
		return false
	case f.Nth > 1 && f.seen%f.Nth != 0, f.Only > 0 && f.seen != f.Only, f.Times > 0 && f.fired >= f.Times:
		return false
	case o.Round < f.Round, f.ContextOver > 0 && o.ContextTokens <= f.ContextOver:
		return false
	case f.ConcurrencyOver > 0 && o.Concurrency <= f.ConcurrencyOver, f.AfterAbort && o.Aborts == 0:
		return false
	case f.Probability > 0 && f.Probability < 1:
		draws := w.Stream("fault/"+f.ID, o.Key)
		return draws.Float64() < f.Probability
	}
	return true
}

func (f *armed) hasHeader(o *Occasion) bool {
	if o.Header == nil {
		return false
	}
	name, want, exact := strings.Cut(f.Header, ":")
	got := o.Header(strings.TrimSpace(name))
	return got != "" && (!exact || got == strings.TrimSpace(want))
}
