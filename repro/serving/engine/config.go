package engine

import "time"

// Mode says how the engines share the work.
type Mode string

// The modes.
const (
	PD      Mode = "pd"      // prefill and decode are engines of their own
	Unified Mode = "unified" // each engine does both
)

// Balance says how a worker chooses the rank of a request among its data-parallel ranks.
type Balance string

// The balances. With FollowRoom the rank is room % ranks, which is how a decode engine computes where
// the prefill engine has put a request: a prefill engine with another balance puts it somewhere else.
const (
	FollowRoom Balance = "follow_bootstrap_room"
	RoundRobin Balance = "round_robin"
)

// Config is what the engines are like.
type Config struct {
	Mode     Mode           `yaml:"mode" json:"mode"`
	Prefill  PrefillConfig  `yaml:"prefill" json:"prefill"`
	Transfer TransferConfig `yaml:"transfer" json:"transfer"`
	Decode   DecodeConfig   `yaml:"decode" json:"decode"`
	Abort    AbortConfig    `yaml:"abort" json:"abort"`
	Gauges   GaugesConfig   `yaml:"gauges" json:"gauges"`
}

// PrefillConfig is the part of a prefill engine. A chunk of n prompt tokens takes
//
//	chunk_base + n·per_token + pairs·per_token_pair
//
// where pairs counts each token of the chunk with each token before it in its prompt. With mode
// unified the chunk's numbers hold for each engine, and the others have no meaning.
type PrefillConfig struct {
	Workers      int           `yaml:"workers" json:"workers"`
	Ranks        int           `yaml:"ranks" json:"ranks"` // data-parallel, each with queues, slots and memory of its own
	LoadBalance  Balance       `yaml:"load_balance" json:"load_balance"`
	ChunkTokens  int           `yaml:"chunk_tokens" json:"chunk_tokens"` // at most in one chunk
	ChunkBase    time.Duration `yaml:"chunk_base" json:"chunk_base_ns"`
	PerToken     time.Duration `yaml:"per_token" json:"per_token_ns"`
	PerTokenPair time.Duration `yaml:"per_token_pair" json:"per_token_pair_ns"` // attention
	// RequestsMax is how many requests of a rank may be between bootstrap and the end of the transfer:
	// the metadata slots. 0: no limit.
	RequestsMax int `yaml:"requests_max" json:"requests_max"`
	// KVTokens is a rank's memory for prompts, held from a request's first chunk to the end of its transfer.
	KVTokens int `yaml:"kv_tokens" json:"kv_tokens"`
	// CacheHit is the share of a conversation up to its latest answer that need not be computed again, as
	// if it were in a prefix cache, from 0 to 1. One that is computed again because decode has run out of
	// memory finds nothing there. Coding agents have 0.96 over all their input (TraceLab). 0: no cache.
	CacheHit float64 `yaml:"cache_hit,omitzero" json:"cache_hit,omitzero"`
	// BootstrapTimeout fails a request that has waited so long in bootstrap, from its arrival
	// (SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT). 0: never.
	BootstrapTimeout time.Duration `yaml:"bootstrap_timeout" json:"bootstrap_timeout_ns"`
}

// TransferConfig is the way of the KV memory from prefill to decode. A prompt of n tokens takes
// latency + n·per_token; transfers do not hinder each other.
type TransferConfig struct {
	Latency  time.Duration `yaml:"latency" json:"latency_ns"`
	PerToken time.Duration `yaml:"per_token" json:"per_token_ns"`
	// WaitingTimeout fails a decode leg whose transfer has not begun so long after its memory was
	// reserved (SGLANG_DISAGGREGATION_WAITING_TIMEOUT). One that has begun has no limit, nor has the
	// prefill engine's inflight queue. 0: never.
	WaitingTimeout time.Duration `yaml:"waiting_timeout" json:"waiting_timeout_ns"`
}

// DecodeConfig is the part of a decode engine, or with mode unified of each engine. A step of a
// running batch of B requests, which makes a token of each, takes
//
//	step_base + B·step_per_request + context·step_per_context_token
//
// where context is the sum of the requests' prompt and output tokens before the step. A step takes a
// nanosecond at least.
type DecodeConfig struct {
	Workers     int     `yaml:"workers" json:"workers"`
	Ranks       int     `yaml:"ranks" json:"ranks"`
	LoadBalance Balance `yaml:"load_balance" json:"load_balance"`
	RunningMax  int     `yaml:"running_max" json:"running_max"` // requests in a rank's running batch
	// RequestsMax is how many requests of a rank may have memory reserved, from the end of prealloc to
	// their last token. 0: no limit.
	RequestsMax int `yaml:"requests_max" json:"requests_max"`
	// QueuedMax is how many requests may wait at a unified engine (--max-queued-requests); the next one
	// fails with 503. An engine of a pair ignores it, as the original does. 0: no limit.
	QueuedMax int `yaml:"queued_max" json:"queued_max"`
	// KVTokens is a rank's memory for prompts and outputs. It is taken for the prompt before prefill
	// and then token by token; ReserveTokens more must be free for each request that is admitted.
	KVTokens int `yaml:"kv_tokens" json:"kv_tokens"`
	// ReserveTokens is what admission keeps free for each request that has been admitted
	// (--num-reserved-decode-tokens), and ClipTokens the most that it expects one request to need for
	// its output (SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION).
	ReserveTokens       int           `yaml:"reserve_tokens" json:"reserve_tokens"`
	ClipTokens          int           `yaml:"clip_tokens" json:"clip_tokens"`
	StepBase            time.Duration `yaml:"step_base" json:"step_base_ns"`
	StepPerRequest      time.Duration `yaml:"step_per_request" json:"step_per_request_ns"`
	StepPerContextToken time.Duration `yaml:"step_per_context_token" json:"step_per_context_token_ns"`
	// Mixed lets a unified engine put chunks of prompts into the steps of its running batch, as vLLM
	// does; otherwise the batch stands still while a chunk is computed.
	Mixed bool `yaml:"mixed" json:"mixed"`
	// Recompute says what becomes of a request that is retracted when memory runs out: it is computed
	// again from its prompt on and has its tokens so far for one (vLLM's preemption, SGLang without the
	// split), or its memory is kept aside and copied back, as a decode engine of a pair always does.
	Recompute bool `yaml:"recompute" json:"recompute"`
}

// Detection says when an engine notices that the client of a request has left.
type Detection string

// The detections.
const (
	DetectNow       Detection = "now"        // at once
	DetectPoll      Detection = "poll"       // before the first token: every Poll since its arrival; after it: Lag later
	DetectNextToken Detection = "next_token" // when it would have been sent the next token; never before the first
	DetectNever     Detection = "never"
)

// AbortConfig says how an engine takes it that a client leaves. The zero value is an engine without
// the defects of its earlier versions that notices at once.
type AbortConfig struct {
	Detect Detection     `yaml:"detect" json:"detect"` // empty: now
	Poll   time.Duration `yaml:"poll" json:"poll_ns"`  // SGLANG_REQUEST_STATE_WAIT_TIMEOUT
	Lag    time.Duration `yaml:"lag" json:"lag_ns"`    // of the abort after a stream's client has left

	// DropDead has an engine look, when a request's turn has come for memory, for computation or for the
	// running batch, whether its client is still there and will be at the end of an answer of usual length,
	// if it has said for how long, and drop it if not. No engine does so today; it is the queue rule that
	// heals a metastable overload.
	DropDead bool `yaml:"drop_dead,omitzero" json:"drop_dead,omitzero"`

	// Defects of earlier versions, each with the change that has repaired it in SGLang.
	PinInflight     bool          `yaml:"pin_inflight" json:"pin_inflight"`           // an abort in the inflight queue never releases the entry (#24522)
	PinReleaseAfter time.Duration `yaml:"pin_release_after" json:"pin_release_ns"`    // a watchdog releases it after all; 0: never
	PeerNotTold     bool          `yaml:"peer_not_told" json:"peer_not_told"`         // an abort at decode before the transfer's end does not reach prefill, whose entry waits in inflight (#27372)
	BootstrapDeaf   bool          `yaml:"bootstrap_deaf" json:"bootstrap_deaf"`       // aborts do not reach the bootstrap queue (#8352)
	PromptToEnd     bool          `yaml:"prompt_to_end" json:"prompt_to_end"`         // the whole prompt of an aborted request is computed (#28086)
	WaitingSlotLeak bool          `yaml:"waiting_slot_leak" json:"waiting_slot_leak"` // an abort in the prefill engine's waiting queue leaks its metadata slot (#17483)
	ZombieDecode    bool          `yaml:"zombie_decode" json:"zombie_decode"`         // an abort after the first token is lost, and decode runs to the end (#34160)
}

// GaugesConfig says when the engines bring their gauges up to date: after each chunk, every so many
// decode steps, and, when an engine has nothing at all to do, at most so often. An engine with
// something stuck in a queue and nothing running does none of it: its gauges freeze.
type GaugesConfig struct {
	// Exact makes gauges true at each instant instead, which the originals' are not.
	Exact      bool          `yaml:"exact" json:"exact"`
	EverySteps int           `yaml:"every_steps" json:"every_steps"` // --decode-log-interval
	IdleEvery  time.Duration `yaml:"idle_every" json:"idle_every_ns"`
}
