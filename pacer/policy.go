package pacer

import (
	"fmt"
	"strings"
	"time"
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
	RetryAfterOwn  RetryAfterOver = "own"  // wait for the own backoff, as if nothing had been asked
	RetryAfterStop RetryAfterOver = "stop" // make no further attempt
)

// Policy says how long an attempt may take and what happens after it failed. It is the block
// `policy` of a scenario file. The zero value is refused, since it has no attempt; see
// [DefaultPolicy].
//
// Each limit belongs to one attempt. A limit of 0 is off, and waits as long as it takes.
type Policy struct {
	// Connect limits the time from the start of the attempt to its connection: pool and dial.
	Connect time.Duration `json:"connect_ns" yaml:"connect"`
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

	// MaxAttempts is how many attempts a call may make, the first included.
	MaxAttempts int `json:"max_attempts" yaml:"max_attempts"`
	// RetryTimeouts makes another attempt when a limit of this policy has ended one.
	RetryTimeouts bool `json:"retry_timeouts" yaml:"retry_timeouts"`
	// RetryNetwork makes another attempt after a failed connection, a reset or a body that broke off.
	RetryNetwork bool `json:"retry_network" yaml:"retry_network"`
	// RetryOn lists the HTTP statuses after which another attempt is made. It applies to error events
	// in a stream as well; one without a code counts as 500.
	RetryOn []int `json:"retry_on" yaml:"retry_on"`

	// BackoffBase is the wait before the second attempt, before jitter. 0: none.
	BackoffBase time.Duration `json:"backoff_base_ns" yaml:"backoff_base"`
	// BackoffMultiplier is by how much each further wait is longer, from 1 (always the same).
	BackoffMultiplier float64 `json:"backoff_multiplier" yaml:"backoff_multiplier"`
	// BackoffMax caps the wait, before jitter.
	BackoffMax time.Duration `json:"backoff_max_ns" yaml:"backoff_max"`
	// Jitter names the rule that spreads the wait. See [JitterRules].
	Jitter string `json:"jitter" yaml:"jitter"`
	// BackoffFloor is the least wait before another attempt, whatever the rules and the server say.
	BackoffFloor time.Duration `json:"backoff_floor_ns" yaml:"backoff_floor"`

	// RetryAfterMax is the longest wait that a server may ask for with Retry-After, which then
	// replaces the own backoff. 0: Retry-After is ignored.
	RetryAfterMax time.Duration `json:"retry_after_max_ns" yaml:"retry_after_max"`
	// RetryAfterOver says what to do when it asks for more.
	RetryAfterOver RetryAfterOver `json:"retry_after_over" yaml:"retry_after_over"`
	// RetryAfterJitter lengthens the wait that was asked for by up to this share, so that clients
	// that were told the same do not come back together. 0: none.
	RetryAfterJitter float64 `json:"retry_after_jitter" yaml:"retry_after_jitter"`
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

// Bounds of what is taken for meant. The least is there because a number without a unit is read as
// nanoseconds.
const (
	durationMin = time.Millisecond
	durationMax = 30 * 24 * time.Hour
	attemptsMax = 1000
)

// Validate says what is wrong with the policy in one line, or returns nil.
func (p Policy) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"connect", p.Connect}, {"response_header", p.ResponseHeader}, {"first_token", p.FirstToken},
		{"idle", p.Idle}, {"total", p.Total}, {"backoff_base", p.BackoffBase}, {"backoff_max", p.BackoffMax},
		{"backoff_floor", p.BackoffFloor}, {"retry_after_max", p.RetryAfterMax},
	} {
		if d.value != 0 && (d.value < durationMin || d.value > durationMax) {
			return fmt.Errorf("%s: %v, want 0 (off) or a duration from %v to %v", d.name, d.value, durationMin, durationMax)
		}
	}
	switch p.IdleBy {
	case IdleByToken, IdleByEvent, IdleByByte:
	default:
		return fmt.Errorf("idle_by: %q, want one of %s, %s, %s", p.IdleBy, IdleByToken, IdleByEvent, IdleByByte)
	}
	return p.validRetries()
}

func (p Policy) validRetries() error {
	if p.MaxAttempts < 1 || p.MaxAttempts > attemptsMax {
		return fmt.Errorf("max_attempts: %d, want a number from 1 to %d", p.MaxAttempts, attemptsMax)
	}
	for i, status := range p.RetryOn {
		if status < 400 || status > 599 {
			return fmt.Errorf("retry_on[%d]: %d, want an HTTP status from 400 to 599", i, status)
		}
	}
	const multiplierMax = 100
	if !(p.BackoffMultiplier >= 1 && p.BackoffMultiplier <= multiplierMax) {
		return fmt.Errorf("backoff_multiplier: %v, want a number from 1 to %d", p.BackoffMultiplier, multiplierMax)
	}
	if p.BackoffMax < p.BackoffBase {
		return fmt.Errorf("backoff_max: %v, want at least backoff_base, which is %v", p.BackoffMax, p.BackoffBase)
	}
	if _, ok := jitterOf(p.Jitter); !ok {
		return fmt.Errorf("jitter: %q, want one of %s", p.Jitter, strings.Join(JitterRules(), ", "))
	}
	switch p.RetryAfterOver {
	case RetryAfterClip, RetryAfterOwn, RetryAfterStop:
	default:
		return fmt.Errorf("retry_after_over: %q, want one of %s, %s, %s", p.RetryAfterOver, RetryAfterClip, RetryAfterOwn, RetryAfterStop)
	}
	const jitterMax = 10
	if !(p.RetryAfterJitter >= 0 && p.RetryAfterJitter <= jitterMax) {
		return fmt.Errorf("retry_after_jitter: %v, want a number from 0 to %d", p.RetryAfterJitter, jitterMax)
	}
	return nil
}
