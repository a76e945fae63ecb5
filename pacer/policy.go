package pacer

import (
	"time"

	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// IdleBy says what counts as progress for the idle limit.
type IdleBy string

// What may count as progress.
const (
	IdleByToken IdleBy = "token" // output, reasoning included
	IdleByEvent IdleBy = "event" // any SSE event with data, also one without output
	IdleByByte  IdleBy = "byte"  // anything at all, such as SSE comments
)

// RetryAfterOver says what to do when a server asks for a longer wait than RetryAfterMax.
type RetryAfterOver string

// What may be done then.
const (
	RetryAfterClip RetryAfterOver = "clip" // wait for RetryAfterMax
	RetryAfterOwn  RetryAfterOver = "own"  // wait for the own backoff, as if nothing had been asked, unless that is longer
	RetryAfterStop RetryAfterOver = "stop" // make no further attempt
)

// RetryAfterRule says how a wait that a server asks for and the own backoff go together.
type RetryAfterRule string

// The rules. The zero value is RetryAfterReplace.
const (
	RetryAfterReplace RetryAfterRule = "replace" // what the server asks for: openai's and anthropic's clients
	RetryAfterLonger  RetryAfterRule = "max"     // the longer of the two
	// RetryAfterWithin is what the server asks for, but not less than the own backoff, and not more
	// than RetryAfterMax longer than it: aws-sdk-go-v2 1.48.0, with 5 s.
	RetryAfterWithin RetryAfterRule = "within"
)

// RetryPhase is how far an attempt had come when it failed. A caller that leaves ends the call in
// every phase.
type RetryPhase string

// The phases.
const (
	RetryBeforeHeaders RetryPhase = "headers"     // no response headers yet, or an error status
	RetryBeforeContent RetryPhase = "first_token" // response headers, but no output
	RetryMidStream     RetryPhase = "stream"      // part of the answer has arrived
)

// Partial says what becomes of output that a failed attempt had received.
type Partial string

// What may become of it. The zero value is PartialRestart.
const (
	// PartialRestart drops it: the next attempt asks for all of it again. This is what clients do.
	PartialRestart Partial = "restart"
	// PartialContinue sends the text back as the beginning of the assistant's answer, and joins what
	// comes then to it. Tool calls and reasoning cannot be continued; an answer that had got to a tool
	// call, or to no text yet, is asked for again.
	PartialContinue Partial = "continue"
)

// Policy says how long an attempt may take and what happens after it failed. It is the block
// `policy` of a scenario file. The zero value is refused, since it has no attempt; see
// [DefaultPolicy].
//
// Unless it says otherwise, a limit belongs to one attempt. A limit of 0 is off, and waits as long as
// it takes. Blocks that are left out are off.
type Policy struct {
	// Preset names the policy that the others were taken from before anything was changed, as package
	// preset knows it. It is for readers, and changes nothing by itself. Empty: none.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`

	// Connect limits the time from the start of the attempt to its connection: pool and dial.
	Connect time.Duration `json:"connect_ns" yaml:"connect"`
	// Dial limits the time that it takes to make a connection, without the wait for room in a pool,
	// which most clients do not limit: net/http's dialer (30 s), httpx's connect timeout (5 s).
	Dial time.Duration `json:"dial_ns,omitempty" yaml:"dial,omitempty"`
	// ResponseHeader limits the time from the connection to the response headers. It says little
	// about servers that send headers before they queue.
	ResponseHeader time.Duration `json:"response_header_ns" yaml:"response_header"`
	// FirstToken limits the time from the connection to the first output, headers included, since
	// some servers send both together. Events without output do not count.
	FirstToken time.Duration `json:"first_token_ns" yaml:"first_token"`
	// Idle limits the silence between two signs of progress, once output has begun. It also covers
	// the silence between headers and first output if FirstToken is off.
	Idle time.Duration `json:"idle_ns" yaml:"idle"`
	// IdleBy says what counts as a sign of progress.
	IdleBy IdleBy `json:"idle_by" yaml:"idle_by"`
	// Total limits the whole attempt, from its start to the last byte.
	Total time.Duration `json:"total_ns" yaml:"total"`
	// TotalCoversBackoff lets Total run on through the wait after the attempt: when it is over before
	// the wait is, the call fails then. An attempt that Total has ended is not retried. This is what
	// openai-go 3.99.0 and anthropic-go 1.60.0 do with WithRequestTimeout.
	TotalCoversBackoff bool `json:"total_covers_backoff,omitzero" yaml:"total_covers_backoff,omitzero"`
	// WorkBase and WorkPerToken limit the whole attempt by what is asked of it: WorkBase plus
	// WorkPerToken for each output token that the request allows. Anthropic's clients take 3600 s for
	// 128,000 tokens. Both 0, or a request without such a bound: off.
	WorkBase     time.Duration `json:"work_base_ns,omitzero" yaml:"work_base,omitzero"`
	WorkPerToken time.Duration `json:"work_per_token_ns,omitzero" yaml:"work_per_token,omitzero"`
	// CallTotal limits a call with all its attempts and waits, as the deadline of a gRPC call does. A
	// retry that could only begin after it is not waited for.
	CallTotal time.Duration `json:"call_total_ns,omitzero" yaml:"call_total,omitzero"`
	// Adaptive learns limits from what was observed. One that has been learnt takes the place of the
	// field of the same name above for the attempts that begin from then on.
	Adaptive []adaptive.Config `json:"adaptive,omitzero" yaml:"adaptive,omitzero"`
	// Round limits a round of an agent, Task its whole task, with tools and waits. They stand here to
	// be compared with the others; whoever runs the agents keeps them.
	Round time.Duration `json:"round_ns,omitzero" yaml:"round,omitzero"`
	Task  time.Duration `json:"task_ns,omitzero" yaml:"task,omitzero"`

	// MaxAttempts is how many attempts a call may make, the first included. Those that join another
	// one do not count: see Hedge.
	MaxAttempts int `json:"max_attempts" yaml:"max_attempts"`
	// RetryTimeouts makes another attempt when a limit of this policy has ended one.
	RetryTimeouts bool `json:"retry_timeouts" yaml:"retry_timeouts"`
	// RetryNetwork makes another attempt after a failed connection, a reset or a body that broke off.
	RetryNetwork bool `json:"retry_network" yaml:"retry_network"`
	// RetryOn lists the HTTP statuses after which another attempt is made. It applies to error events
	// in a stream as well; one without a code counts as 500.
	RetryOn []int `json:"retry_on" yaml:"retry_on"`
	// RetryPhases are the phases in which a failed attempt may be followed by another one. Empty: all.
	// Clients that retry around the request, and not around the stream, have only headers.
	RetryPhases []RetryPhase `json:"retry_phases,omitzero" yaml:"retry_phases,omitzero"`
	// RetryHint obeys the header x-should-retry: true or false of an error status before RetryOn, as
	// openai's and anthropic's clients do.
	RetryHint bool `json:"retry_hint,omitzero" yaml:"retry_hint,omitzero"`
	// RetryShed makes another attempt after one that the pacer itself has turned away unsent: by its
	// throttle, its breaker or its queue.
	RetryShed bool `json:"retry_shed,omitzero" yaml:"retry_shed,omitzero"`
	// Partial says what becomes of what a failed attempt had received.
	Partial Partial `json:"partial,omitzero" yaml:"partial,omitzero"`

	// BackoffBase is the wait before the second attempt, before jitter. 0: none.
	BackoffBase time.Duration `json:"backoff_base_ns" yaml:"backoff_base"`
	// BackoffMultiplier is by how much each further wait is longer, from 1 (always the same).
	BackoffMultiplier float64 `json:"backoff_multiplier" yaml:"backoff_multiplier"`
	// BackoffMax caps the wait, before jitter.
	BackoffMax time.Duration `json:"backoff_max_ns" yaml:"backoff_max"`
	// Jitter names the rule that spreads the wait. See [JitterRules].
	Jitter string `json:"jitter" yaml:"jitter"`
	// JitterFactor is the f of the rule factor, which spreads a wait d over d·(1-f) to d·(1+f).
	JitterFactor float64 `json:"jitter_factor,omitzero" yaml:"jitter_factor,omitzero"`
	// BackoffThrottledBase takes the place of BackoffBase after a status 429: aws-sdk-go-v2 has 50 ms
	// for what passes and 1 s for throttling. 0: there is no difference.
	BackoffThrottledBase time.Duration `json:"backoff_throttled_base_ns,omitzero" yaml:"backoff_throttled_base,omitzero"`
	// BackoffFloor is the least wait before another attempt, whatever the rules and the server say.
	BackoffFloor time.Duration `json:"backoff_floor_ns" yaml:"backoff_floor"`

	// RetryAfterMax is the longest wait that a server may ask for with Retry-After. 0: Retry-After is
	// ignored.
	RetryAfterMax time.Duration `json:"retry_after_max_ns" yaml:"retry_after_max"`
	// RetryAfterRule says how such a wait and the own backoff go together.
	RetryAfterRule RetryAfterRule `json:"retry_after_rule,omitzero" yaml:"retry_after_rule,omitzero"`
	// RetryAfterBelow is the length from which on a wait is taken for meant: of less, such as 0, the
	// own backoff is kept. 0: any is.
	RetryAfterBelow time.Duration `json:"retry_after_below_ns,omitzero" yaml:"retry_after_below,omitzero"`
	// RetryAfterOver says what to do when it asks for more than RetryAfterMax.
	RetryAfterOver RetryAfterOver `json:"retry_after_over" yaml:"retry_after_over"`
	// RetryAfterJitter lengthens the wait that was asked for by up to this share, so that clients
	// that were told the same do not come back together. 0: none.
	RetryAfterJitter float64 `json:"retry_after_jitter" yaml:"retry_after_jitter"`

	// RetryBudget bounds retries and hedges over all calls of the pacer.
	RetryBudget admission.BudgetConfig `json:"retry_budget,omitzero" yaml:"retry_budget,omitzero"`
	// Throttle turns attempts away that would probably fail, Breaker all of them for a while, or all
	// retries. See RetryShed for what happens to the call.
	Throttle admission.ThrottleConfig `json:"throttle,omitzero" yaml:"throttle,omitzero"`
	Breaker  admission.BreakerConfig  `json:"breaker,omitzero" yaml:"breaker,omitzero"`
	// Hedge makes a second attempt while the first is under way.
	Hedge Hedge `json:"hedge,omitzero" yaml:"hedge,omitzero"`
	// PropagateDeadline tells the server with each attempt how much time is left of its limits, the
	// call's and the attempt's own, less DeadlineMargin for the way.
	PropagateDeadline bool          `json:"propagate_deadline,omitzero" yaml:"propagate_deadline,omitzero"`
	DeadlineMargin    time.Duration `json:"deadline_margin_ns,omitzero" yaml:"deadline_margin,omitzero"`
}

// DefaultPolicy returns no time limits, as most clients have none, and three attempts a second or
// so apart.
func DefaultPolicy() Policy {
	return Policy{
		IdleBy:            IdleByToken,
		MaxAttempts:       3,
		RetryTimeouts:     true,
		RetryNetwork:      true,
		RetryOn:           []int{408, 409, 429, 500, 502, 503, 504},
		BackoffBase:       time.Second,
		BackoffMultiplier: 2,
		BackoffMax:        30 * time.Second,
		Jitter:            "full",
		BackoffFloor:      100 * time.Millisecond,
		RetryAfterMax:     2 * time.Minute,
		RetryAfterOver:    RetryAfterClip,
		RetryAfterJitter:  0.1,
	}
}
