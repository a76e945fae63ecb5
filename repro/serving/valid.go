package serving

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// Bounds of what is taken for meant. They keep every product of a count and a duration that the
// engines form within 64 bits.
const (
	countLimit  = 100_000
	tokensLimit = 10_000_000
	kvLimit     = 1_000_000_000
)

// Validate says what is wrong with the configuration in one line that starts with the field's path,
// or returns nil.
func (c *Config) Validate() error {
	if c.Preset != "" {
		if _, err := Preset(c.Preset); err != nil {
			return fmt.Errorf("preset: %s", strings.TrimPrefix(err.Error(), "serving: preset "))
		}
	}
	engines := c.engines()
	if err := engines.Validate(); err != nil {
		return err
	}
	if c.Abort.Detect == engine.DetectPoll && c.Abort.Poll == 0 {
		return fmt.Errorf("abort.poll: 0s, want how often an engine looks, since abort.detect is %s", c.Abort.Detect)
	}
	for _, check := range [...]func() error{c.validNames, c.validCounts, c.validDurations, c.validNumbers} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.Model.ID == "" {
		return fmt.Errorf("model.id: missing, want the name of the model, such as %q", Default().Model.ID)
	}
	return nil
}

func (c *Config) validNames() error {
	policies := []string{string(Random), string(RoundRobin), string(PowerOfTwo), string(CacheAware), string(Bucket), string(Manual), string(ConsistentHashing), string(PrefixHash)}
	for _, n := range []struct {
		field string
		value string
		names []string
		empty bool // is allowed
	}{
		{"flavor", string(c.Flavor), []string{string(SGLang), string(VLLM)}, false},
		{"router.policy", string(c.Router.Policy), policies, false},
		{"router.prefill_policy", string(c.Router.PrefillPolicy), policies, true},
		{"router.decode_policy", string(c.Router.DecodePolicy), policies, true},
		{"router.legs", string(c.Router.Legs), []string{string(PrefillFirst), string(Join)}, false},
		{"router.drop_upstream", string(c.Router.DropUpstream), []string{string(DropNow), string(DropNextToken)}, false},
		{"router.log_latency", string(c.Router.LogLatency), []string{string(LatencyMicroseconds), string(LatencyText)}, false},
	} {
		if !slices.Contains(n.names, n.value) && !(n.empty && n.value == "") {
			last := len(n.names) - 1
			return fmt.Errorf("%s: %q, want %s or %s", n.field, n.value, strings.Join(n.names[:last], ", "), n.names[last])
		}
	}
	return nil
}

func (c *Config) validCounts() error {
	for _, n := range []struct {
		field string
		value int
		min   int
		max   int
	}{
		{"router.queued_max", c.Router.QueuedMax, 0, countLimit},
		{"router.limit.concurrent_max", c.Router.Limit.ConcurrentMax, 0, countLimit},
		{"router.limit.queue_max", c.Router.Limit.QueueMax, 0, countLimit},
		{"router.balance_abs", c.Router.BalanceAbs, 0, countLimit},
		{"router.retry.attempts_max", c.Router.Retry.AttemptsMax, 1, 1000},
		{"router.breaker.failures", c.Router.Breaker.Failures, 0, countLimit},
		{"router.breaker.successes", c.Router.Breaker.Successes, 1, countLimit},
		{"router.health.misses", c.Router.Health.Misses, 1, countLimit},
		{"router.health.hits", c.Router.Health.Hits, 1, countLimit},
		{"model.context_tokens_max", c.Model.ContextTokensMax, 2, tokensLimit},
		{"model.output_tokens", c.Model.OutputTokens, 1, tokensLimit},
		{"model.reasoning_tokens", c.Model.ReasoningTokens, 0, c.Model.OutputTokens},
	} {
		if n.value < n.min || n.value > n.max {
			return fmt.Errorf("%s: %d, want a whole number from %d to %d", n.field, n.value, n.min, n.max)
		}
	}
	return nil
}

func (c *Config) validDurations() error {
	const long = 10_000 * time.Hour
	for _, d := range []struct {
		field string
		value time.Duration
		max   time.Duration
	}{
		{"router.limit.queue_timeout", c.Router.Limit.QueueTimeout, long},
		{"router.request_timeout", c.Router.RequestTimeout, long},
		{"router.retry.backoff", c.Router.Retry.Backoff, time.Hour},
		{"router.retry.backoff_max", c.Router.Retry.BackoffMax, time.Hour},
		{"router.breaker.open", c.Router.Breaker.Open, long},
		{"router.health.every", c.Router.Health.Every, long},
		{"router.health.timeout", c.Router.Health.Timeout, long},
	} {
		if d.value < 0 || d.value > d.max {
			return fmt.Errorf("%s: %v, want a duration from 0s to %v", d.field, d.value, d.max)
		}
	}
	return nil
}

func (c *Config) validNumbers() error {
	for _, x := range []struct {
		field    string
		value    float64
		min, max float64
	}{
		{"router.limit.per_second", c.Router.Limit.PerSecond, 0, 1e6},
		{"router.balance_rel", c.Router.BalanceRel, 1, 1e6},
		{"router.retry.factor", c.Router.Retry.Factor, 1, 100},
		{"router.retry.jitter", c.Router.Retry.Jitter, 0, 1},
	} {
		if !(x.value >= x.min && x.value <= x.max) {
			return fmt.Errorf("%s: %v, want a number from %v to %v", x.field, x.value, x.min, x.max)
		}
	}
	return nil
}
