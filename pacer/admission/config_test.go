package admission_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/pacer/admission"
)

// block is the part of a policy that this package has.
type block struct {
	Budget   admission.BudgetConfig   `json:"retry_budget" yaml:"retry_budget"`
	Throttle admission.ThrottleConfig `json:"throttle" yaml:"throttle"`
	Breaker  admission.BreakerConfig  `json:"breaker" yaml:"breaker"`
}

func (b block) validate() error {
	for _, err := range []error{b.Budget.Validate(), b.Throttle.Validate(), b.Breaker.Validate()} {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBadConfigs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"retry_budget: {rule: token}", `rule: found "token", want none or one of finagle, sre, aws, brooker, grpc, envoy, failsafe`},
		{"retry_budget: {ttl: 10s}", "ttl: found 10s, want none without a rule"},
		{"retry_budget: {rule: sre, ttl: 10s}", "ttl: found 10s, want none with rule sre, which does not read it"},
		{"retry_budget: {rule: finagle, ttl: 10ns}", "ttl: found 10ns, want 0 (the default) or a duration from 1ms to 720h0m0s"},
		{"retry_budget: {rule: finagle, percent_can_retry: -0.1}", "percent_can_retry: found -0.1, want 0 (the default) or a number from 1e-06 to 1000"},
		{"retry_budget: {rule: finagle, percent_can_retry: .nan}", "percent_can_retry: found NaN, want 0 (the default) or a number from 1e-06 to 1000"},
		{"retry_budget: {rule: finagle, min_retries_per_sec: 1, no_floor: true}", "no_floor: found true, want false with a floor that is set"},
		{"retry_budget: {rule: aws, no_floor: true}", `no_floor: found true, want false with rule "aws", which does not read it`},
		{"retry_budget: {rule: sre, max_attempts: -1}", "max_attempts: found -1, want 0 (the default) or a number from 1 to 1000"},
		{"retry_budget: {rule: envoy, budget_percent: 101}", "budget_percent: found 101, want 0 (the default) or a number from 1e-06 to 100"},
		{"throttle: {rule: aws}", `rule: found "aws", want none or one of sre, envoy, failsafe, kratos`},
		{"throttle: {k: 2}", "k: found 2, want none without a rule"},
		{"throttle: {rule: sre, k: 0.5}", "k: found 0.5, want 0 (the default) or a number from 1 to 1e+06"},
		{"throttle: {rule: envoy, count_at_end: true}", `count_at_end: found true, want false with rule "envoy", which does not read it`},
		{"breaker: {rule: on}", `rule: found "on", want none or one of consecutive, rate`},
		{"breaker: {probes: 2}", "probes: found 2, want none without a rule"},
		{"breaker: {rule: rate, failure_threshold: 3}", "failure_threshold: found 3, want none with rule rate, which does not read it"},
		{"breaker: {rule: rate, probes: 2, probe_successes: 3}", "probe_successes: found 3, want at most probes, which is 2"},
		{"breaker: {rule: rate, probe_successes: 3}", "probe_successes: found 3, want at most probes, which is 1"},
		{"breaker: {rule: rate, all_probes: true, probes: 3}", "probes: found 3, want none with all_probes"},
		{"breaker: {all_probes: true}", `all_probes: found true, want false with rule "", which does not read it`},
		{"breaker: {late_counts: true}", `late_counts: found true, want false with rule "", which does not read it`},
		{"breaker: {rule: rate, judge_by: start}", `judge_by: found "start", want end or first_token`},
		{"breaker: {judge_by: end}", `judge_by: found "end", want none without a rule`},
		{"breaker: {retry_only: true}", `retry_only: found true, want false with rule "", which does not read it`},
	} {
		var b block
		if err := yaml.UnmarshalWithOptions([]byte(c.text), &b, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if err := b.validate(); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestRoundTrip: each rule with its defaults spelled out is valid, reads the same from YAML and JSON,
// and has nothing more to spell out.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var all []block
	for _, r := range admission.BudgetRules() {
		all = append(all, block{Budget: admission.BudgetConfig{Rule: r}.WithDefaults()})
	}
	for _, r := range admission.ThrottleRules() {
		all = append(all, block{Throttle: admission.ThrottleConfig{Rule: r}.WithDefaults()})
	}
	for _, r := range admission.BreakerRules() {
		all = append(all, block{Breaker: admission.BreakerConfig{Rule: r}.WithDefaults()})
	}
	for _, want := range append(all, block{}) {
		if err := want.validate(); err != nil {
			t.Errorf("%+v: %v", want, err)
		}
		if again := (block{want.Budget.WithDefaults(), want.Throttle.WithDefaults(), want.Breaker.WithDefaults()}); again != want {
			t.Errorf("spelled out again, %+v is %+v", want, again)
		}
		var fromYAML, fromJSON block
		text, err := yaml.Marshal(want)
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &fromYAML, yaml.Strict())
		}
		if err != nil || fromYAML != want {
			t.Errorf("as YAML, %+v is %+v (%v)\n%s", want, fromYAML, err, text)
		}
		text, err = json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(text, &fromJSON)
		}
		if err != nil || fromJSON != want {
			t.Errorf("as JSON, %+v is %+v (%v)\n%s", want, fromJSON, err, text)
		}
	}
}

// TestDefaults: a few that have been read in the libraries.
func TestDefaults(t *testing.T) {
	t.Parallel()
	budget := admission.BudgetConfig{Rule: admission.BudgetFinagle}.WithDefaults()
	if budget.TTL != 10*time.Second || budget.MinRetriesPerSec != 10 || budget.PercentCanRetry != 0.2 {
		t.Errorf("%+v", budget)
	}
	budget = admission.BudgetConfig{Rule: admission.BudgetEnvoy, NoFloor: true}.WithDefaults()
	if budget.BudgetPercent != 20 || budget.MinRetryConcurrency != 0 {
		t.Errorf("%+v", budget)
	}
	budget = admission.BudgetConfig{Rule: admission.BudgetAWS, RetryCost: 5}.WithDefaults()
	if budget.TimeoutRetryCost != 5 || budget.ThrottlingRetryCost != 5 || budget.MaxCapacity != 500 {
		t.Errorf("%+v", budget)
	}
	breaker := admission.BreakerConfig{Rule: admission.BreakerConsecutive, Probes: 4}.WithDefaults()
	if breaker.FailureThreshold != 6 || breaker.ProbeSuccesses != 4 || breaker.Delay != time.Minute {
		t.Errorf("%+v", breaker)
	}
	breaker = admission.BreakerConfig{Rule: admission.BreakerRate, AllProbes: true, ProbeSuccesses: 3}
	if err := breaker.Validate(); err != nil || breaker.WithDefaults().Probes != 0 {
		t.Errorf("%+v: %v", breaker.WithDefaults(), err)
	}
	if !(admission.BudgetConfig{}).Off() || !(admission.ThrottleConfig{}).Off() || !(admission.BreakerConfig{}).Off() {
		t.Error("the zero value is not off")
	}
	if !(admission.BudgetConfig{Rule: admission.BudgetFailsafe}).AsksAfterBackoff() {
		t.Error("failsafe asks before the backoff")
	}
	text, err := json.Marshal(block{})
	if err != nil || strings.Count(string(text), "rule") != 0 {
		t.Errorf("what is off is written as %s (%v)", text, err)
	}
}
