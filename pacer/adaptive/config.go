package adaptive

import (
	"fmt"
	"time"
)

// Limit names the time limit of an attempt that is learnt. The meaning is that of the field of the
// same name in pacer.Policy.
type Limit string

// The limits that can be learnt, each from samples of its own phase: one estimator for all of them
// would mix a wait for a queue with the length of an answer.
const (
	LimitResponseHeader Limit = "response_header"
	LimitFirstToken     Limit = "first_token"
	LimitIdle           Limit = "idle"
	LimitTotal          Limit = "total"
)

// Rule names how samples become a limit.
type Rule string

// The rules.
const (
	// RuleRTO is the retransmission timeout of TCP (RFC 6298, section 2). The first sample R sets
	// SRTT = R and VAR = R/2. Each further one sets VAR = 3/4 VAR + 1/4 |SRTT - R|, then SRTT = 7/8
	// SRTT + 1/8 R. The limit is SRTT + max(Granularity, 4 VAR), and doubles on a timeout until the
	// next sample. Attempts that are retries give no sample (Karn's rule), nor do those that timed
	// out. In TCP: Initial 1 s, Min 1 s, Max at least 60 s.
	RuleRTO Rule = "rto"
	// RuleQuantile is Factor times the Quantile (nearest rank) of the last Window samples, as in The
	// Tail at Scale (Dean and Barroso, CACM 2013) and common practice: .99, 1.5 to 3, 100 to 1000.
	RuleQuantile Rule = "quantile"
	// RuleMovingQuantile is Factor times the Windowless Moving Percentile (M. Jambon), as the hedge
	// policy of failsafe-go 0.9.8 has it. The first sample is the value. For each further one, the
	// exponential mean and variance move by 2/(Age+1), and with d = Step times the standard deviation
	// the value falls by d/Quantile if the sample was below, or grows by d/(1-Quantile) if above.
	RuleMovingQuantile Rule = "moving_quantile"
)

// Rules returns the names of the rules.
func Rules() []Rule { return []Rule{RuleRTO, RuleQuantile, RuleMovingQuantile} }

// Config says how one limit of an attempt is learnt. It is an entry of `adaptive` in the block
// `policy`. The zero value is refused, since it has no rule: a policy without entries learns nothing.
type Config struct {
	// Limit is what is learnt.
	Limit Limit `json:"limit" yaml:"limit"`
	// Rule is how.
	Rule Rule `json:"rule" yaml:"rule"`

	// Quantile is between 0 and 1, both excluded. 0 means 0.99. Not for rto.
	Quantile float64 `json:"quantile,omitempty" yaml:"quantile,omitempty"`
	// Factor multiplies the quantile. 0 means 1. Not for rto.
	Factor float64 `json:"factor,omitempty" yaml:"factor,omitempty"`
	// Window is how many samples the quantile is taken of. 0 means 100. Only for quantile.
	Window int `json:"window,omitempty" yaml:"window,omitempty"`
	// WindowTime forgets samples that are older. 0: never. One that is shorter than a call forgets
	// nearly everything (a trap). Only for quantile.
	WindowTime time.Duration `json:"window_time_ns,omitempty" yaml:"window_time,omitempty"`
	// Age is over how many samples mean and variance are remembered. 0 means 100. Only for
	// moving_quantile.
	Age int `json:"age,omitempty" yaml:"age,omitempty"`
	// Step is the share of the standard deviation by which the value moves. 0 means 0.01. Only for
	// moving_quantile.
	Step float64 `json:"step,omitempty" yaml:"step,omitempty"`
	// Granularity is the least that rto adds to the mean. 0: nothing. Only for rto.
	Granularity time.Duration `json:"granularity_ns,omitempty" yaml:"granularity,omitempty"`

	// MinSamples is how many samples are needed before the rule decides. 0 means 1.
	MinSamples int `json:"min_samples,omitempty" yaml:"min_samples,omitempty"`
	// Initial is the limit before that. 0: no limit.
	Initial time.Duration `json:"initial_ns,omitempty" yaml:"initial,omitempty"`
	// Min is the least limit, whatever is learnt. 0: none (a trap: short samples then forbid long
	// calls).
	Min time.Duration `json:"min_ns,omitempty" yaml:"min,omitempty"`
	// Max is the longest limit, also after doubling. 0: none.
	Max time.Duration `json:"max_ns,omitempty" yaml:"max,omitempty"`

	// PromptClasses are upper bounds of prompt sizes in tokens, growing: calls of each class, and
	// those above the last bound, learn on their own. Empty: all sizes share one estimator (a trap
	// for limits that cover the prefill).
	PromptClasses []int `json:"prompt_classes,omitempty" yaml:"prompt_classes,omitempty"`

	// SuccessOnly leaves out the samples of calls that were cut off (a trap). Not for rto, which
	// never takes them.
	SuccessOnly bool `json:"success_only,omitempty" yaml:"success_only,omitempty"`
	// NoDouble does not double the limit on a timeout (a trap).
	NoDouble bool `json:"no_double,omitempty" yaml:"no_double,omitempty"`
	// FromRetries takes samples of retries as well, against Karn's rule (a trap in TCP, where nobody
	// knows which copy was answered; HTTP knows). Only for rto: the others always do.
	FromRetries bool `json:"from_retries,omitempty" yaml:"from_retries,omitempty"`
}

// WithDefaults returns the configuration with the meaning of its zeros spelled out.
func (c Config) WithDefaults() Config {
	c.MinSamples = max(1, c.MinSamples)
	if c.Rule != RuleRTO {
		orNumber(&c.Quantile, 0.99)
		orNumber(&c.Factor, 1)
	}
	if c.Rule == RuleQuantile && c.Window == 0 {
		c.Window = 100
	}
	if c.Rule == RuleMovingQuantile {
		orNumber(&c.Step, 0.01)
		if c.Age == 0 {
			c.Age = 100
		}
	}
	return c
}

func orNumber(x *float64, otherwise float64) {
	if *x == 0 {
		*x = otherwise
	}
}

// Bounds of what is taken for meant. The least duration is there because a number without a unit is
// read as nanoseconds; the others bound memory.
const (
	durationMin = time.Millisecond
	durationMax = 30 * 24 * time.Hour
	samplesMax  = 10_000
	classesMax  = 100
	factorMax   = 100
)

// Validate says what is wrong with the configuration in one line that begins with the field, or
// returns nil.
func (c Config) Validate() error {
	switch c.Limit {
	case LimitResponseHeader, LimitFirstToken, LimitIdle, LimitTotal:
	default:
		return fmt.Errorf("limit: found %q, want one of %s, %s, %s, %s", c.Limit, LimitResponseHeader, LimitFirstToken, LimitIdle, LimitTotal)
	}
	switch c.Rule {
	case RuleRTO, RuleQuantile, RuleMovingQuantile:
	default:
		return fmt.Errorf("rule: found %q, want one of %s, %s, %s", c.Rule, RuleRTO, RuleQuantile, RuleMovingQuantile)
	}
	if err := c.foreign(); err != nil {
		return err
	}
	if err := c.validNumbers(); err != nil {
		return err
	}
	return c.validDurations()
}

// foreign refuses fields that the rule does not read.
func (c Config) foreign() error {
	for _, f := range []struct {
		name  string
		set   bool
		reads bool
	}{
		{"quantile", c.Quantile != 0, c.Rule != RuleRTO},
		{"factor", c.Factor != 0, c.Rule != RuleRTO},
		{"window", c.Window != 0, c.Rule == RuleQuantile},
		{"window_time", c.WindowTime != 0, c.Rule == RuleQuantile},
		{"age", c.Age != 0, c.Rule == RuleMovingQuantile},
		{"step", c.Step != 0, c.Rule == RuleMovingQuantile},
		{"granularity", c.Granularity != 0, c.Rule == RuleRTO},
		{"success_only", c.SuccessOnly, c.Rule != RuleRTO},
		{"from_retries", c.FromRetries, c.Rule == RuleRTO},
	} {
		if f.set && !f.reads {
			return fmt.Errorf("%s: found a value, want none with rule %s, which does not read it", f.name, c.Rule)
		}
	}
	return nil
}

func (c Config) validNumbers() error {
	if c.Quantile != 0 && !(c.Quantile > 0 && c.Quantile < 1) {
		return fmt.Errorf("quantile: found %v, want a number between 0 and 1, both excluded, or 0 (0.99)", c.Quantile)
	}
	if c.Factor != 0 && !(c.Factor > 0 && c.Factor <= factorMax) {
		return fmt.Errorf("factor: found %v, want a number above 0 and up to %d, or 0 (1)", c.Factor, factorMax)
	}
	if c.Step != 0 && !(c.Step > 0 && c.Step <= 1) {
		return fmt.Errorf("step: found %v, want a number above 0 and up to 1, or 0 (0.01)", c.Step)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"window", c.Window}, {"age", c.Age}, {"min_samples", c.MinSamples}} {
		if f.value < 0 || f.value > samplesMax {
			return fmt.Errorf("%s: found %d, want a number of samples up to %d, or 0 (the default)", f.name, f.value, samplesMax)
		}
	}
	if full := c.WithDefaults(); c.Rule == RuleQuantile && full.MinSamples > full.Window {
		return fmt.Errorf("min_samples: found %d, want at most window, which is %d: it would never be reached", full.MinSamples, full.Window)
	}
	if len(c.PromptClasses) > classesMax {
		return fmt.Errorf("prompt_classes: found %d bounds, want at most %d", len(c.PromptClasses), classesMax)
	}
	for i, bound := range c.PromptClasses {
		if bound < 1 || i > 0 && bound <= c.PromptClasses[i-1] {
			return fmt.Errorf("prompt_classes[%d]: found %d, want a number of tokens from 1 that is above the one before", i, bound)
		}
	}
	return nil
}

func (c Config) validDurations() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"window_time", c.WindowTime}, {"granularity", c.Granularity}, {"initial", c.Initial}, {"min", c.Min}, {"max", c.Max},
	} {
		if d.value != 0 && (d.value < durationMin || d.value > durationMax) {
			return fmt.Errorf("%s: found %v, want 0 or a duration from %v to %v", d.name, d.value, durationMin, durationMax)
		}
	}
	if c.Max != 0 && c.Max < c.Min {
		return fmt.Errorf("max: found %v, want at least min, which is %v", c.Max, c.Min)
	}
	if c.Initial != 0 && (c.Initial < c.Min || c.Max != 0 && c.Initial > c.Max) {
		most := "none"
		if c.Max != 0 {
			most = c.Max.String()
		}
		return fmt.Errorf("initial: found %v, want a duration from min (%v) to max (%s)", c.Initial, c.Min, most)
	}
	return nil
}
