package engine

import (
	"fmt"
	"slices"
	"time"
)

// Bounds of what is taken for meant. They keep every product of a count and a duration that the
// engines form within 64 bits.
const (
	countLimit   = 100_000
	workersLimit = 1000
	tokensLimit  = 10_000_000
	kvLimit      = 1_000_000_000
)

// Default returns the engines of the incident (INCIDENT.md, I-1), with times fitted to its figures
// (I-8), and the timeouts and detections of SGLang's own defaults.
func Default() Config {
	return Config{
		Mode: PD,
		Prefill: PrefillConfig{
			Workers: 1, Ranks: 1, LoadBalance: FollowRoom,
			ChunkTokens:      8192,
			ChunkBase:        30 * time.Millisecond,
			PerToken:         165 * time.Microsecond,
			PerTokenPair:     time.Nanosecond,
			RequestsMax:      192,
			KVTokens:         2_000_000,
			BootstrapTimeout: 300 * time.Second,
		},
		Transfer: TransferConfig{Latency: 20 * time.Millisecond, PerToken: 2 * time.Microsecond, WaitingTimeout: 300 * time.Second},
		Decode: DecodeConfig{
			Workers: 1, Ranks: 1, LoadBalance: RoundRobin,
			RunningMax:          96,
			RequestsMax:         192,
			KVTokens:            4_000_000,
			ReserveTokens:       512,
			ClipTokens:          4096,
			StepBase:            19_500 * time.Microsecond,
			StepPerRequest:      970 * time.Microsecond,
			StepPerContextToken: 30 * time.Nanosecond,
		},
		Abort:  AbortConfig{Detect: DetectPoll, Poll: 4 * time.Second, Lag: 2 * time.Second},
		Gauges: GaugesConfig{EverySteps: 40, IdleEvery: 30 * time.Second},
	}
}

// Validate says what is wrong with the configuration in one line that starts with the field's path,
// or returns nil.
func (c *Config) Validate() error {
	if err := oneOf("mode", c.Mode, PD, Unified); err != nil {
		return err
	}
	for _, b := range []struct {
		field string
		value Balance
	}{{"prefill.load_balance", c.Prefill.LoadBalance}, {"decode.load_balance", c.Decode.LoadBalance}} {
		if err := oneOf(b.field, b.value, FollowRoom, RoundRobin); err != nil {
			return err
		}
	}
	if c.Abort.Detect != "" {
		if err := oneOf("abort.detect", c.Abort.Detect, DetectNow, DetectPoll, DetectNextToken, DetectNever); err != nil {
			return err
		}
	}
	if !(c.Prefill.CacheHit >= 0 && c.Prefill.CacheHit <= 1) {
		return fmt.Errorf("prefill.cache_hit: %v, want a number from 0 to 1", c.Prefill.CacheHit)
	}
	if err := c.validNumbers(); err != nil {
		return err
	}
	return c.validLengths()
}

func oneOf[T ~string](field string, value T, allowed ...T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	text := ""
	for i, a := range allowed {
		if i > 0 {
			text += ", "
		}
		text += string(a)
	}
	return fmt.Errorf("%s: %q, want one of %s", field, string(value), text)
}

func (c *Config) validNumbers() error {
	for _, n := range []struct {
		field string
		value int
		min   int
		max   int
	}{
		{"prefill.workers", c.Prefill.Workers, 1, workersLimit},
		{"prefill.ranks", c.Prefill.Ranks, 1, workersLimit},
		{"prefill.chunk_tokens", c.Prefill.ChunkTokens, 1, tokensLimit},
		{"prefill.requests_max", c.Prefill.RequestsMax, 0, countLimit},
		{"prefill.kv_tokens", c.Prefill.KVTokens, 1, kvLimit},
		{"decode.workers", c.Decode.Workers, 1, workersLimit},
		{"decode.ranks", c.Decode.Ranks, 1, workersLimit},
		{"decode.running_max", c.Decode.RunningMax, 1, countLimit},
		{"decode.requests_max", c.Decode.RequestsMax, 0, countLimit},
		{"decode.queued_max", c.Decode.QueuedMax, 0, countLimit},
		{"decode.kv_tokens", c.Decode.KVTokens, 2, kvLimit},
		{"decode.reserve_tokens", c.Decode.ReserveTokens, 0, tokensLimit},
		{"decode.clip_tokens", c.Decode.ClipTokens, 0, tokensLimit},
		{"gauges.every_steps", c.Gauges.EverySteps, 0, tokensLimit},
	} {
		if n.value < n.min || n.value > n.max {
			return fmt.Errorf("%s: %d, want a whole number from %d to %d", n.field, n.value, n.min, n.max)
		}
	}
	return nil
}

func (c *Config) validLengths() error {
	const day = 24 * time.Hour
	for _, d := range []struct {
		field string
		value time.Duration
		max   time.Duration
	}{
		{"prefill.chunk_base", c.Prefill.ChunkBase, time.Hour},
		{"prefill.per_token", c.Prefill.PerToken, time.Second},
		{"prefill.per_token_pair", c.Prefill.PerTokenPair, time.Millisecond},
		{"prefill.bootstrap_timeout", c.Prefill.BootstrapTimeout, day},
		{"transfer.latency", c.Transfer.Latency, time.Hour},
		{"transfer.per_token", c.Transfer.PerToken, time.Second},
		{"transfer.waiting_timeout", c.Transfer.WaitingTimeout, day},
		{"decode.step_base", c.Decode.StepBase, time.Hour},
		{"decode.step_per_request", c.Decode.StepPerRequest, time.Minute},
		{"decode.step_per_context_token", c.Decode.StepPerContextToken, time.Millisecond},
		{"abort.poll", c.Abort.Poll, day},
		{"abort.lag", c.Abort.Lag, day},
		{"abort.pin_release_after", c.Abort.PinReleaseAfter, day},
		{"gauges.idle_every", c.Gauges.IdleEvery, day},
	} {
		if d.value < 0 || d.value > d.max {
			return fmt.Errorf("%s: %v, want a duration from 0s to %v", d.field, d.value, d.max)
		}
	}
	return nil
}
