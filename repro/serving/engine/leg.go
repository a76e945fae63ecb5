package engine

import (
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
	StageAborted // by its client, or lost
	stageCount
)

// Stage returns where the leg is, and since when.
func (l *Leg) Stage() (Stage, sim.Instant) { return l.stage, l.since }

// Failure returns why the leg has failed, or nil.
func (l *Leg) Failure() *Failure { return l.failure }

// Worker returns the worker that the leg was submitted to, and the index of its rank there.
func (l *Leg) Worker() (*Worker, int) {
	if l.rank == nil {
		return nil, 0
	}
	return l.worker, l.rank.index
}

// Time returns how long the leg has been in a stage so far, without the time in it now.
func (l *Leg) Time(s Stage) time.Duration { return l.times[s] }

// Gone says whether the engine has forgotten the leg, so that its memory may be used for another.
func (l *Leg) Gone() bool {
	return l.ended() && l.timed.pos == 0 && l.leave.pos == 0 && l.stop.pos == 0 && l.queue == nil && !l.pinned
}

// legState is the engine's side of a leg.
type legState struct {
	stage   Stage
	since   sim.Instant
	times   [stageCount]time.Duration
	failure *Failure
	worker  *Worker
	rank    *rank
	arrived sim.Instant
	left    bool // its client has

	queue         *fifo // the one it waits in
	ahead, behind *Leg
	timed         node // end of the transfer, or release of a pinned entry, or loss of the peer
	leave         node // the engine notices that the client has left
	stop          node // in the batch

	slot     bool // holds a metadata slot of prefill, or a request slot of decode
	kvTokens int  // reserved, but for those in the running batch
	computed int  // tokens of the prompt
	deaf     bool // never shakes hands
	reserved bool // prefill: decode has reserved memory for it
	sending  bool // decode: the transfer has begun
	pinned   bool
	hung     bool // makes no tokens in the batch, or never ends its chunk or transfer
	doomed   bool // to be dropped when its prompt is computed
	begun    bool // has had its first token

	base      int   // tokens made when it joined the batch last
	startStep int64 // steps the batch had finished then
	factor    float64
	endTokens int // made, while it is not in the batch
	endLast   sim.Instant
}

// enter moves l to a stage.
func (l *Leg) enter(stage Stage, now sim.Instant) {
	l.times[l.stage] += now.Sub(l.since)
	l.stage, l.since = stage, now
}

// ended says whether the engine is done with l.
func (l *Leg) ended() bool { return l.stage >= StageDone }

// Made returns how many output tokens a leg has by now, and when the last of them was made.
func (l *Leg) Made(now sim.Instant) (tokens int, last sim.Instant) {
	if l.stage != StageDecode || l.hung {
		return l.endTokens, l.endLast
	}
	steps, boundary := l.rank.batch.at(now)
	if n := steps - l.startStep; n > 0 {
		return l.base + int(n), boundary
	}
	return l.base, l.endLast
}

// NextToken returns when the next token is due, as things stand, or sim.Never.
func (l *Leg) NextToken(now sim.Instant) sim.Instant {
	if l.stage != StageDecode || l.hung {
		return sim.Never
	}
	steps, _ := l.rank.batch.at(now)
	return l.rank.batch.endOf(max(steps, l.startStep) + 1)
}
