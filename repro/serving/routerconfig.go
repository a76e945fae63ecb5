package serving

import "time"

// RouterConfig is the part of the router.
type RouterConfig struct {
	// QueuedMax is how many requests may wait or be in flight behind the router; the next one gets
	// HTTP status 503, as in the incident. 0: no limit, as in SGLang's router itself: see Limit.
	QueuedMax int `yaml:"queued_max" json:"queued_max"`
	// Limit is the router's own limiter.
	Limit LimitConfig `yaml:"limit" json:"limit"`

	// Policy chooses the worker of a request; PrefillPolicy and DecodePolicy do where they are set.
	Policy        Policy `yaml:"policy" json:"policy"`
	PrefillPolicy Policy `yaml:"prefill_policy" json:"prefill_policy"` // empty: Policy
	DecodePolicy  Policy `yaml:"decode_policy" json:"decode_policy"`   // empty: Policy
	// A load-aware policy takes the workers for out of balance if the largest load exceeds the
	// smallest by more than BalanceAbs requests and is more than BalanceRel times as large.
	BalanceAbs int     `yaml:"balance_abs" json:"balance_abs"`
	BalanceRel float64 `yaml:"balance_rel" json:"balance_rel"`

	Legs Legs `yaml:"legs" json:"legs"`
	// RequestTimeout ends an upstream call that has not been answered in full by then. 0: never.
	RequestTimeout time.Duration `yaml:"request_timeout" json:"request_timeout_ns"`
	// DropUpstream says when the router closes its calls after a client has left mid-stream.
	DropUpstream Drop `yaml:"drop_upstream" json:"drop_upstream"`

	// HonourDeadline refuses a request at once with 504 that says how much time its client has left, if
	// that is less than an answer is expected to take: its wait by how the queues have moved, and the usual
	// time from the first token on. No router does so today.
	HonourDeadline bool `yaml:"honour_deadline,omitzero" json:"honour_deadline,omitzero"`

	Retry   RetryConfig   `yaml:"retry" json:"retry"`
	Breaker BreakerConfig `yaml:"breaker" json:"breaker"`
	Health  HealthConfig  `yaml:"health" json:"health"`

	// LogMilliseconds gives the instants in the log milliseconds, as SGLANG_LOG_MS=1 does.
	LogMilliseconds bool       `yaml:"log_milliseconds" json:"log_milliseconds"`
	LogLatency      LogLatency `yaml:"log_latency" json:"log_latency"`
	LogJSON         bool       `yaml:"log_json" json:"log_json"` // --log-json
}

// LimitConfig is a bucket of tokens, of which a request takes one and gives it back when it has been
// answered; time puts tokens back too. A request without a token waits in a queue.
type LimitConfig struct {
	ConcurrentMax int           `yaml:"concurrent_max" json:"concurrent_max"`  // tokens in a full bucket (--max-concurrent-requests); 0: no limiter
	PerSecond     float64       `yaml:"per_second" json:"per_second"`          // tokens that time puts back; 0: ConcurrentMax of them
	QueueMax      int           `yaml:"queue_max" json:"queue_max"`            // the next one gets 429 with an empty body
	QueueTimeout  time.Duration `yaml:"queue_timeout" json:"queue_timeout_ns"` // after which a waiting one gets 408 with an empty body; 0: never
}

// Policy is a way of choosing a worker.
type Policy string

// The policies, by their names at SGLang's router. Bucket, PrefixHash, ConsistentHashing and CacheAware
// know a prompt by its conversation only: requests of one [Request.User] share a prefix, those without
// one share it with no other.
const (
	Random            Policy = "random"
	RoundRobin        Policy = "round_robin"
	PowerOfTwo        Policy = "power_of_two"       // the less loaded of two
	CacheAware        Policy = "cache_aware"        // where the conversation was last; for a new one where there are fewest; the least loaded if out of balance
	Bucket            Policy = "bucket"             // by the length of the prompt; the least loaded if out of balance
	Manual            Policy = "manual"             // a conversation stays where it was put at random
	ConsistentHashing Policy = "consistent_hashing" // by the conversation
	PrefixHash        Policy = "prefix_hash"        // by the conversation; the next worker if that one is out of balance
)

// Legs says how the router waits for the two legs of a request.
type Legs string

// The ways of waiting.
const (
	// PrefillFirst waits for the prefill leg, then for decode's headers; if prefill fails, it drops the
	// decode leg at once.
	PrefillFirst Legs = "prefill_first"
	// Join waits for both, so that a failure of prefill shows only when decode gives up too. It is how
	// the router was before #29017.
	Join Legs = "join"
)

// Drop says when the router closes its calls after a client has left mid-stream.
type Drop string

// The drops.
const (
	DropNow       Drop = "now"
	DropNextToken Drop = "next_token" // before #19524: when the next chunk cannot be passed on
)

// RetryConfig is how the router repeats a request that was answered with 408, 429, 500, 502, 503 or
// 504, each time with another pair of workers. The n-th wait is backoff·factor^(n-1), at most
// BackoffMax, give or take the share Jitter.
type RetryConfig struct {
	AttemptsMax int           `yaml:"attempts_max" json:"attempts_max"` // in total; 1: no retries
	Backoff     time.Duration `yaml:"backoff" json:"backoff_ns"`
	Factor      float64       `yaml:"factor" json:"factor"`
	BackoffMax  time.Duration `yaml:"backoff_max" json:"backoff_max_ns"`
	Jitter      float64       `yaml:"jitter" json:"jitter"` // 0 to 1
}

// BreakerConfig is the circuit breaker that the router has for each worker.
type BreakerConfig struct {
	Failures  int           `yaml:"failures" json:"failures"`   // in a row, that open it; 0: no breaker
	Open      time.Duration `yaml:"open" json:"open_ns"`        // how long it is open before it is half open
	Successes int           `yaml:"successes" json:"successes"` // in a row, that close it when it is half open
}

// HealthConfig is how the router checks its workers.
type HealthConfig struct {
	Every   time.Duration `yaml:"every" json:"every_ns"` // 0: no checks
	Timeout time.Duration `yaml:"timeout" json:"timeout_ns"`
	Misses  int           `yaml:"misses" json:"misses"` // in a row, that make a worker unhealthy
	Hits    int           `yaml:"hits" json:"hits"`     // in a row, that make it healthy again
}

// LogLatency is how the log writes a latency.
type LogLatency string

// The ways of writing a latency.
const (
	LatencyMicroseconds LogLatency = "us"   // whole microseconds, without a unit
	LatencyText         LogLatency = "text" // such as 1.254651s, as before #14658
)
