package pacer

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Identity says whose call it is. It ends up in labels, journals and evidence.
type Identity struct {
	Agent string // such as "agent-07"
	Task  string // such as "task-07"
	Round int    // counted from 1
	Step  int    // counted from 1 within the round
	Call  int    // counted from 1 over the agent's life; 0: the pacer counts
}

// CallState is what a call looked like at one instant. All instants are the run's own clock.
type CallState struct {
	ID        string      `json:"id"` // such as "agent-07-c012"
	Agent     string      `json:"agent"`
	Task      string      `json:"task"`
	Round     int         `json:"round"`
	Step      int         `json:"step"`
	Stage     Stage       `json:"stage"`
	Since     sim.Instant `json:"since_ns"`   // start of the stage
	Started   sim.Instant `json:"started_ns"` // start of the call
	AttemptID string      `json:"attempt_id"` // of the latest attempt; empty before the first
	Attempts  int         `json:"attempts"`   // begun so far
	HoldsSlot bool        `json:"holds_slot"`
	// Beside is how many other attempts are under way: see Hedge.
	Beside int `json:"beside,omitempty"`
	// Behind is how many attempts have begun after that in AttemptID.
	Behind int `json:"behind,omitempty"`
	// Resumed says, during [Observer.StageChanged], that the call does not move on, but goes back to
	// an attempt that was beside it.
	Resumed bool `json:"-"`
	// PromptTokens is the length of what is asked, estimated from its text.
	PromptTokens int `json:"prompt_tokens,omitempty"`
	// Kept is how many tokens of earlier attempts the answer begins with: see Policy.Partial. If the
	// call fails, they are wasted after all.
	Kept int `json:"kept,omitempty"`
	// Of the current attempt. Each is set from the stage on that it begins; that stage, and not a 0,
	// says whether it has come.
	Sent       sim.Instant `json:"sent_ns,omitempty"`        // the request went out: stage headers
	Headers    sim.Instant `json:"headers_ns,omitempty"`     // the response headers came: stage first_token
	FirstToken sim.Instant `json:"first_token_ns,omitempty"` // the first output came: stage stream
	// Received by the current attempt:
	Tokens    int         `json:"tokens"`
	Bytes     int64       `json:"bytes"`
	Events    int         `json:"events"`
	LastByte  sim.Instant `json:"last_byte_ns"`  // 0: none yet
	LastToken sim.Instant `json:"last_token_ns"` // 0: none yet
	// Over all attempts so far:
	StageTime [StageCount]time.Duration `json:"stage_time_ns"` // indexed by Stage; without the stage under way
	LastError string                    `json:"last_error,omitempty"`
}

// Attempt returns the number of the attempt in AttemptID, counted from 1; 0 before the first.
func (s *CallState) Attempt() int { return s.Attempts - s.Behind }

// Attempt outcomes, as an Observer is told them.
const (
	AttemptOK       = "ok"
	AttemptTimeout  = "timeout"   // a time limit of the policy
	AttemptStatus   = "status"    // an error status, or an error event in the stream
	AttemptNetwork  = "network"   // no connection, reset, or a body that broke off
	AttemptCanceled = "cancelled" // the caller's context
	AttemptLost     = "lost"      // another attempt of the call was faster: see Hedge
	// Of attempts that were never sent:
	AttemptRejected = "rejected" // the policy's throttle or breaker turned it away
	AttemptShed     = "shed"     // the pacer's queue for slots did
)

// AttemptResult is how an attempt ended.
type AttemptResult struct {
	ID      string
	Outcome string // one of the Attempt constants
	Limit   string // which time limit fired, such as "idle"; empty otherwise
	Status  int    // HTTP status, if there was an answer
	Err     error  // nil when Outcome is AttemptOK
	Took    time.Duration
	Tokens  int // received, also when it failed: wasted then
	// Kept is how many of Tokens the next attempt goes on from, so that they are not wasted. If it is
	// below 0, what earlier ones had kept is wasted after all.
	Kept  int
	Again bool // another attempt follows
	Delay time.Duration
	Stop  Stop // why none follows; empty if the attempt went well
	Hedge bool // it had joined another one
	// Beside says that other attempts of the call are under way still: what becomes of the call is
	// for them to say.
	Beside bool
}

// Observer is told what happens to calls, at once and in order. Its methods are called with the
// monitor held and must not wait.
type Observer interface {
	// StageChanged says that the call is in a new stage since s.Since. The CallState is valid only
	// during the call.
	StageChanged(s *CallState, from Stage)
	AttemptEnded(s *CallState, r AttemptResult)
	// CallEnded comes last; err is nil for a completed call.
	CallEnded(s *CallState, tokens int, err error)
}
