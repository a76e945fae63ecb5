package reprotest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
)

// Option is a choice of how a test is served. Later ones win.
type Option struct{ apply func(*options) error }

// options are what [Option] values make.
type options struct {
	scenario   *repro.Scenario // nil: healthy
	changes    []func(*repro.Scenario) error
	keepTimes  bool
	seed       *uint64 // nil: the scenario's
	stallAfter time.Duration
	idleAfter  time.Duration
	scale      float64
	loopback   bool
}

// Scenario takes a scenario of the catalogue by its name, such as "silent-stream". Without it the servers are
// well.
func Scenario(name string) Option {
	return load(func() (*repro.Scenario, error) { return repro.Lookup(name) })
}

// ScenarioFile takes the scenario from a file.
func ScenarioFile(path string) Option {
	return load(func() (*repro.Scenario, error) { return repro.ReadFile(path) })
}

// ScenarioText takes the scenario from YAML text, which needs no more than what differs from the default.
func ScenarioText(yaml string) Option {
	return load(func() (*repro.Scenario, error) { return repro.Parse("ScenarioText", []byte(yaml)) })
}

// ScenarioOf takes a scenario that the test has made. It is copied.
func ScenarioOf(s *repro.Scenario) Option {
	return load(func() (*repro.Scenario, error) {
		copied := *s
		return &copied, nil
	})
}

func load(from func() (*repro.Scenario, error)) Option {
	return Option{func(o *options) (err error) {
		o.scenario, err = from()
		return err
	}}
}

// Faults adds faults to those of the scenario.
func Faults(more ...fault.Fault) Option {
	return change(func(s *repro.Scenario) error {
		s.Faults = append(append([]fault.Fault(nil), s.Faults...), more...)
		return nil
	})
}

// Set sets a field of the scenario, as the flag --set of command wedge does: a path with dots and a value, such
// as "faults.silence.to=1m" or "servers.model.output_tokens.median=200".
func Set(assignment string) Option {
	return change(func(s *repro.Scenario) error {
		path, value, found := strings.Cut(assignment, "=")
		if !found {
			return fmt.Errorf("set: found %q, want PATH=VALUE", assignment)
		}
		return s.Set(path, value)
	})
}

func change(f func(*repro.Scenario) error) Option {
	return Option{func(o *options) error {
		o.changes = append(o.changes, f)
		return nil
	}}
}

// Seed has all draws of the servers and faults come from another seed than the scenario's. The environment
// variable WEDGE_SEED goes before both.
func Seed(seed uint64) Option {
	return Option{func(o *options) error {
		o.seed = &seed
		return nil
	}}
}

// KeepTimes leaves the faults at the instants at which the scenario has them. Otherwise all are moved so that the
// first one begins with the test.
func KeepTimes() Option {
	return Option{func(o *options) error {
		o.keepTimes = true
		return nil
	}}
}

// StallAfter is how long, on the servers' clock, no request may be answered in full while some are under way,
// or while they fail and are sent again. 0: ten minutes, the longest time without a token that well-known
// servers and clients allow. A harness whose own limits are longer needs more. While tokens come, or the diagnosis
// has it that what is awaited will come, that is only slow, and goes on for eight times as long.
func StallAfter(d time.Duration) Option {
	return Option{func(o *options) error {
		if d < 0 || d > 1000*time.Hour {
			return fmt.Errorf("stall after: found %v, want 0 (ten minutes) to 1000h", d)
		}
		o.stallAfter = d
		return nil
	}}
}

// IdleAfter is how long, on the servers' clock, the harness may have no request under way before the test
// fails: it waits for something of its own. 0: 24 hours; negative: for ever, which outside of a bubble may be
// right.
func IdleAfter(d time.Duration) Option {
	return Option{func(o *options) error {
		o.idleAfter = d
		return nil
	}}
}

// Scale has the servers' clock go faster than the machine's: at 60 a second is a minute. It is for tests
// outside of a bubble, where it takes no less time to wait than it does.
func Scale(scale float64) Option {
	return Option{func(o *options) error {
		o.scale = scale
		return repro.ValidScale(scale)
	}}
}

// Loopback serves over TCP on loopback instead of in memory, for code that insists on a socket, such as a child
// process. It is for tests outside of a bubble only: in one, time does not go on while somebody waits for a socket.
func Loopback() Option {
	return Option{func(o *options) error {
		o.loopback = true
		return nil
	}}
}

// seedVariable is the environment variable that sets the seed.
const seedVariable = "WEDGE_SEED"

// choose puts the options together.
func choose(given []Option) (*options, error) {
	o := &options{scale: 1}
	for _, g := range given {
		if g.apply == nil {
			continue // the zero value chooses nothing
		}
		if err := g.apply(o); err != nil {
			return nil, err
		}
	}
	if o.stallAfter == 0 {
		o.stallAfter = 10 * time.Minute
	}
	if o.idleAfter == 0 {
		o.idleAfter = 24 * time.Hour
	}
	if o.scenario == nil {
		s, err := repro.Lookup("healthy")
		if err != nil {
			return nil, err
		}
		o.scenario = s
	}
	for _, f := range o.changes {
		if err := f(o.scenario); err != nil {
			return nil, err
		}
	}
	if o.seed != nil {
		o.scenario.Seed = *o.seed
	}
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: found %q, want a whole number", seedVariable, text)
		}
		o.scenario.Seed = seed
	}
	if !o.keepTimes {
		fromStart(o.scenario)
	}
	return o, o.scenario.Validate()
}

// fromStart moves faults and triggers so that the first one begins at once.
func fromStart(s *repro.Scenario) {
	first := time.Duration(-1)
	for i := range s.Faults {
		if from := s.Faults[i].From; first < 0 || from < first {
			first = from
		}
	}
	for i := range s.Triggers {
		if from := s.Triggers[i].From; first < 0 || from < first {
			first = from
		}
	}
	if first <= 0 {
		return
	}
	s.Faults = append([]fault.Fault(nil), s.Faults...)
	for i := range s.Faults {
		earlier(&s.Faults[i].From, &s.Faults[i].To, first)
	}
	s.Triggers = append([]repro.Trigger(nil), s.Triggers...)
	for i := range s.Triggers {
		earlier(&s.Triggers[i].From, &s.Triggers[i].To, first)
	}
}

// earlier moves a stretch of time; an end of 0 is none.
func earlier(from, to *time.Duration, by time.Duration) {
	*from -= by
	if *to > 0 {
		*to -= by
	}
}
