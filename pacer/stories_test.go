package pacer_test

import (
	"errors"
	"time"

	"example.com/wedge/pacer"
)

// Scripts that stories share.
var (
	refused = script{refuse: busy()}
	silent  = script{end: errHang}
	dripped = script{chunks: []chunk{say(0, "a"), say(1*s, "b"), say(1*s, "c"), say(1*s, "d"), {usage: 4}}}
)

const ms = time.Millisecond

var errReset = errors.New("reset")

// deadlineStories are about limits that look beyond one phase.
var deadlineStories = []story{
	{
		name:   "call_total counts the wait for a slot",
		policy: "call_total: 5s", slots: 1, starts: []time.Duration{0, 1 * s},
		scripts: map[string]script{"1": {headers: 3 * s, chunks: []chunk{say(1*s, "x")}}, "2": {headers: 1 * s, chunks: []chunk{say(2*s, "x")}}},
	},
	{
		name:   "call_total ends a later attempt, which is not retried",
		policy: "call_total: 10s\nidle: 3500ms\nbackoff_multiplier: 1", scripts: map[string]script{"": silent},
	},
	{
		name:   "call_total is over before the wait: no wait",
		policy: "call_total: 2500ms", scripts: map[string]script{"": refused},
	},
	{
		name:   "work_base and work_per_token allow for what is asked",
		policy: "work_base: 2s\nwork_per_token: 10ms\nmax_attempts: 2", tokensMax: 500, scripts: map[string]script{"": {chunks: []chunk{say(3*s, "a"), say(3*s, "b"), say(3*s, "c")}}},
	},
	{
		name:   "openai-go: RequestTimeout 200 ms, server silent: 1 attempt",
		policy: openaiGo + "total: 200ms\ntotal_covers_backoff: true", scripts: map[string]script{"": silent},
	},
	{
		name:   "openai-go: ResponseHeaderTimeout 200 ms, server silent: 3 attempts",
		policy: openaiGo + "response_header: 200ms", scripts: map[string]script{"": {headers: 9 * s}},
	},
	{
		name:   "openai-go: 503 at once, no limit: 3 attempts",
		policy: openaiGo, scripts: map[string]script{"": refused},
	},
	{
		name:   "openai-go: 503 at once, RequestTimeout 400 ms: 1 attempt",
		policy: openaiGo + "total: 400ms\ntotal_covers_backoff: true", scripts: map[string]script{"": refused},
	},
	{
		name:   "openai-go: a stream of 20 chunks at 50 ms, RequestTimeout 300 ms: cut",
		policy: openaiGo + "total: 300ms\ntotal_covers_backoff: true", scripts: map[string]script{"": steady(20, 50*ms)},
	},
	{
		name:   "openai-go: the same stream, ResponseHeaderTimeout 200 ms: all of it",
		policy: openaiGo + "response_header: 200ms", scripts: map[string]script{"": steady(20, 50*ms)},
	},
}

// openaiGo is how openai-go 3.99.0 retries.
const openaiGo = "backoff_base: 500ms\nbackoff_max: 8s\njitter: minus25\nretry_phases: [headers]\n"

// steady says so many words, each after a while.
func steady(words int, every time.Duration) script {
	sc := script{headers: 10 * ms}
	for range words {
		sc.chunks = append(sc.chunks, say(every, "w"))
	}
	return sc
}

func asking(status int, wait time.Duration) script {
	return script{refuse: &pacer.StatusError{Status: status, RetryAfter: wait, HasRetryAfter: true, Message: "busy"}}
}

func hinting(status int, again bool) script {
	return script{refuse: &pacer.StatusError{Status: status, ShouldRetry: again, HasShouldRetry: true, Message: "busy"}}
}

// retryStories are about what is retried, and after which wait.
var retryStories = []story{
	{
		name:   "retry_phases: headers: a stream that breaks off is not retried",
		policy: "retry_phases: [headers]", scripts: map[string]script{"": {chunks: []chunk{say(1*s, "x")}, end: errReset}},
	},
	{
		name:   "retry_phases: headers, first_token: one that breaks off before any output is",
		policy: "retry_phases: [headers, first_token]", scripts: map[string]script{"1.1": {end: errReset}, "": {chunks: []chunk{say(1*s, "x")}, end: errReset}},
	},
	{
		name:   "retry_hint obeys x-should-retry: true",
		policy: "retry_hint: true\nretry_on: []", scripts: map[string]script{"1.1": hinting(404, true)},
	},
	{
		name:   "retry_hint obeys x-should-retry: false",
		policy: "retry_hint: true", scripts: map[string]script{"1.1": hinting(503, false)},
	},
	{
		name:   "backoff_throttled_base: 429 waits longer than 503",
		policy: "backoff_base: 50ms\nbackoff_throttled_base: 1s\nbackoff_max: 20s", scripts: map[string]script{"1.1": refused, "1.2": {refuse: &pacer.StatusError{Status: 429}}},
	},
	{
		name:   "retry_after_rule: max keeps the own wait if that is longer",
		policy: "retry_after_rule: max\nbackoff_base: 10s", scripts: map[string]script{"1.1": asking(429, 2*s), "1.2": asking(429, 40*s)},
	},
	{
		name:   "retry_after_rule: within goes at most so far beyond the own wait",
		policy: "retry_after_rule: within\nretry_after_max: 5s", scripts: map[string]script{"1.1": asking(503, 0), "1.2": asking(503, 40*s)},
	},
	{
		name:   "retry_after_below: Retry-After 0 is no invitation",
		policy: "retry_after_below: 1ms", scripts: map[string]script{"1.1": asking(429, 0), "1.2": asking(429, 1*s)},
	},
	{
		name:   "backoff_floor: Retry-After 0 waits at least so long",
		policy: "backoff_floor: 200ms", scripts: map[string]script{"1.1": asking(429, 0)},
	},
	{
		name:   "retry_after_over: stop makes no further attempt",
		policy: "retry_after_over: stop\nretry_after_max: 120s", scripts: map[string]script{"1.1": asking(429, 600*s)},
	},
	{
		name:   "retry_after_jitter comes on top",
		policy: "retry_after_jitter: 0.5", scripts: map[string]script{"1.1": asking(429, 100*s)},
	},
}

// controlStories are about what is decided by what happened before.
var controlStories = []story{
	{
		name:   "retry_budget: brooker: two retries, then none",
		policy: "retry_budget: {rule: brooker, max_tokens: 2}", starts: []time.Duration{0, 10 * s, 20 * s}, scripts: map[string]script{"3.2": good, "": refused},
	},
	{
		name:   "retry_budget: aws: a timeout costs more than throttling",
		policy: "idle: 1s\nretry_budget: {rule: aws, max_capacity: 20, retry_cost: 14, throttling_retry_cost: 5}", starts: []time.Duration{0, 10 * s},
		scripts: map[string]script{"1": silent, "2": asking(429, 1*s)},
	},
	{
		name:   "retry_budget: failsafe is asked after the wait",
		policy: "retry_budget: {rule: failsafe, max_rate: 0.1, no_floor: true}", starts: []time.Duration{0, 500 * ms}, scripts: map[string]script{"1.1": {headers: 2 * s, refuse: busy()}, "2.1": {headers: 2 * s, refuse: busy()}},
	},
	{
		name:   "breaker: consecutive: two failures open it, a probe closes it",
		policy: "max_attempts: 1\nbreaker: {rule: consecutive, failure_threshold: 2, delay: 10s}",
		starts: []time.Duration{0, 1 * s, 2 * s, 12 * s, 20 * s}, scripts: map[string]script{"1": refused, "2": refused},
	},
	{
		name:   "breaker: judge_by first_token: a probe tells early",
		policy: "max_attempts: 1\nbreaker: {rule: consecutive, failure_threshold: 1, delay: 10s, judge_by: first_token}",
		starts: []time.Duration{0, 11 * s, 14 * s, 16 * s}, scripts: map[string]script{"1": refused, "2": {headers: 4 * s, chunks: []chunk{say(0, "a"), say(100*s, "b")}}},
	},
	{
		name:   "breaker: retry_only: first attempts pass",
		policy: "breaker: {rule: consecutive, failure_threshold: 2, delay: 100s, retry_only: true}", starts: []time.Duration{0, 20 * s}, scripts: map[string]script{"1": refused},
	},
	{
		name:   "retry_shed: what was turned away waits and tries again",
		policy: "retry_shed: true\nmax_attempts: 4\nbreaker: {rule: consecutive, failure_threshold: 1, delay: 3s}", slots: 1, scripts: map[string]script{"1.1": refused},
	},
	{
		name:   "throttle: sre: after failures only, the next is turned away",
		policy: "max_attempts: 1\nthrottle: {rule: sre, k: 1}", starts: []time.Duration{0, 1 * s, 2 * s, 3 * s, 4 * s}, scripts: map[string]script{"": refused},
	},
	{
		name:   "adaptive: first_token: twice what the healthy took, and twice that after a timeout",
		policy: "max_attempts: 2\nadaptive: [{limit: first_token, rule: quantile, quantile: 0.5, factor: 2, initial: 60s}]",
		starts: []time.Duration{0, 100 * s, 200 * s}, scripts: map[string]script{"1": {chunks: []chunk{say(3*s, "x")}}, "": {chunks: []chunk{say(20*s, "x")}}},
	},
	{
		name:   "adaptive: total, learnt from successes only, falls",
		policy: "max_attempts: 1\nadaptive: [{limit: total, rule: quantile, quantile: 0.5, factor: 1, success_only: true, no_double: true}]",
		starts: []time.Duration{0, 100 * s, 200 * s}, scripts: map[string]script{"1": {chunks: []chunk{say(3*s, "x")}}, "2": {chunks: []chunk{say(2*s, "x")}}, "3": {chunks: []chunk{say(3*s, "x")}}},
	},
	{
		name:   "adaptive: idle, from the longest silence of those that ended well",
		policy: "max_attempts: 1\nadaptive: [{limit: idle, rule: quantile, quantile: 0.9, factor: 3}]",
		starts: []time.Duration{0, 100 * s}, scripts: map[string]script{"1": {chunks: []chunk{say(0, "x"), say(1*s, "y"), say(2*s, "z")}}, "2": {chunks: []chunk{say(0, "x"), say(5*s, "y"), say(7*s, "z")}}},
	},
}
