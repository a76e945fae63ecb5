package repro

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// RandomFault is a fault that comes and goes at times drawn from the seed: an element of soak.random_faults. The
// zero value is refused.
type RandomFault struct {
	// Fault is what happens each time. Its from and to are drawn, its id may be left out: random-1 and so on. The
	// faults that are drawn have the id with a number: silence-001.
	Fault fault.Fault `json:"fault" yaml:"fault"`
	// Every is the mean time from one beginning to the next, Lasts the mean time from there to its end. One that
	// would begin before the last has ended begins at its end.
	Every time.Duration `json:"every_ns" yaml:"every"`
	Lasts time.Duration `json:"lasts_ns" yaml:"lasts"`
	// Jitter says how the lengths are drawn. "": Exponential.
	Jitter Jitter `json:"jitter,omitempty" yaml:"jitter,omitempty"`
}

// Jitter is how lengths of time vary around their mean.
type Jitter string

// The kinds of jitter.
const (
	Exponential Jitter = "exponential" // memoryless: as likely now as later
	NoJitter    Jitter = "none"        // all are the same
)

// drawnMax bounds how many faults are drawn in all: each is looked at whenever one of its kind could fire.
const drawnMax = 2000

// drawnID is the id of the n-th fault, counted from 1, that the i-th element draws.
func (r *RandomFault) drawnID(i, n int) string { return fmt.Sprintf("%s-%03d", r.id(i), n) }

// Name is what the i-th element, counted from 0, is called: the id of its fault, or one made up.
func (r *RandomFault) Name(i int) string { return r.id(i) }

// Drew says whether a fault was drawn by the i-th element.
func (r *RandomFault) Drew(i int, f *fault.Fault) bool {
	number, ok := strings.CutPrefix(f.ID, r.id(i)+"-")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func (r *RandomFault) id(i int) string {
	if r.Fault.ID != "" {
		return r.Fault.ID
	}
	return fmt.Sprintf("random-%d", i+1)
}

// validateRandomFaults checks each element as the fault that it draws.
func (s *Scenario) validateRandomFaults() error {
	lasts := s.Soak.Lasts(s.Horizon)
	drawn := 0.0
	for i := range s.Soak.RandomFaults {
		r := &s.Soak.RandomFaults[i]
		block := fmt.Sprintf("soak.random_faults[%d]", i)
		if err := r.validateTimes(lasts); err != nil {
			return s.bad(block, err)
		}
		f := r.Fault
		f.ID = r.id(i)
		if err := f.Validate(); err != nil {
			return s.bad(block+".fault", err)
		}
		if err := s.canHappen(&f); err != nil {
			return s.bad(block+".fault", err)
		}
		same := func(o RandomFault) bool { return o.Fault.ID != "" && o.Fault.ID == r.Fault.ID }
		if first := slices.IndexFunc(s.Soak.RandomFaults, same); first >= 0 && first != i {
			return s.bad(block+".fault", fmt.Errorf("id: found %q twice, want ids that differ", r.Fault.ID))
		}
		taken := func(o fault.Fault) bool { return r.Drew(i, &o) }
		if n := slices.IndexFunc(s.Faults, taken); n >= 0 {
			return s.bad(block+".fault", fmt.Errorf("id: found %q, whose faults are called as faults[%d] is (%s), want another", f.ID, n, s.Faults[n].ID))
		}
		if drawn += float64(lasts) / float64(r.Every); drawn > drawnMax {
			return s.bad(block, fmt.Errorf("every: found %v, by which some %.0f faults are drawn in %v, want at most %d in all", r.Every, drawn, lasts, drawnMax))
		}
	}
	return nil
}

func (r *RandomFault) validateTimes(lasts time.Duration) error {
	switch {
	case r.Every <= 0 || r.Every > soakMax:
		return fmt.Errorf("every: found %v, want the mean time from one to the next, more than 0s and at most %v", r.Every, soakMax)
	case r.Lasts <= 0 || r.Lasts > soakMax:
		return fmt.Errorf("lasts: found %v, want the mean time that it lasts, more than 0s and at most %v", r.Lasts, soakMax)
	case r.Jitter != "" && r.Jitter != Exponential && r.Jitter != NoJitter:
		return fmt.Errorf("jitter: found %q, want %s or %s", r.Jitter, Exponential, NoJitter)
	case r.Fault.From != 0 || r.Fault.To != 0:
		return errors.New("fault.from: found it or to, want neither: they are drawn (a fault with times of its own stands in faults)")
	case r.Jitter == NoJitter && r.Every >= lasts:
		return fmt.Errorf("every: found %v without jitter in a soak of %v, want less: there would be none", r.Every, lasts)
	}
	return nil
}

// DrawnFaults returns the faults that the elements draw from the seed, those of each in the order of their times.
// They depend on the seed, the element's id and its times alone: dropping one changes nothing for the others.
func (s *Scenario) DrawnFaults() []fault.Fault {
	lasts := s.Soak.Lasts(s.Horizon)
	var all []fault.Fault
	for i := range s.Soak.RandomFaults {
		all = append(all, s.Soak.RandomFaults[i].draw(i, s.Seed, lasts)...)
	}
	return all
}

func (r *RandomFault) draw(i int, seed uint64, lasts time.Duration) []fault.Fault {
	var drawn []fault.Fault
	stream := sim.NewStream(seed, "soak/fault", r.id(i))
	var from, to time.Duration
	for len(drawn) < drawnMax {
		from = max(from+r.length(&stream, r.Every), to)
		to = from + r.length(&stream, r.Lasts)
		if from >= lasts {
			break
		}
		f := r.Fault
		f.ID, f.From, f.To = r.drawnID(i, len(drawn)+1), from, to
		drawn = append(drawn, f)
	}
	return drawn
}

// length draws a length of time, in whole milliseconds, at least one.
func (r *RandomFault) length(stream *sim.Stream, mean time.Duration) time.Duration {
	d := mean
	if r.Jitter != NoJitter {
		d = time.Duration(-math.Log1p(-stream.Float64()) * float64(mean))
	}
	return max(d.Round(time.Millisecond), time.Millisecond)
}
