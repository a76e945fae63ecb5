package engine

import (
	"fmt"
	"time"

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
	PromptTokens int         // at least 1
	CachedTokens int         // of the prompt, that need not be computed, fewer than all
	Deadline     sim.Instant // from which on nobody needs the answer; 0: there is none
	OutputTokens int         // that the model will make, at least 1; known here, not to an engine's admission
	TokensMax    int         // of output, that the client allows: what admission reckons with. 0: it does not say
	Stream       bool
	Room         int64 // what ties a prefill and a decode leg together
	// Occasion is the moment of the request at which a fault may fire, but for At and Worker, which the
	// engine fills in. Its key is the name of the request to the engine, and so also in its messages.
	Occasion fault.Occasion
}

// Leg is a request at one engine. The zero value, with the first group of fields set, can be handed to
// [Worker.Submit], once. All is guarded by the owner's monitor.
type Leg struct {
	Job   *Job
	Owner Owner // nil: nobody is told
	// Peer is the other leg of a pair, and PeerAt the worker that this one takes it to be at. A
	// handshake comes about if the other leg is there, alive, and at the rank that is expected of it. A
	// nil Peer, or a PeerAt that is another worker than the peer's, never shakes hands. The engines look
	// at Peer only when a leg is submitted.
	Peer   *Leg
	PeerAt *Worker
	// MarkTokens is the number of output tokens after which Owner.Marked is called; 0: never. It may be
	// changed in FirstToken, and in Marked to a further one. If it is changed at another time once the
	// leg is in the running batch, Remark must follow. One that has been passed is none.
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

// The stages, in the order that they are passed. The zero value is StageNone. Those from StageDone on
// are ends.
const (
	StageNone        Stage = iota // not submitted yet
	StageBootstrap                // prefill: waits for decode's handshake and memory, or a metadata slot
	StagePrealloc                 // decode: waits for the handshake, a slot, or memory
	StagePrefillWait              // prefill, unified: waits for its turn
	StagePrefill                  // prefill, unified: its prompt is being computed
	StageInflight                 // prefill: its memory is on its way
	StageTransfer                 // decode: memory reserved, KV not there yet, or not looked at
	StageDecodeWait               // decode, unified: waits for room in the running batch
	StageDecode                   // decode, unified: in the running batch
	StageRetracted                // decode, unified: was running, memory ran out
	StageDone
	StageFailed
	StageAborted // by its client, or whoever called the endpoint for it; or lost by a fault, and nobody is told
	stageCount
)

var stageNames = [stageCount]string{
	"none", "bootstrap", "prealloc", "prefill_wait", "prefill", "inflight", "transfer", "decode_wait", "decode", "retracted",
	"done", "failed", "aborted",
}

// String returns the stage's name.
func (s Stage) String() string {
	if s < stageCount {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// Stage returns where the leg is, and since when.
func (l *Leg) Stage() (Stage, sim.Instant) { return l.stage, l.since }

// Failure returns why the leg has failed, or nil.
func (l *Leg) Failure() *Failure { return l.failure }

// Worker returns the worker that the leg was submitted to, and the index of its rank there, or nil.
func (l *Leg) Worker() (*Worker, int) {
	if l.rank == nil {
		return nil, 0
	}
	return l.rank.w, l.rank.index
}

// Time returns how long the leg has been in a stage, the time in it up to now included.
func (l *Leg) Time(s Stage) time.Duration {
	d := l.times[s]
	if s == l.stage && !l.ended() && l.rank != nil {
		d += l.rank.e.now.Sub(l.since)
	}
	return d
}

// Gone says whether no engine knows the leg any more, so that its memory may be used for another. A
// leg that is aborted may stay for long: until it is noticed, or as a zombie to its end, or for ever
// as a pinned entry. It is gone when Ended is called, unless it was aborted through
// [Worker.AbortMatching].
func (l *Leg) Gone() bool { return l.news == 0 && (l.ended() || l.stage == StageNone) }

// Made returns how many output tokens a leg has by now, and when the last of them was made.
func (l *Leg) Made(now sim.Instant) (tokens int, last sim.Instant) {
	if !l.inBatch || l.hung {
		return l.made, l.madeAt
	}
	steps, boundary := l.rank.batch.at(now)
	if n := steps - l.startStep; n > 0 {
		return l.made + int(n), boundary
	}
	return l.made, l.madeAt
}

// NextToken returns when the next token is due, as things stand, or sim.Never.
func (l *Leg) NextToken(now sim.Instant) sim.Instant {
	if !l.inBatch || l.hung {
		return sim.Never
	}
	b := &l.rank.batch
	steps, _ := b.at(now)
	return b.endOf(max(steps, l.startStep) + 1)
}
