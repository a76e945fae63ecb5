package repro

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/serving"
)

// InputError is bad input: one line that says where, what was found, and what is allowed.
type InputError = strict.Error

// Scenario is everything that determines a run: the text of a scenario file, with every default
// filled in. The zero value is not valid; start from [Default].
type Scenario struct {
	Name  string `json:"name" yaml:"name"`
	About string `json:"about" yaml:"about"` // what happens, and why, in plain words
	Seed  uint64 `json:"seed" yaml:"seed"`   // of every draw
	// Horizon is the instant at which the run ends, whatever its state.
	Horizon time.Duration `json:"horizon_ns" yaml:"horizon"`

	Fleet    harness.Config   `json:"fleet" yaml:"fleet"`
	Workflow agents.Workflow  `json:"workflow" yaml:"workflow"`
	Pacer    pacer.Config     `json:"pacer" yaml:"pacer"`
	Policy   pacer.Policy     `json:"policy" yaml:"policy"`
	Servers  serving.Config   `json:"servers" yaml:"servers"`
	Faults   []fault.Fault    `json:"faults" yaml:"faults"`
	Triggers []Trigger        `json:"triggers,omitempty" yaml:"triggers,omitempty"`
	Watchdog harness.Watchdog `json:"watchdog" yaml:"watchdog"`
	Expect   Expect           `json:"expect" yaml:"expect"`
	// Soak is how the scenario is run for long. The zero value: it is not said.
	Soak Soak `json:"soak,omitzero" yaml:"soak,omitzero"`

	doc  *strict.Document // where the fields stand in the file, for error messages
	sets []setting        // fields that were overridden, for the same purpose
}

// setting is a field that was overridden, and the flag that did it.
type setting struct{ field, source string }

// Expect is the verdict that a scenario is made to give. Empty fields accept anything; a scenario
// that expects nothing is never a failure.
type Expect struct {
	Outcome      diagnose.Outcome `json:"outcome,omitempty" yaml:"outcome,omitempty"`
	Layer        diagnose.Layer   `json:"layer,omitempty" yaml:"layer,omitempty"`
	Cause        diagnose.Cause   `json:"cause,omitempty" yaml:"cause,omitempty"`
	FinalOutcome diagnose.Outcome `json:"final_outcome,omitempty" yaml:"final_outcome,omitempty"` // of the run
	// Mechanisms are causes that the verdict must name among those that it sees at work, in any order.
	Mechanisms []diagnose.Cause `json:"mechanisms,omitempty" yaml:"mechanisms,omitempty"`
}

// any says whether anything is expected.
func (e *Expect) any() bool {
	return e.Outcome != "" || e.Layer != "" || e.Cause != "" || e.FinalOutcome != "" || len(e.Mechanisms) > 0
}

// Default returns the incident's set-up: 30 agents, 5 rounds of 4 steps, 16 slots, no time limits.
func Default() *Scenario {
	return &Scenario{
		Name:     "custom",
		Seed:     1,
		Horizon:  12 * time.Hour,
		Fleet:    harness.DefaultConfig(),
		Workflow: agents.DefaultWorkflow(),
		Pacer:    pacer.DefaultConfig(),
		Policy:   pacer.DefaultPolicy(),
		Servers:  serving.Default(),
		Faults:   []fault.Fault{},
		Watchdog: harness.DefaultWatchdog(),
	}
}

// ReadFile reads a scenario file.
func ReadFile(path string) (*Scenario, error) {
	text, err := strict.ReadFile(path)
	if err != nil {
		return nil, &InputError{Source: path, Msg: err.Error()}
	}
	s, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	if s.doc.Empty() {
		return nil, &InputError{Source: path, Msg: "found nothing in it, want a scenario (wedge repro NAME --print shows one)"}
	}
	if name := strict.NameOf(path); name != "" {
		if _, named := s.doc.Value("name"); !named {
			s.Name = name // so that the bundles of unnamed scenarios differ
		}
	}
	return s, nil
}

// Parse reads a scenario from YAML text. Fields that it does not name keep their defaults. The error
// is an *InputError that names source, line, column and field.
func Parse(source string, text []byte) (*Scenario, error) {
	doc, err := strict.Parse(source, text)
	if err != nil {
		return nil, err
	}
	s := Default()
	s.takePresets(doc)
	if err := doc.Decode(s, strict.Plain); err != nil {
		return nil, err
	}
	s.doc = doc
	s.About = strict.OneLine(s.About) // its line breaks are the file's
	return s, s.Validate()
}

// Set overrides the field at a path such as "policy.idle" with a value in YAML form. Faults and triggers are
// named by id or number: "faults.silence.probability". Validate afterwards.
func (s *Scenario) Set(path, value string) error {
	source := fmt.Sprintf("--set %s=%s", path, value)
	keys := strings.Split(path, ".")
	if slices.ContainsFunc(keys, notAKey) || strings.TrimSpace(value) == "" || strings.ContainsAny(value, "\r\n") {
		return &InputError{Source: source, Msg: "want path=value in one line, such as policy.idle=60s"}
	}
	target, keys, element, err := s.element(keys)
	if err != nil {
		return &InputError{Source: source, Msg: err.Error()}
	}
	field := path
	if element != "" {
		field = element + "." + strings.Join(keys, ".")
	}
	s.sets = append(s.sets, setting{field, source})
	switch path {
	case "servers.preset", "workflow.profile", "policy", "policy.preset":
		if doc, err := strict.Parse(source, strict.Nest(keys, value)); err == nil {
			s.takePresets(doc)
		}
	}
	return strict.Set(source, keys, value, target, strict.Plain)
}

// notAKey says whether a piece of a path can be no name of a field or fault.
func notAKey(key string) bool { return key == "" || strings.ContainsFunc(key, strict.NotInName) }

// YAML returns the scenario as a file, every default visible.
func (s *Scenario) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(s, yaml.IndentSequence(true))
}

// Validate says what is wrong with the scenario, as an *InputError, or returns nil.
func (s *Scenario) Validate() error {
	if err := s.validateOwn(); err != nil {
		return err
	}
	for _, block := range []struct {
		name string
		err  error
	}{
		{"fleet", s.Fleet.Validate()},
		{"workflow", s.Workflow.Validate()},
		{"pacer", s.Pacer.Validate()},
		{"policy", validPreset(s.Policy.Preset)},
		{"policy", s.Policy.Validate()},
		{"servers", s.Servers.Validate()},
		{"watchdog", s.Watchdog.Validate()},
	} {
		if block.err != nil {
			return s.bad(block.name, block.err)
		}
	}
	if err := s.validateTriggers(); err != nil {
		return err
	}
	if err := s.validateSoak(); err != nil {
		return err
	}
	return s.validateFaults()
}

// bad makes an input error of an error that begins with the field it is about.
func (s *Scenario) bad(block string, err error) error {
	path, msg := strict.Split(block, err)
	for _, set := range slices.Backward(s.sets) {
		if path == set.field || strings.HasPrefix(path, set.field+".") || strings.HasPrefix(path, set.field+"[") || strings.HasPrefix(set.field, path+".") {
			return &InputError{Source: set.source, Field: path, Msg: msg}
		}
	}
	if s.doc == nil {
		return &InputError{Source: s.Name, Field: path, Msg: msg}
	}
	return s.doc.At(path, msg)
}

// horizonMax is the longest run.
const horizonMax = 10_000 * time.Hour

func (s *Scenario) validateOwn() error {
	switch {
	case s.Name == "" || strings.ContainsFunc(s.Name, strict.NotInName):
		return s.bad("", fmt.Errorf("name: found %q, want letters, digits, dots, dashes and underscores", s.Name))
	case s.Horizon <= 0 || s.Horizon > horizonMax:
		return s.bad("", fmt.Errorf("horizon: found %v, want more than 0s and at most %v", s.Horizon, horizonMax))
	case s.Expect.Outcome != "" && !slices.Contains(diagnose.Outcomes(), s.Expect.Outcome):
		return s.bad("expect", fmt.Errorf("outcome: found %q, want one of %s", s.Expect.Outcome, oneOf(diagnose.Outcomes())))
	case s.Expect.FinalOutcome != "" && !slices.Contains(diagnose.Outcomes(), s.Expect.FinalOutcome):
		return s.bad("expect", fmt.Errorf("final_outcome: found %q, want one of %s", s.Expect.FinalOutcome, oneOf(diagnose.Outcomes())))
	case s.Expect.Layer != "" && !slices.Contains(diagnose.Layers(), s.Expect.Layer):
		return s.bad("expect", fmt.Errorf("layer: found %q, want one of %s", s.Expect.Layer, oneOf(diagnose.Layers())))
	case slices.ContainsFunc(s.Expect.Mechanisms, unknownCause):
		i := slices.IndexFunc(s.Expect.Mechanisms, unknownCause)
		return s.bad("expect", fmt.Errorf("mechanisms[%d]: found %q, want one of %s", i, s.Expect.Mechanisms[i], oneOf(diagnose.Causes())))
	case s.Expect.Cause != "" && !slices.Contains(diagnose.Causes(), s.Expect.Cause):
		return s.bad("expect", fmt.Errorf("cause: found %q, want one of %s", s.Expect.Cause, oneOf(diagnose.Causes())))
	}
	return nil
}

func unknownCause(c diagnose.Cause) bool { return !slices.Contains(diagnose.Causes(), c) }

// oneOf lists names for a message.
func oneOf[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// ValidScale says what is wrong with a scale of the wall clock, or returns nil.
func ValidScale(scale float64) error {
	// Above, a millisecond of the machine's is more than a second of the run's: what it takes to send a
	// chunk over loopback would look like a stream that has gone quiet.
	const least, most = 0.001, 1000
	if math.IsNaN(scale) || scale < least || scale > most {
		return &InputError{Source: "--scale", Msg: fmt.Sprintf("found %v, want a number from %v to %v", scale, least, most)}
	}
	return nil
}
