package repro

import (
	"fmt"
	"io"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/metrics"
)

// Clock says which world a run takes place in.
type Clock string

// The clocks.
const (
	ClockVirtual Clock = "virtual" // time jumps from event to event
	ClockWall    Clock = "wall"    // the machine's clock, sped up by a scale
)

// Options say how a scenario is run. They change nothing of what happens in it. The zero value is a
// run in virtual time that leaves nothing on disk.
type Options struct {
	Clock Clock   // "" means virtual
	Scale float64 // of the wall clock; 0 means 1
	// Server is a real server to run the fleet against, on the wall. nil: the simulated servers.
	Server *Server

	// Out is the directory of the evidence bundle; "" writes none.
	Out string
	// Replace allows the bundle of an earlier run at Out to be replaced.
	Replace bool
	// Dumps takes goroutine dumps with each capture. They show the whole process.
	Dumps bool

	Version string // of wedge, for run.json
	Replay  string // the command that repeats the run, for verdicts

	// Measure asks for figures of the run, which become [Result.Measured]. nil: none are wanted. Triggers and
	// horizon are the scenario's, unless they are given. Only runs in virtual time can be measured: it is
	// the simulated servers that know half of it.
	Measure *metrics.Options
	// Oracle ends attempts that the simulated servers know to be dead, within a second, as if their connections had
	// broken: the bound of what time limits can achieve, to be compared with policies as "oracle". The policy
	// should have no limits then, and retry_network. Only in virtual time.
	Oracle bool
	// NoVerdict leaves out what explains a run and is not needed to compare it with others: journal, gauges,
	// captures and diagnosis. What happens in the run is the same; Verdict, Episodes and End of the result are empty,
	// TraceHash is another one, and Watch sees only the start. It goes without a bundle.
	NoVerdict bool

	// Demand has the fleet work on tasks without end, as [harness.Options] has it: Scenario.Fleet says how many agents
	// a closed loop has where the demand does not. The zero value of one is, where the scenario's tasks arrive at a
	// rate, an open loop of that rate; otherwise the scenario's arrivals are left out. nil: the scenario's tasks.
	Demand *demand.Config
	// TasksMax ends a run with a Demand when so many tasks have ended. 0: it goes on.
	TasksMax int
	// TasksBefore is how many tasks an earlier part of a run with a Demand has begun: numbers go on from there.
	TasksBefore int
	// Start is the instant from which the wall clock goes, of a run that goes on where an earlier one broke off.
	Start sim.Instant
	// Horizon takes the place of the scenario's. 0: it stays.
	Horizon time.Duration
	// Ticks are things to be done at regular instants of the run.
	Ticks []harness.Tick
	// Tap is called before the run begins, and returns who else is told what calls and agents do. nil: nobody is.
	Tap func(Inside) Tap
	// JournalTee is given the lines of events.jsonl, also without a bundle: each Write is one line, with the
	// monitor held, and what it has been given is the journal's again afterwards. nil: nobody else reads them.
	JournalTee io.Writer
	// Faults come besides the scenario's, and have ids of their own. run.json does not have them: they must follow
	// from what it has, as [Scenario.DrawnFaults] does.
	Faults []fault.Fault
	// Hooks let who starts the run have a part in it.
	Hooks Hooks
	// Bundle is how the bundle is written; Replace, Inline and Secrets of it are filled in.
	Bundle bundle.Options

	// Shuffle lets the virtual world choose among what is due at one instant, by the seed.
	Shuffle bool

	// Watch is called when the run begins, with a function that tells how it goes. That may be called at
	// any time, from any goroutine, also after Run has returned; a few times a second is often enough. In virtual time it
	// tells how things were when the gauges were last read.
	Watch func(progress func() harness.Progress)
}

// Server is an OpenAI-compatible server.
type Server struct {
	BaseURL string // such as "http://127.0.0.1:30000/v1"
	Model   string // as requests name it
	APIKey  string // stays out of everything that is written
	// MetricsURL is read for gauges. "" means /metrics at the host of BaseURL, if it answers.
	MetricsURL string
}

// validate says what is wrong with the options, as an *InputError, or returns nil.
func (o *Options) validate() error {
	if o.Measure != nil {
		if err := o.Measure.Validate(); err != nil {
			return &InputError{Source: "measure", Msg: err.Error()}
		}
	}
	if err := o.validateDemand(); err != nil {
		return err
	}
	if o.NoVerdict && o.Out != "" {
		return &InputError{Source: "--out", Msg: "found a directory for a run without a verdict, want none: there is nothing to write"}
	}
	switch o.Clock {
	case ClockVirtual:
		if o.Scale != 0 {
			return &InputError{Source: "--scale", Msg: "found a scale of the virtual clock, want --clock wall with it"}
		}
		if o.Server != nil {
			return &InputError{Source: "--clock", Msg: "found virtual with a real server, want wall"}
		}
	case ClockWall:
		if o.Measure != nil || o.Oracle {
			return &InputError{Source: "--clock", Msg: "found wall for a run that is to be measured, or has an oracle, want virtual"}
		}
		if o.Scale != 1 && o.Server != nil {
			return &InputError{Source: "--scale", Msg: fmt.Sprintf("found %v with a real server, which keeps its own time: want 1", o.Scale)}
		}
		if err := o.Server.validMetricsURL(); err != nil {
			return err
		}
		return ValidScale(o.Scale)
	default:
		return &InputError{Source: "--clock", Msg: fmt.Sprintf("found %q, want virtual or wall", o.Clock)}
	}
	return nil
}

// validateDemand says what is wrong with the options of a run without end, or returns nil.
func (o *Options) validateDemand() error {
	switch {
	case o.Horizon < 0 || o.Horizon > horizonMax:
		return &InputError{Source: "horizon", Msg: fmt.Sprintf("found %v, want 0 (the scenario's) to %v", o.Horizon, horizonMax)}
	case o.Demand == nil && o.TasksMax != 0:
		return &InputError{Source: "tasks", Msg: fmt.Sprintf("found %d without a demand, want them together", o.TasksMax)}
	case o.Demand == nil:
		return nil
	case o.Measure != nil:
		return &InputError{Source: "measure", Msg: "found it with a demand, want a run whose tasks have an end"}
	}
	if err := o.Demand.Validate(); err != nil {
		return &InputError{Source: "load", Msg: err.Error()}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Clock == "" {
		o.Clock = ClockVirtual
	}
	if o.Clock == ClockWall && o.Scale == 0 {
		o.Scale = 1
	}
	return o
}

// ServerError says that a real server could not be reached, and what was tried.
type ServerError struct {
	Tried string
	Err   error
}

func (e *ServerError) Error() string { return fmt.Sprintf("tried %s: %v", e.Tried, e.Err) }

func (e *ServerError) Unwrap() error { return e.Err }
