package engine

import (
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Kind says what an engine does.
type Kind uint8

// The kinds of engine.
const (
	KindPrefill Kind = iota
	KindDecode
	KindUnified
)

// Job is what is asked of the engines, the same for all legs of a request. Its owner fills it in, and
// it must not change while a leg is at an engine.
type Job struct {
	PromptTokens int
	OutputTokens int // that the model will make, at least 1; known here, not to an engine's admission
	TokensMax    int // of output, that the client allows: what admission reckons with
	Stream       bool
	Room         int64 // what ties a prefill and a decode leg together
	// Occasion is the moment of the request at which a fault may fire, but for At and Worker, which the
	// engine fills in.
	Occasion fault.Occasion
}

// Leg is a request at one engine. The zero value, with the first group of fields set, can be handed to
// [Worker.Submit], once. All is guarded by the owner's monitor.
type Leg struct {
	Job   *Job
	Owner Owner
	// Peer is the other leg of a pair, and PeerAt the worker that this one takes it to be at. A
	// handshake comes about if the other leg is there, alive, and at the rank that is expected of it. A
	// nil Peer, or a PeerAt that is another worker than the peer's, never shakes hands.
	Peer   *Leg
	PeerAt *Worker
	// MarkTokens is the number of output tokens after which Owner.Marked is called; 0: never. It may
	// be changed until it is reached, in Marked also to a further one.
	MarkTokens int

	legState
}

// Owner is told of what happens to its legs, at the instant of it and with the monitor held. It may
// submit and abort legs in these calls, also the one that it is told about.
type Owner interface {
	// FirstToken says that a decode or unified leg has its first token: response headers are due.
	FirstToken(l *Leg)
	// Marked says that the leg has made MarkTokens tokens, and is not at its end with that.
	Marked(l *Leg)
	// Ended says that the leg has ended by itself: well if Failure is nil. A prefill leg ends well when
	// its KV memory has arrived at decode. It is not called for legs that were aborted with Abort.
	Ended(l *Leg)
}

// Failure is why a leg has failed, in the engine's words.
type Failure struct {
	Status  int    // HTTP status, which a leg without stream answers with
	Type    string // of the error event that a stream shows instead, such as "INTERNAL_SERVER_ERROR"
	Message string
}

// Stage is where a leg is.
type Stage uint8

// The stages, in the order that they are passed. The zero value is StageNone.
const (
	StageNone        Stage = iota // not submitted yet
	StageBootstrap                // prefill: waits for decode's handshake and memory, or a metadata slot
	StagePrealloc                 // decode: waits for the handshake, a slot, or memory
	StagePrefillWait              // prefill, unified: waits for its turn
	StagePrefill                  // prefill, unified: its prompt is being computed
	StageInflight                 // prefill: its memory is on its way
	StageTransfer                 // decode: memory reserved, KV not there yet
	StageDecodeWait               // decode, unified: waits for room in the running batch
	StageDecode                   // decode, unified: in the running batch
	StageRetracted                // decode, unified: was running, memory ran out
	StageDone
	StageFailed
	StageAborted // by its client
)

// Stage returns where the leg is, and since when.
func (l *Leg) Stage() (Stage, sim.Instant) { return l.stage, l.since }

// Failure returns why the leg has failed, or nil.
func (l *Leg) Failure() *Failure { return l.failure }

// Worker returns the worker that the leg was submitted to, and the index of its rank there.
func (l *Leg) Worker() (*Worker, int) { return l.worker, l.rank }

// legState is the engine's side of a leg.
type legState struct {
	stage   Stage
	since   sim.Instant
	failure *Failure
	worker  *Worker
	rank    int
}
