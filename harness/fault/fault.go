package fault

import "time"

// Where is the place of a fault.
type Where string

// The places.
const (
	Connection Where = "connection" // between the client and the router
	Router     Where = "router"
	Bootstrap  Where = "bootstrap" // the prefill engine's bootstrap queue
	Prefill    Where = "prefill"
	Inflight   Where = "inflight"
	Transfer   Where = "transfer"
	Decode     Where = "decode"
	Stream     Where = "stream"  // the answer on its way to the client
	Metrics    Where = "metrics" // what the engines show of themselves
	Tool       Where = "tool"
	Pacer      Where = "pacer"
	Harness    Where = "harness" // what passes between agents
)

// What is the kind of a fault.
type What string

// The kinds.
const (
	Latency    What = "latency"      // takes Delay longer
	Hang       What = "hang"         // never goes on; of a connection: it is half open, and bytes vanish
	Drop       What = "drop"         // is forgotten: nobody answers; at decode, the engine has lost the request
	Reset      What = "reset"        // the connection is reset
	Status     What = "status"       // is answered with StatusCode
	PinOnAbort What = "pin_on_abort" // an abort here never releases the entry (or after ReleaseAfter)
	Silence    What = "silence"      // after AfterTokens nothing more arrives; the servers have finished
	Reasoning  What = "reasoning"    // the first Delay of generation shows no event to the client
	LeakSlot   What = "leak_slot"    // a failed attempt's slot is never given back
	LockOrder  What = "lock_order"   // takes its two locks in the wrong order
	Unread     What = "unread"       // what the agent's tools print from here on, nobody reads

	// Of the harness, where sub-agents leave their results in mailboxes.
	LoseWakeup   What = "lose_wakeup"   // a result is there, and whoever waits for it is not woken
	SwallowError What = "swallow_error" // the error of a sub-agent is noted and dropped: its parent is not told

	// Of connections.
	Blackhole     What = "blackhole"      // the client's connection is dead from here on, with all that is on it or will be sent over it
	KeepAliveRace What = "keepalive_race" // the server closes the idle connection just as the request arrives
	Buffer        What = "buffer"         // a proxy holds the answer back until it is complete, or for Delay

	// Of the router.
	LoseReply What = "lose_reply" // the servers answer, the router passes nothing on
	Mispair   What = "mispair"    // the two legs are sent to workers that do not know of each other

	// Of the decode engine, where it is its steps, or the prefill engine, where it is its chunks.
	Throttle What = "throttle" // the engine takes Factor times as long for all that it begins while this is in force

	// Of the decode engine.
	Serialize   What = "serialize"    // runs a batch of one
	Slow        What = "slow"         // the steps of a batch that the request is in take Factor times as long
	IgnoreAbort What = "ignore_abort" // goes on generating for a client that has left
	StarveKV    What = "starve_kv"    // KVTokens of the memory are taken by something else

	// Of streams, after AfterTokens.
	Comments      What = "comments"        // only SSE comments arrive, one each Every
	Error         What = "error"           // an error event with StatusCode, then [DONE]
	Cut           What = "cut"             // the body ends, as if complete, without finish reason and [DONE]
	Malformed     What = "malformed"       // an event is no valid JSON
	TruncateCall  What = "truncate_call"   // the arguments of the tool call end early, and the answer as if well
	NoDone        What = "no_done"         // all arrives but [DONE]
	OpenAfterDone What = "open_after_done" // the body stays open after [DONE]
	NoUsage       What = "no_usage"        // the usage that was asked for does not arrive

	Freeze What = "freeze" // gauges keep the values they have
)

// Section is a part of an answer that AfterTokens counts from.
type Section string

// The sections. The zero value counts from the start of the answer.
const (
	InReasoning Section = "reasoning"
	InContent   Section = "content"
	InToolCall  Section = "tool_call"
)

// Fault is one thing that goes wrong. The zero value is not valid: it has no place.
type Fault struct {
	ID    string `json:"id" yaml:"id"`       // unique in the scenario, so that it can be named and dropped
	Where Where  `json:"where" yaml:"where"` // the place
	What  What   `json:"what" yaml:"what"`   // the kind

	// When it applies. All that are set must hold. Kinds that are about an engine as a whole
	// (serialize, starve_kv, throttle, freeze) know From, To and Worker only.
	Probability float64       `json:"probability,omitempty" yaml:"probability,omitempty"` // of each occasion, in (0, 1]; 0 means 1
	From        time.Duration `json:"from_ns,omitempty" yaml:"from,omitempty"`            // earliest instant of the run
	To          time.Duration `json:"to_ns,omitempty" yaml:"to,omitempty"`                // first instant after; 0: no end
	Nth         int           `json:"nth,omitempty" yaml:"nth,omitempty"`                 // only each n-th occasion at this place; 0: each one
	Only        int           `json:"only,omitempty" yaml:"only,omitempty"`               // only the n-th occasion; 0: any
	Times       int           `json:"times,omitempty" yaml:"times,omitempty"`             // at most so often; 0: no limit
	Round       int           `json:"round,omitempty" yaml:"round,omitempty"`             // only from this round on; 0: any
	ContextOver int           `json:"context_over_tokens,omitempty" yaml:"context_over_tokens,omitempty"`
	// ConcurrencyOver: only while the router has more requests than this. 0: any.
	ConcurrencyOver int  `json:"concurrency_over,omitempty" yaml:"concurrency_over,omitempty"`
	AfterAbort      bool `json:"after_abort,omitempty" yaml:"after_abort,omitempty"` // only once a client has left early
	// Agent: only the requests and tools of agents of this name, or of names like it: "agent-*.s*" are
	// sub-agents. Empty: any.
	Agent  string `json:"agent,omitempty" yaml:"agent,omitempty"`
	Header string `json:"header,omitempty" yaml:"header,omitempty"` // only requests with it: "Name" or "Name: value"; over HTTP only
	Tool   string `json:"tool,omitempty" yaml:"tool,omitempty"`     // only this tool; empty: any
	Worker string `json:"worker,omitempty" yaml:"worker,omitempty"` // only at this one, such as "decode-0"; empty: any

	// What it does.
	Delay        time.Duration `json:"delay_ns,omitempty" yaml:"delay,omitempty"`                 // of latency, reasoning and buffer
	AfterTokens  int           `json:"after_tokens,omitempty" yaml:"after_tokens,omitempty"`      // of what happens in the midst of a stream
	In           Section       `json:"in,omitempty" yaml:"in,omitempty"`                          // what after_tokens counts from; a fault in a section that an answer lacks does not fire
	Every        time.Duration `json:"every_ns,omitempty" yaml:"every,omitempty"`                 // of comments; 0: 15 s
	StatusCode   int           `json:"status,omitempty" yaml:"status,omitempty"`                  // of status and error: an HTTP status from 400 to 599
	RetryAfter   string        `json:"retry_after,omitempty" yaml:"retry_after,omitempty"`        // header of status; empty: absent
	ReleaseAfter time.Duration `json:"release_after_ns,omitempty" yaml:"release_after,omitempty"` // of pin_on_abort; 0: never
	Factor       float64       `json:"factor,omitempty" yaml:"factor,omitempty"`                  // of slow and throttle
	KVTokens     int           `json:"kv_tokens,omitempty" yaml:"kv_tokens,omitempty"`            // of starve_kv
}
