package serving

import (
	"fmt"
	"time"
)

// Config is what the servers are like: the block servers of a scenario file. The zero value is
// refused; start from [Default].
type Config struct {
	Router   RouterConfig   `yaml:"router" json:"router"`
	Prefill  PrefillConfig  `yaml:"prefill" json:"prefill"`
	Transfer TransferConfig `yaml:"transfer" json:"transfer"`
	Decode   DecodeConfig   `yaml:"decode" json:"decode"`
	Model    ModelConfig    `yaml:"model" json:"model"`
}

// RouterConfig is the part of the router.
type RouterConfig struct {
	// QueuedMax is how many requests may wait or be in flight behind the router; the next one gets
	// HTTP status 503. 0: no limit.
	QueuedMax int `yaml:"queued_max" json:"queued_max"`
	// LogMilliseconds gives the instants in the log milliseconds, as SGLANG_LOG_MS=1 does.
	LogMilliseconds bool `yaml:"log_milliseconds" json:"log_milliseconds"`
}

// PrefillConfig is the part of the prefill engine. A chunk of n prompt tokens takes
//
//	chunk_base + n·per_token + pairs·per_token_pair
//
// where pairs counts each token of the chunk with each token before it in its prompt.
type PrefillConfig struct {
	ChunkTokens  int           `yaml:"chunk_tokens" json:"chunk_tokens"` // at most in one chunk
	ChunkBase    time.Duration `yaml:"chunk_base" json:"chunk_base_ns"`
	PerToken     time.Duration `yaml:"per_token" json:"per_token_ns"`
	PerTokenPair time.Duration `yaml:"per_token_pair" json:"per_token_pair_ns"` // attention
	// RequestsMax is how many requests may be between bootstrap and the end of the transfer. 0: no
	// limit.
	RequestsMax int `yaml:"requests_max" json:"requests_max"`
	// KVTokens is the memory for prompts, held from a request's first chunk to the end of its transfer.
	KVTokens int `yaml:"kv_tokens" json:"kv_tokens"`
}

// TransferConfig is the way of the KV memory from prefill to decode. A prompt of n tokens takes
// latency + n·per_token; transfers do not hinder each other.
type TransferConfig struct {
	Latency  time.Duration `yaml:"latency" json:"latency_ns"`
	PerToken time.Duration `yaml:"per_token" json:"per_token_ns"`
}

// DecodeConfig is the part of the decode engine. A step of a running batch of B requests, which makes
// a token of each, takes
//
//	step_base + B·step_per_request + context·step_per_context_token
//
// where context is the sum of the requests' prompt and output tokens before the step. A step takes a
// nanosecond at least.
type DecodeConfig struct {
	RunningMax int `yaml:"running_max" json:"running_max"` // requests in the running batch
	// RequestsMax is how many requests may have reserved memory, from the end of bootstrap to their
	// last token. 0: no limit.
	RequestsMax int `yaml:"requests_max" json:"requests_max"`
	// KVTokens is the memory for prompts and outputs, reserved in full before prefill. A request that
	// would never fit reserves all of it.
	KVTokens            int           `yaml:"kv_tokens" json:"kv_tokens"`
	StepBase            time.Duration `yaml:"step_base" json:"step_base_ns"`
	StepPerRequest      time.Duration `yaml:"step_per_request" json:"step_per_request_ns"`
	StepPerContextToken time.Duration `yaml:"step_per_context_token" json:"step_per_context_token_ns"`
}

// ModelConfig is the part of the model.
type ModelConfig struct {
	ID               string `yaml:"id" json:"id"`
	ContextTokensMax int    `yaml:"context_tokens_max" json:"context_tokens_max"` // prompt and output
	// OutputTokens and ReasoningTokens are the length of an answer, and of the reasoning at its
	// start, where [Model] does not say otherwise.
	OutputTokens    int `yaml:"output_tokens" json:"output_tokens"`
	ReasoningTokens int `yaml:"reasoning_tokens" json:"reasoning_tokens"`
}

// Default returns the servers of the incident (I-1), with times fitted to its figures (I-8). The fit
// is printed by TestCalibration.
func Default() Config {
	return Config{
		Router: RouterConfig{QueuedMax: 32},
		Prefill: PrefillConfig{
			ChunkTokens:  8192,
			ChunkBase:    30 * time.Millisecond,
			PerToken:     165 * time.Microsecond,
			PerTokenPair: time.Nanosecond,
			RequestsMax:  192,
			KVTokens:     2_000_000,
		},
		Transfer: TransferConfig{Latency: 20 * time.Millisecond, PerToken: 2 * time.Microsecond},
		Decode: DecodeConfig{
			RunningMax:          96,
			RequestsMax:         192,
			KVTokens:            4_000_000,
			StepBase:            19_500 * time.Microsecond,
			StepPerRequest:      970 * time.Microsecond,
			StepPerContextToken: 30 * time.Nanosecond,
		},
		Model: ModelConfig{
			ID:               "simulated",
			ContextTokensMax: 262_144,
			OutputTokens:     3750,
			ReasoningTokens:  2800,
		},
	}
}

// Validate says what is wrong with the configuration in one line that starts with the field's path,
// or returns nil.
func (c *Config) Validate() error {
	for _, n := range []struct {
		field string
		value int
		min   int
		max   int
	}{
		{"router.queued_max", c.Router.QueuedMax, 0, countLimit},
		{"prefill.chunk_tokens", c.Prefill.ChunkTokens, 1, tokensLimit},
		{"prefill.requests_max", c.Prefill.RequestsMax, 0, countLimit},
		{"prefill.kv_tokens", c.Prefill.KVTokens, 1, kvLimit},
		{"decode.running_max", c.Decode.RunningMax, 1, countLimit},
		{"decode.requests_max", c.Decode.RequestsMax, 0, countLimit},
		{"decode.kv_tokens", c.Decode.KVTokens, 1, kvLimit},
		{"model.context_tokens_max", c.Model.ContextTokensMax, 2, tokensLimit},
		{"model.output_tokens", c.Model.OutputTokens, 1, tokensLimit},
		{"model.reasoning_tokens", c.Model.ReasoningTokens, 0, c.Model.OutputTokens},
	} {
		if n.value < n.min || n.value > n.max {
			return fmt.Errorf("%s: %d, want a whole number from %d to %d", n.field, n.value, n.min, n.max)
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
		max   time.Duration
	}{
		{"prefill.chunk_base", c.Prefill.ChunkBase, time.Hour},
		{"prefill.per_token", c.Prefill.PerToken, time.Second},
		{"prefill.per_token_pair", c.Prefill.PerTokenPair, time.Millisecond},
		{"transfer.latency", c.Transfer.Latency, time.Hour},
		{"transfer.per_token", c.Transfer.PerToken, time.Second},
		{"decode.step_base", c.Decode.StepBase, time.Hour},
		{"decode.step_per_request", c.Decode.StepPerRequest, time.Minute},
		{"decode.step_per_context_token", c.Decode.StepPerContextToken, time.Millisecond},
	} {
		if d.value < 0 || d.value > d.max {
			return fmt.Errorf("%s: %v, want a duration from 0s to %v", d.field, d.value, d.max)
		}
	}
	if c.Model.ID == "" {
		return fmt.Errorf("model.id: missing, want the name of the model, such as %q", Default().Model.ID)
	}
	return nil
}

// Bounds of what is taken for meant. They keep every product of a count and a duration that the
// engines form within 64 bits.
const (
	countLimit  = 100_000
	tokensLimit = 10_000_000
	kvLimit     = 1_000_000_000
)
