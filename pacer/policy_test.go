package pacer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// TestClientsBackoff has the waits of clients in the field, as their sources have them.
func TestClientsBackoff(t *testing.T) {
	stainless := Policy{BackoffBase: seconds(0.5), BackoffMultiplier: 2, BackoffMax: seconds(8), Jitter: "minus25"}
	aws := Policy{BackoffBase: seconds(0.05), BackoffThrottledBase: seconds(1), BackoffMultiplier: 2, BackoffMax: seconds(20), Jitter: "full"}
	cenkalti := Policy{BackoffBase: seconds(0.5), BackoffMultiplier: 1.5, BackoffMax: seconds(60), Jitter: "plusminus50"}
	grpc := Policy{BackoffBase: seconds(1), BackoffMultiplier: 2, BackoffMax: seconds(120), Jitter: "plusminus20"}
	sglang := Policy{BackoffBase: seconds(0.05), BackoffMultiplier: 1.5, BackoffMax: seconds(30), Jitter: "factor", JitterFactor: 0.2}
	opencode := Policy{BackoffBase: seconds(2), BackoffMultiplier: 2, BackoffMax: seconds(30), Jitter: "plus25"}
	vercel := Policy{BackoffBase: seconds(2), BackoffMultiplier: 2, BackoffMax: seconds(3600), Jitter: "none"}
	retryable := Policy{BackoffBase: seconds(1), BackoffMultiplier: 2, BackoffMax: seconds(30), Jitter: "none"}
	for _, tc := range []struct {
		name      string
		policy    Policy
		n         int
		throttled bool
		lo, hi    float64 // seconds, of draws 0 and nearly 1
	}{
		{"openai, anthropic: min(8, 0.5·2^n)·U(0.75, 1]", stainless, 1, false, 0.375, 0.5},
		{"openai, anthropic", stainless, 2, true, 0.75, 1},
		{"openai, anthropic: capped", stainless, 6, false, 6, 8},
		{"aws: U(0,1)·min(0.05·2^i, 20)", aws, 1, false, 0, 0.05},
		{"aws: throttled", aws, 1, true, 0, 1},
		{"aws: throttled, capped", aws, 9, true, 0, 20},
		{"cenkalti: 0.5·1.5^n ± 50 %", cenkalti, 2, false, 0.375, 1.125},
		{"gRPC: U(0.8, 1.2)", grpc, 3, false, 3.2, 4.8},
		{"SGLang's gateway: 50 ms ×1.5 ± 20 %", sglang, 3, false, 0.09, 0.135},
		{"opencode: 2 s ×2, U(1, 1.25)", opencode, 5, false, 30, 37.5},
		{"Vercel's AI SDK: 2 s ×2", vercel, 2, false, 4, 4},
		{"go-retryablehttp: 1 to 30", retryable, 7, false, 30, 30},
	} {
		const nearlyOne = 1 - 1e-12
		lo, hi := tc.policy.Backoff(tc.n, 0, tc.throttled, 0), tc.policy.Backoff(tc.n, 0, tc.throttled, nearlyOne)
		if near := func(d time.Duration, want float64) bool { return (d - seconds(want)).Abs() <= time.Nanosecond*100 }; !near(lo, tc.lo) || !near(hi, tc.hi) {
			t.Errorf("%s: retry %d waits %v to %v, want %v s to %v s", tc.name, tc.n, lo, hi, tc.lo, tc.hi)
		}
	}
}

// TestRetryTable goes through what may be retried, by phase and by status.
func TestRetryTable(t *testing.T) {
	all := DefaultPolicy()
	all.RetryOn = []int{408, 409, 425, 429, 500, 502, 503, 504, 529}
	sdk := all
	sdk.RetryPhases = []RetryPhase{RetryBeforeHeaders}
	twice := all
	twice.RetryPhases = []RetryPhase{RetryBeforeHeaders, RetryBeforeContent}
	covered := all
	covered.Total, covered.TotalCoversBackoff = time.Hour, true
	for _, tc := range []struct {
		name   string
		policy Policy
		f      Failure
		want   Stop
	}{
		{"timeout before headers", sdk, Failure{Outcome: AttemptTimeout, Limit: LimitResponseHeader}, ""},
		{"timeout after headers", sdk, Failure{Outcome: AttemptTimeout, Limit: LimitIdle, Phase: RetryBeforeContent}, StopPhase},
		{"timeout after headers, allowed", twice, Failure{Outcome: AttemptTimeout, Limit: LimitIdle, Phase: RetryBeforeContent}, ""},
		{"timeout in the stream", twice, Failure{Outcome: AttemptTimeout, Limit: LimitIdle, Phase: RetryMidStream}, StopPhase},
		{"timeout in the stream, no table", all, Failure{Outcome: AttemptTimeout, Limit: LimitIdle, Phase: RetryMidStream}, ""},
		{"network before headers", sdk, Failure{Outcome: AttemptNetwork, Phase: RetryBeforeHeaders}, ""},
		{"network in the stream", sdk, Failure{Outcome: AttemptNetwork, Phase: RetryMidStream}, StopPhase},
		{"error event in the stream", sdk, Failure{Outcome: AttemptStatus, Status: 503, Phase: RetryMidStream}, StopPhase},
		{"error event in the stream, no table", all, Failure{Outcome: AttemptStatus, Status: 503, Phase: RetryMidStream}, ""},
		{"the caller leaves", all, Failure{Outcome: AttemptCanceled}, StopOutcome},
		{"a copy lost", all, Failure{Outcome: AttemptLost}, StopOutcome},
		{"total that covers the wait", covered, Failure{Outcome: AttemptTimeout, Limit: LimitTotal}, StopOutcome},
		{"another limit beside it", covered, Failure{Outcome: AttemptTimeout, Limit: LimitResponseHeader}, ""},
		{"the call's own time", all, Failure{Outcome: AttemptTimeout, Limit: LimitCallTotal}, StopOutcome},
		{"turned away", all, Failure{Outcome: AttemptRejected}, StopOutcome},
		{"shed", all, Failure{Outcome: AttemptShed}, StopOutcome},
	} {
		tc.f.Attempt = 1
		if got := tc.policy.Decide(tc.f, 0.5); got.Stop != tc.want || got.Again != (tc.want == "") {
			t.Errorf("%s: %+v, want %q", tc.name, got, tc.want)
		}
	}
	for status := 400; status < 600; status++ {
		got := all.Decide(Failure{Outcome: AttemptStatus, Status: status, Attempt: 1}, 0.5)
		if want := slices.Contains(all.RetryOn, status); got.Again != want {
			t.Errorf("status %d: %+v, want again: %v", status, got, want)
		}
	}
}

// TestValidateBlocks has what is refused in the newer fields.
func TestValidateBlocks(t *testing.T) {
	for _, tc := range []struct {
		change func(*Policy)
		want   string
	}{
		{func(p *Policy) { p.CallTotal = 5 }, "call_total: 5ns, want 0 (off) or a duration from 1ms to 720h0m0s"},
		{func(p *Policy) { p.WorkPerToken = -1 }, "work_per_token: -1ns, want 0 (off) or a duration up to 1h0m0s"},
		{func(p *Policy) { p.TotalCoversBackoff = true }, "total_covers_backoff: true without a total, want one"},
		{func(p *Policy) { p.DeadlineMargin = time.Second }, "deadline_margin: 1s without propagate_deadline, want 0 or both"},
		{func(p *Policy) { p.JitterFactor = 2 }, "jitter_factor: 2, want a number from 0 to 1"},
		{func(p *Policy) { p.BackoffThrottledBase = time.Hour }, "backoff_throttled_base: 1h0m0s, want at most backoff_max, which is 30s"},
		{func(p *Policy) { p.RetryPhases = []RetryPhase{"headers", "body"} }, `retry_phases[1]: "body", want one of headers, first_token, stream`},
		{func(p *Policy) { p.Partial = "resume" }, `partial: "resume", want one of restart, continue`},
		{func(p *Policy) { p.RetryAfterRule = "least" }, `retry_after_rule: "least", want one of replace, max, within`},
		{func(p *Policy) { p.Hedge.Share = 1 }, "hedge.after: 0s, want a duration, a quantile, or tied"},
		{func(p *Policy) { p.Hedge.After = time.Second }, "hedge.share: 0 without a retry_budget, want a share of the calls or a budget"},
		{func(p *Policy) { p.Hedge = Hedge{After: time.Second, Tied: true} }, "hedge.tied: true with after or quantile, want one of them"},
		{func(p *Policy) { p.Hedge = Hedge{Quantile: 1} }, "hedge.quantile: 1, want 0 (off) or a share below 1"},
		{func(p *Policy) { p.Hedge = Hedge{After: 5} }, "hedge.after: 5ns, want 0 (off) or a duration from 1ms"},
		{func(p *Policy) { p.Hedge = Hedge{Quantile: 0.5, Window: 5, MinSamples: 6} }, "hedge.min_samples: 6, want 0 (the default) or a number up to the window, which is 5"},
		{func(p *Policy) { p.Hedge = Hedge{Tied: true, Max: 11} }, "hedge.max: 11, want 0 (one) or a number up to 10"},
		{func(p *Policy) { p.Hedge = Hedge{Tied: true, On: "body"} }, `hedge.on: "body", want one of headers, first_token, answer`},
		{func(p *Policy) { p.Adaptive = []adaptive.Config{{Limit: "task"}} }, `adaptive[0].limit: found "task", want one of`},
		{func(p *Policy) {
			one := adaptive.Config{Limit: adaptive.LimitIdle, Rule: adaptive.RuleRTO}
			p.Adaptive = []adaptive.Config{one, one}
		}, "adaptive[1].limit: idle for the second time, want each limit once"},
		{func(p *Policy) { p.RetryBudget = admission.BudgetConfig{Rule: "some"} }, `retry_budget.rule: found "some", want`},
		{func(p *Policy) { p.Throttle = admission.ThrottleConfig{Rule: "some"} }, `throttle.rule: found "some", want`},
		{func(p *Policy) { p.Breaker = admission.BreakerConfig{Rule: "some"} }, `breaker.rule: found "some", want`},
	} {
		p := DefaultPolicy()
		tc.change(&p)
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line: %s", err, tc.want)
		}
	}
}

// TestYAMLBlocks reads the newer fields as a scenario file has them, and writes them again. What is off
// is not written.
func TestYAMLBlocks(t *testing.T) {
	const text = "total_covers_backoff: true\nwork_base: 1m0s\nwork_per_token: 28ms\ncall_total: 10m0s\n" +
		"adaptive:\n- limit: first_token\n  rule: quantile\n  quantile: 0.99\n  factor: 2.0\nround: 1h0m0s\ntask: 2h0m0s\n" +
		"retry_phases:\n- headers\n- first_token\nretry_hint: true\nretry_shed: true\npartial: continue\njitter_factor: 0.3\nbackoff_throttled_base: 1s\n" +
		"retry_after_rule: max\nretry_after_below: 1ms\nretry_budget:\n  rule: brooker\n  max_tokens: 5.0\nthrottle:\n  rule: sre\nbreaker:\n  rule: rate\n  probes: 3\n" +
		"hedge:\n  after: 30s\n  quantile: 0.95\n  \"on\": headers\n  max: 2\n  share: 0.05\npropagate_deadline: true\ndeadline_margin: 2s\n"
	var p Policy
	if err := yaml.UnmarshalWithOptions([]byte(text), &p, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if !strings.Contains(string(out), line) {
			t.Errorf("%q is missing from\n%s", line, out)
		}
	}
	plain, err := json.Marshal(DefaultPolicy())
	if fields := strings.Count(string(plain), `":`); err != nil || fields != 18 {
		t.Errorf("%v, %d fields, want 18 as long as the others are off: %s", err, fields, plain)
	}
}
