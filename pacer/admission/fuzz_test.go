package admission_test

import (
	"math"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// FuzzConfigs: what is taken for valid can be used: nothing breaks, no probability or level is not a
// number, and a budget's floor does not run over.
func FuzzConfigs(f *testing.F) {
	for _, text := range []string{
		"{}",
		"retry_budget: {rule: finagle, ttl: 720h, min_retries_per_sec: 1000000, percent_can_retry: 0.000001}",
		"retry_budget: {rule: aws, max_capacity: 90, retry_cost: 14}",
		"retry_budget: {rule: grpc, max_tokens: 4, token_ratio: 0.5}",
		"retry_budget: {rule: envoy, no_floor: true}",
		"throttle: {rule: envoy, sampling_window: 720h, aggression: 2}",
		"throttle: {rule: kratos, success: 0.5, request: 10}",
		"breaker: {rule: rate, probes: 3, probe_successes: 2, judge_by: first_token, late_counts: true}",
		"breaker: {rule: consecutive, retry_only: true, delay: 60s}",
	} {
		f.Add(text, int64(time.Minute))
	}
	f.Fuzz(func(t *testing.T, text string, pause int64) {
		var c block
		if yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()) != nil || c.validate() != nil {
			return
		}
		budget, throttle, breaker := admission.NewBudget(c.Budget), admission.NewThrottle(c.Throttle), admission.NewBreaker(c.Breaker)
		now := sim.Instant(0)
		for i := range 50 {
			now = now.Add(time.Duration(max(0, pause%int64(24*time.Hour))))
			ticket, ok := breaker.Allow(now, i%3 == 0)
			if !ok || throttle.Reject(now, 0.5) {
				continue
			}
			budget.Sent(now, admission.First)
			budget.Ended(now, admission.Result{Kind: admission.First, OK: i%4 == 0})
			throttle.Ended(now, i%4 == 0)
			breaker.Ended(now, ticket, i%4 == 0)
			if cost, ok := budget.MayRetry(now, admission.CauseTimeout, 1); ok {
				budget.Sent(now, admission.Retry)
				budget.Ended(now, admission.Result{Kind: admission.Retry, Cost: cost, OK: i%2 == 0})
			}
			budget.Closed(now)
			if p := throttle.Probability(now); !(p >= 0 && p <= 1) {
				t.Fatalf("%s: probability %v", text, p)
			}
			if l := budget.Level(now); math.IsNaN(l) || math.IsInf(l, 0) || l < 0 && !c.Budget.Off() {
				t.Fatalf("%s: level %v", text, l)
			}
		}
	})
}
