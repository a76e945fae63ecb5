package admission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// BudgetRule names how retries are bounded.
type BudgetRule string

// The rules. "Now" is the instant of the decision; a retry is one attempt after the first of a call.
const (
	// BudgetFinagle: each call deposits PercentCanRetry of a retry, each retry withdraws one, and both
	// are forgotten after TTL. On top there are MinRetriesPerSec times TTL that are always there (the
	// floor). Kept in ten buckets. Finagle's RetryBudget 24.2; tower's TpsBudget has the same
	// three parameters.
	BudgetFinagle BudgetRule = "finagle"
	// BudgetSRE: at most MaxAttempts attempts a call, and over Window, retries stay at most RetryRatio
	// of calls. Site Reliability Engineering, chapter 21.
	BudgetSRE BudgetRule = "sre"
	// BudgetAWS: a bucket of MaxCapacity tokens, full at first. A retry takes RetryCost,
	// TimeoutRetryCost or ThrottlingRetryCost, by what made it necessary, and gets it back if it
	// succeeds; a first attempt that succeeds adds NoRetryIncrement. aws-sdk-go-v2 1.48.0, standard
	// mode of 2026.
	BudgetAWS BudgetRule = "aws"
	// BudgetBrooker: a bucket of MaxTokens, full at first. A success adds TokenRatio, a retry takes
	// one. M. Brooker, Fixing retries with token buckets and circuit breakers (2022).
	BudgetBrooker BudgetRule = "brooker"
	// BudgetGRPC: a bucket of MaxTokens, full at first. An attempt that fails takes one, one that
	// succeeds adds TokenRatio, and retries and hedges are sent while there is more than half of
	// MaxTokens. gRPC proposal A6, retryThrottling.
	BudgetGRPC BudgetRule = "grpc"
	// BudgetEnvoy: retries under way, those in backoff included, stay below BudgetPercent of all
	// attempts under way, or below MinRetryConcurrency if that is more. Envoy 1.36, retry_budget.
	BudgetEnvoy BudgetRule = "envoy"
	// BudgetFailsafe: a retry or hedge is sent unless MinConcurrency of them are under way and they
	// are more than MaxRate of calls, retries and hedges under way. failsafe-go 0.9.8, budget.
	BudgetFailsafe BudgetRule = "failsafe"
)

// BudgetRules returns the names of the rules.
func BudgetRules() []BudgetRule {
	return []BudgetRule{BudgetFinagle, BudgetSRE, BudgetAWS, BudgetBrooker, BudgetGRPC, BudgetEnvoy, BudgetFailsafe}
}

// BudgetConfig bounds the retries of a client. It is the block `retry_budget` of a policy. The zero
// value is no budget. A parameter of 0 is the library's default, which stands with it.
type BudgetConfig struct {
	Rule BudgetRule `json:"rule,omitempty" yaml:"rule,omitempty"`

	// TTL is how long finagle remembers. 0 means 10 s, from 1 s to 60 s there; for calls of minutes
	// it must be longer than one.
	TTL time.Duration `json:"ttl_ns,omitempty" yaml:"ttl,omitempty"`
	// MinRetriesPerSec is the floor of finagle. 0 means 10, which never binds a client that makes a
	// call in five seconds; see NoFloor.
	MinRetriesPerSec float64 `json:"min_retries_per_sec,omitempty" yaml:"min_retries_per_sec,omitempty"`
	// PercentCanRetry is the share (not per cent) of calls that finagle lets be retried. 0 means 0.2.
	PercentCanRetry float64 `json:"percent_can_retry,omitempty" yaml:"percent_can_retry,omitempty"`

	// MaxAttempts is how many attempts sre grants a call, the first included. 0 means 3.
	MaxAttempts int `json:"max_attempts,omitempty" yaml:"max_attempts,omitempty"`
	// RetryRatio is the share of calls that sre lets be retried. 0 means 0.1.
	RetryRatio float64 `json:"retry_ratio,omitempty" yaml:"retry_ratio,omitempty"`
	// Window is over how long sre counts. 0 means 2 min.
	Window time.Duration `json:"window_ns,omitempty" yaml:"window,omitempty"`

	// MaxCapacity is how many tokens the bucket of aws holds. 0 means 500.
	MaxCapacity float64 `json:"max_capacity,omitempty" yaml:"max_capacity,omitempty"`
	// RetryCost is what aws takes for a retry after a transient error. 0 means 14.
	RetryCost float64 `json:"retry_cost,omitempty" yaml:"retry_cost,omitempty"`
	// TimeoutRetryCost is what it takes after a limit of time. 0 means RetryCost.
	TimeoutRetryCost float64 `json:"timeout_retry_cost,omitempty" yaml:"timeout_retry_cost,omitempty"`
	// ThrottlingRetryCost is what it takes after a throttling answer. 0 means 5.
	ThrottlingRetryCost float64 `json:"throttling_retry_cost,omitempty" yaml:"throttling_retry_cost,omitempty"`
	// NoRetryIncrement is what a first attempt that succeeds adds. 0 means 1.
	NoRetryIncrement float64 `json:"no_retry_increment,omitempty" yaml:"no_retry_increment,omitempty"`

	// MaxTokens is the bucket of brooker and grpc. 0 means 10, at most 1000 in gRPC.
	MaxTokens float64 `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	// TokenRatio is what a success adds to it. 0 means 0.1.
	TokenRatio float64 `json:"token_ratio,omitempty" yaml:"token_ratio,omitempty"`

	// BudgetPercent is the share of attempts under way, in per cent, that envoy lets be retries. 0
	// means 20.
	BudgetPercent float64 `json:"budget_percent,omitempty" yaml:"budget_percent,omitempty"`
	// MinRetryConcurrency is how many retries envoy always lets be under way. 0 means 3.
	MinRetryConcurrency int `json:"min_retry_concurrency,omitempty" yaml:"min_retry_concurrency,omitempty"`

	// MaxRate is the share of executions under way that failsafe lets be retries or hedges. 0 means
	// 0.2. The call of a retry counts beside the retry, so that retries alone never exceed 0.5.
	MaxRate float64 `json:"max_rate,omitempty" yaml:"max_rate,omitempty"`
	// MinConcurrency is how many retries and hedges it always lets be under way. 0 means 3.
	MinConcurrency int `json:"min_concurrency,omitempty" yaml:"min_concurrency,omitempty"`

	// NoFloor sets MinRetriesPerSec, MinRetryConcurrency or MinConcurrency to 0.
	NoFloor bool `json:"no_floor,omitempty" yaml:"no_floor,omitempty"`
}

// Off says whether there is no budget.
func (c BudgetConfig) Off() bool { return c.Rule == "" }

// AsksAfterBackoff says when the library asks: after the wait before a retry, just before sending it,
// or (all others) when the attempt before it has failed, so that a retry that waits is paid for.
func (c BudgetConfig) AsksAfterBackoff() bool { return c.Rule == BudgetFailsafe }

// WithDefaults returns the configuration with the parameters of its rule spelled out.
func (c BudgetConfig) WithDefaults() BudgetConfig {
	fill(c.params())
	if c.NoFloor {
		c.MinRetriesPerSec, c.MinRetryConcurrency, c.MinConcurrency = 0, 0, 0
	}
	return c
}

// params lists the parameters; their pointers are into c.
func (c *BudgetConfig) params() []param {
	const share, thousandth, tokens, rate, concurrent = 1e-6, 1e-3, 1e6, 1e6, 1_000_000
	r := c.Rule
	bucket := r == BudgetBrooker || r == BudgetGRPC
	return []param{
		span("ttl", r == BudgetFinagle, &c.TTL, 10*time.Second),
		number("min_retries_per_sec", r == BudgetFinagle, &c.MinRetriesPerSec, 10, share, rate),
		number("percent_can_retry", r == BudgetFinagle, &c.PercentCanRetry, 0.2, share, 1000),
		count("max_attempts", r == BudgetSRE, &c.MaxAttempts, 3, 1000),
		number("retry_ratio", r == BudgetSRE, &c.RetryRatio, 0.1, share, 1000),
		span("window", r == BudgetSRE, &c.Window, 2*time.Minute),
		number("max_capacity", r == BudgetAWS, &c.MaxCapacity, 500, thousandth, tokens),
		number("retry_cost", r == BudgetAWS, &c.RetryCost, 14, thousandth, tokens),
		number("timeout_retry_cost", r == BudgetAWS, &c.TimeoutRetryCost, cmp.Or(c.RetryCost, 14), thousandth, tokens),
		number("throttling_retry_cost", r == BudgetAWS, &c.ThrottlingRetryCost, 5, thousandth, tokens),
		number("no_retry_increment", r == BudgetAWS, &c.NoRetryIncrement, 1, thousandth, tokens),
		number("max_tokens", bucket, &c.MaxTokens, 10, 1, tokens),
		number("token_ratio", bucket, &c.TokenRatio, 0.1, thousandth, tokens),
		number("budget_percent", r == BudgetEnvoy, &c.BudgetPercent, 20, share, 100),
		count("min_retry_concurrency", r == BudgetEnvoy, &c.MinRetryConcurrency, 3, concurrent),
		number("max_rate", r == BudgetFailsafe, &c.MaxRate, 0.2, share, 1),
		count("min_concurrency", r == BudgetFailsafe, &c.MinConcurrency, 3, concurrent),
	}
}

// Validate says what is wrong with the configuration in one line that begins with the field, or
// returns nil.
func (c BudgetConfig) Validate() error {
	if rules := append(BudgetRules(), ""); !slices.Contains(rules, c.Rule) {
		return fmt.Errorf("rule: found %q, want none or one of %s", c.Rule, names(BudgetRules()))
	}
	if err := check(c.params(), string(c.Rule)); err != nil {
		return err
	}
	floor := c.Rule == BudgetFinagle || c.Rule == BudgetEnvoy || c.Rule == BudgetFailsafe
	if err := unset("no_floor", c.NoFloor, floor, string(c.Rule)); err != nil {
		return err
	}
	if c.NoFloor && (c.MinRetriesPerSec != 0 || c.MinRetryConcurrency != 0 || c.MinConcurrency != 0) {
		return errors.New("no_floor: found true, want false with a floor that is set")
	}
	return nil
}
