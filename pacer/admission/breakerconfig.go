package admission

import (
	"fmt"
	"slices"
	"time"
)

// BreakerRule names what opens a breaker.
type BreakerRule string

// The rules.
const (
	// BreakerConsecutive opens after FailureThreshold failures in a row. sony/gobreaker 2.4.0.
	BreakerConsecutive BreakerRule = "consecutive"
	// BreakerRate opens when at least FailureExecutionThreshold attempts have ended within
	// FailureThresholdingPeriod, and FailureRateThreshold of them, rounded to whole per cents, have
	// failed. Kept in ten buckets. failsafe-go 0.9.8.
	BreakerRate BreakerRule = "rate"
)

// BreakerRules returns the names of the rules.
func BreakerRules() []BreakerRule { return []BreakerRule{BreakerConsecutive, BreakerRate} }

// JudgeBy says when an attempt counts for a breaker.
type JudgeBy string

// When.
const (
	// JudgeByEnd: when it is over.
	JudgeByEnd JudgeBy = "end"
	// JudgeByFirstToken: well at its first output, badly if it is over without one. A probe then
	// tells after seconds what it would tell after minutes.
	JudgeByFirstToken JudgeBy = "first_token"
)

// BreakerConfig stops all attempts for a while when too many fail. It is the block `breaker` of a
// policy. The zero value is no breaker. A parameter of 0 is the library's default, which stands with
// it.
//
// An open breaker becomes half-open after Delay. Then up to Probes attempts are let through: it
// closes when ProbeSuccesses of them went well, and opens again as soon as that has become impossible.
type BreakerConfig struct {
	Rule BreakerRule `json:"rule,omitempty" yaml:"rule,omitempty"`

	// FailureThreshold is how many failures in a row open it, with consecutive. 0 means 6 (gobreaker:
	// more than 5).
	FailureThreshold int `json:"failure_threshold,omitempty" yaml:"failure_threshold,omitempty"`
	// FailureRateThreshold is the share of failures that opens it, with rate. 0 means 0.5.
	FailureRateThreshold float64 `json:"failure_rate_threshold,omitempty" yaml:"failure_rate_threshold,omitempty"`
	// FailureExecutionThreshold is how many attempts must have ended, with rate. 0 means 10.
	FailureExecutionThreshold int `json:"failure_execution_threshold,omitempty" yaml:"failure_execution_threshold,omitempty"`
	// FailureThresholdingPeriod is over how long they are counted, with rate. 0 means 1 min.
	FailureThresholdingPeriod time.Duration `json:"failure_thresholding_period_ns,omitempty" yaml:"failure_thresholding_period,omitempty"`

	// Delay is how long it stays open. 0 means 60 s.
	Delay time.Duration `json:"delay_ns,omitempty" yaml:"delay,omitempty"`
	// Probes is how many attempts are let through half-open. 0 means 1.
	Probes int `json:"probes,omitempty" yaml:"probes,omitempty"`
	// AllProbes lets every attempt through half-open, and opens again at the first that fails: with
	// 10 failures, 60 s, 3 successes and LateCounts that is the breaker of SGLang's gateway (a trap:
	// all agents come back at once). Probes is then 0.
	AllProbes bool `json:"all_probes,omitempty" yaml:"all_probes,omitempty"`
	// ProbeSuccesses is how many of them must go well. 0 means all of Probes, or 1 with AllProbes.
	ProbeSuccesses int `json:"probe_successes,omitempty" yaml:"probe_successes,omitempty"`
	// JudgeBy says when an attempt counts. Empty means end.
	JudgeBy JudgeBy `json:"judge_by,omitempty" yaml:"judge_by,omitempty"`

	// RetryOnly stops only retries: first attempts always pass, and are the probes. M. Brooker,
	// Fixing retries with token buckets and circuit breakers (2022).
	RetryOnly bool `json:"retry_only,omitempty" yaml:"retry_only,omitempty"`
	// LateCounts lets an attempt that was sent in an earlier state count in the present one, as in
	// failsafe-go (a trap: with calls that last longer than Delay, what was sent before it opened is
	// taken for a probe). Without, such attempts are ignored, as in gobreaker.
	LateCounts bool `json:"late_counts,omitempty" yaml:"late_counts,omitempty"`
}

// Off says whether there is no breaker.
func (c BreakerConfig) Off() bool { return c.Rule == "" }

// WithDefaults returns the configuration with the parameters of its rule spelled out.
func (c BreakerConfig) WithDefaults() BreakerConfig {
	fill(c.params())
	if !c.Off() && c.JudgeBy == "" {
		c.JudgeBy = JudgeByEnd
	}
	return c
}

// params lists the parameters; their pointers are into c.
func (c *BreakerConfig) params() []param {
	const many = 1_000_000
	on, rate := !c.Off(), c.Rule == BreakerRate
	return []param{
		count("failure_threshold", c.Rule == BreakerConsecutive, &c.FailureThreshold, 6, many),
		number("failure_rate_threshold", rate, &c.FailureRateThreshold, 0.5, 0.01, 1),
		count("failure_execution_threshold", rate, &c.FailureExecutionThreshold, 10, many),
		span("failure_thresholding_period", rate, &c.FailureThresholdingPeriod, time.Minute),
		span("delay", on, &c.Delay, time.Minute),
		count("probes", on && !c.AllProbes, &c.Probes, 1, many),
		count("probe_successes", on, &c.ProbeSuccesses, max(1, c.Probes), many),
	}
}

// Validate says what is wrong with the configuration in one line that begins with the field, or
// returns nil.
func (c BreakerConfig) Validate() error {
	if rules := append(BreakerRules(), ""); !slices.Contains(rules, c.Rule) {
		return fmt.Errorf("rule: found %q, want none or one of %s", c.Rule, names(BreakerRules()))
	}
	if c.AllProbes && c.Probes != 0 {
		return fmt.Errorf("probes: found %d, want none with all_probes", c.Probes)
	}
	if err := check(c.params(), string(c.Rule)); err != nil {
		return err
	}
	switch c.JudgeBy {
	case "":
	case JudgeByEnd, JudgeByFirstToken:
		if c.Off() {
			return fmt.Errorf("judge_by: found %q, want none without a rule", c.JudgeBy)
		}
	default:
		return fmt.Errorf("judge_by: found %q, want %s or %s", c.JudgeBy, JudgeByEnd, JudgeByFirstToken)
	}
	if full := c.WithDefaults(); !c.AllProbes && full.ProbeSuccesses > full.Probes {
		return fmt.Errorf("probe_successes: found %d, want at most probes, which is %d", full.ProbeSuccesses, full.Probes)
	}
	if err := unset("all_probes", c.AllProbes, !c.Off(), string(c.Rule)); err != nil {
		return err
	}
	if err := unset("retry_only", c.RetryOnly, !c.Off(), string(c.Rule)); err != nil {
		return err
	}
	return unset("late_counts", c.LateCounts, !c.Off(), string(c.Rule))
}
