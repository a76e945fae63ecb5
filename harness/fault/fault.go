package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
)

// Where is the place of a fault.
type Where string

// The places.
const (
	Connection Where = "connection"
	Router     Where = "router"
	Prefill    Where = "prefill"
	Inflight   Where = "inflight"
	Transfer   Where = "transfer"
	Decode     Where = "decode"
	Stream     Where = "stream"
	Tool       Where = "tool"
	Pacer      Where = "pacer"
)

// What is the kind of a fault.
type What string

// The kinds.
const (
	Latency    What = "latency"      // takes Delay longer
	Hang       What = "hang"         // never goes on
	Drop       What = "drop"         // is forgotten: nobody answers
	Reset      What = "reset"        // the connection is reset
	Status     What = "status"       // is answered with StatusCode
	PinOnAbort What = "pin_on_abort" // an abort here never releases the entry (or after ReleaseAfter)
	Silence    What = "silence"      // after AfterTokens nothing more arrives; the servers have finished
	Reasoning  What = "reasoning"    // the first Delay of generation shows no event to the client
	LeakSlot   What = "leak_slot"    // a failed attempt's slot is never given back
	LockOrder  What = "lock_order"   // takes its two locks in the wrong order
)

// allowed lists the kinds that make sense at each place. It grows with the model.
var allowed = []struct {
	where Where
	what  []What
}{
	{Connection, []What{Latency, Reset}},
	{Router, []What{Status, Latency, Drop}},
	{Prefill, []What{Latency, Hang}},
	{Inflight, []What{PinOnAbort, Hang}},
	{Transfer, []What{Latency, Hang}},
	{Decode, []What{Hang}},
	{Stream, []What{Silence, Reset, Reasoning}},
	{Tool, []What{Latency, Hang, LockOrder}},
	{Pacer, []What{LeakSlot}},
}

// Fault is one thing that goes wrong. The zero value is not valid: it has no place.
type Fault struct {
	ID    string `json:"id" yaml:"id"`       // unique in the scenario, so that it can be named and dropped
	Where Where  `json:"where" yaml:"where"` // the place
	What  What   `json:"what" yaml:"what"`   // the kind

	// When it applies. All that are set must hold.
	Probability float64       `json:"probability,omitempty" yaml:"probability,omitempty"` // of each occasion, in (0, 1]; 0 means 1
	From        time.Duration `json:"from_ns,omitempty" yaml:"from,omitempty"`            // earliest instant of the run
	To          time.Duration `json:"to_ns,omitempty" yaml:"to,omitempty"`                // first instant after; 0: no end
	Nth         int           `json:"nth,omitempty" yaml:"nth,omitempty"`                 // only each n-th occasion at this place; 0: each one
	Round       int           `json:"round,omitempty" yaml:"round,omitempty"`             // only from this round on; 0: any
	ContextOver int           `json:"context_over_tokens,omitempty" yaml:"context_over_tokens,omitempty"`
	Tool        string        `json:"tool,omitempty" yaml:"tool,omitempty"` // only this tool; empty: any

	// What it does.
	Delay        time.Duration `json:"delay_ns,omitempty" yaml:"delay,omitempty"`                 // of latency and reasoning
	AfterTokens  int           `json:"after_tokens,omitempty" yaml:"after_tokens,omitempty"`      // of silence and reset in a stream
	StatusCode   int           `json:"status,omitempty" yaml:"status,omitempty"`                  // of status: an HTTP status from 400 to 599
	RetryAfter   string        `json:"retry_after,omitempty" yaml:"retry_after,omitempty"`        // header of status; empty: absent
	ReleaseAfter time.Duration `json:"release_after_ns,omitempty" yaml:"release_after,omitempty"` // of pin_on_abort; 0: never
}

// lengthMax bounds what a fault adds to other lengths of time, so that no sum of them overflows.
const lengthMax = 10_000 * time.Hour

// Validate says what is wrong with the fault, in one line, or returns nil.
func (f *Fault) Validate() error {
	if f.ID == "" {
		return fmt.Errorf("id: missing, want a name such as %q", "silent-1")
	}
	if strings.ContainsFunc(f.ID, notInID) {
		return fmt.Errorf("id: %q, want a name such as %q, of letters, digits, dashes and underscores", f.ID, "silent-1")
	}
	if err := validPlace(f.Where, f.What); err != nil {
		return err
	}
	switch {
	case !(f.Probability >= 0 && f.Probability <= 1):
		return fmt.Errorf("probability: %v, want a number from 0 to 1", f.Probability)
	case f.From < 0 || f.To < 0 || f.To != 0 && f.To <= f.From:
		return fmt.Errorf("from, to: %v to %v, want 0 <= from < to", f.From, f.To)
	case f.Delay < 0 || f.Delay > lengthMax:
		return fmt.Errorf("delay: %v, want 0s to %v", f.Delay, lengthMax)
	case f.ReleaseAfter < 0 || f.ReleaseAfter > lengthMax:
		return fmt.Errorf("release_after: %v, want 0s to %v", f.ReleaseAfter, lengthMax)
	case f.What == Status && (f.StatusCode < 400 || f.StatusCode > 599):
		return fmt.Errorf("status: %d, want an HTTP status from 400 to 599", f.StatusCode)
	case (f.What == Latency || f.What == Reasoning) && f.Delay == 0:
		return fmt.Errorf("delay: missing, want how long the %s is", f.What)
	case f.Tool != "" && f.Where != Tool:
		return fmt.Errorf("tool: %q at %s, want it only where: tool", f.Tool, f.Where)
	}
	for _, c := range []struct {
		field string
		n     int
	}{{"nth", f.Nth}, {"round", f.Round}, {"context_over_tokens", f.ContextOver}, {"after_tokens", f.AfterTokens}} {
		if c.n < 0 {
			return fmt.Errorf("%s: %d, want 0 or more", c.field, c.n)
		}
	}
	if field := f.unused(); field != "" {
		return fmt.Errorf("%s: set, but %s at %s has no use for it", field, f.What, f.Where)
	}
	return nil
}

// unused names a setting that this kind of fault does not look at: whoever set it meant something else.
func (f *Fault) unused() string {
	switch {
	case f.Delay != 0 && f.What != Latency && f.What != Reasoning:
		return "delay"
	case f.AfterTokens != 0 && (f.Where != Stream || f.What == Reasoning):
		return "after_tokens"
	case f.StatusCode != 0 && f.What != Status:
		return "status"
	case f.RetryAfter != "" && f.What != Status:
		return "retry_after"
	case f.ReleaseAfter != 0 && f.What != PinOnAbort:
		return "release_after"
	}
	return ""
}

func notInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

func validPlace(where Where, what What) error {
	var places []string
	for _, a := range allowed {
		if a.where != where {
			places = append(places, string(a.where))
			continue
		}
		if slices.Contains(a.what, what) {
			return nil
		}
		return fmt.Errorf("what: %q at %s, want one of %s", what, where, strings.Trim(strings.ReplaceAll(fmt.Sprint(a.what), " ", ", "), "[]"))
	}
	return fmt.Errorf("where: %q, want one of %s", where, strings.Join(places, ", "))
}

// Occasion is a moment at which a fault may fire.
type Occasion struct {
	Key           string // names it for the draw: the attempt's id, or agent, round, step and tool
	At            sim.Instant
	Round         int
	ContextTokens int
	Tool          string
}

// Set holds a run's faults. The zero value has none. It must be used with the monitor held, since it
// counts occasions.
type Set struct {
	faults []armed
}

type armed struct {
	Fault
	w    sim.World
	seen int
}

// NewSet returns the set of the given faults, which must be valid and have distinct ids.
func NewSet(w sim.World, faults []Fault) (*Set, error) {
	s := &Set{}
	for i, f := range faults {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("faults[%d].%w", i, err)
		}
		for _, other := range s.faults {
			if other.ID == f.ID {
				return nil, fmt.Errorf("faults[%d].id: %q is used twice", i, f.ID)
			}
		}
		s.faults = append(s.faults, armed{Fault: f, w: w})
	}
	return s, nil
}

// Has says whether any fault has this place and kind, whenever it fires.
func (s *Set) Has(where Where, what What) bool {
	return s != nil && slices.ContainsFunc(s.faults, func(f armed) bool { return f.Where == where && f.What == what })
}

// Fires returns the first fault of this place and kind that fires on the occasion, or nil. The others
// have seen the occasion too, so that dropping one fault changes nothing for the next.
func (s *Set) Fires(where Where, what What, o Occasion) (first *Fault) {
	if s == nil {
		return nil
	}
	for i := range s.faults {
		f := &s.faults[i]
		if f.Where == where && f.What == what && f.fires(o) && first == nil {
			first = &f.Fault
		}
	}
	return first
}

func (f *armed) fires(o Occasion) bool {
	if f.Tool != "" && f.Tool != o.Tool {
		return false
	}
	f.seen++
	switch {
	case o.At < sim.Instant(f.From) || f.To != 0 && o.At >= sim.Instant(f.To):
		return false
	case f.Nth > 1 && f.seen%f.Nth != 0:
		return false
	case o.Round < f.Round:
		return false
	case f.ContextOver > 0 && o.ContextTokens <= f.ContextOver:
		return false
	case f.Probability > 0 && f.Probability < 1:
		s := f.w.Stream("fault/"+f.ID, o.Key)
		return s.Float64() < f.Probability
	}
	return true
}
