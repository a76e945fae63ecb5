package engine

import (
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// legState is the engine's side of a leg.
type legState struct {
	stage   Stage
	since   sim.Instant
	times   [stageCount]time.Duration // in stages that it has left
	failure *Failure
	rank    *rank
	arrived sim.Instant
	mate    *Leg  // the other leg, from their handshake until one of them ends
	news    uint8 // notices for the owner that are on their way
	left    bool  // its client has: its owner is told nothing that happens from now on
	mute    bool  // nor what has happened

	older, younger *Leg  // at the worker
	queue          *fifo // the one it is in
	ahead, behind  *Leg
	due            node // end or limit of its stage
	lost           node // the engine notices that the mate has gone
	leave          node // the engine notices that the client has left
	stop           node // in the batch

	slot      bool // holds a metadata slot of prefill, or a request slot of decode
	kvTokens  int  // that it holds, but for those in the running batch
	computed  int  // tokens of the prompt
	asked     bool // the faults of prefill have been asked
	deaf      bool // never shakes hands
	hung      bool // never ends its chunk or transfer, or makes no tokens
	pinned    bool // an inflight entry without a request
	peerHeard bool // its mate will not hear of its end
	atNext    bool // its client's leaving is noticed with the next token

	// For the tally alone.
	spent      int  // prompt tokens that have been computed
	deserted   bool // its client has gone, whether the engine hears of it or not
	desertedAt int  // tokens that it had then

	// How it will end when the engine comes to it: at the end of the chunk or step under way, or when
	// it looks at its transfers again. StageNone: it will not.
	verdict        Stage
	verdictFailure *Failure

	inBatch   bool
	begun     bool          // has had its first token
	made      int           // tokens, without those since it has joined the batch
	madeAt    sim.Instant   // the last of them
	gapMax    time.Duration // the longest time between two of them: see GapMax
	startStep int64         // steps the batch had finished when it joined
	stopAt    int           // tokens that it will have at its stop
	factor    float64       // of the length of steps
}

// enter moves l to a stage.
func (l *Leg) enter(stage Stage, now sim.Instant) {
	l.times[l.stage] += now.Sub(l.since)
	l.stage, l.since = stage, now
}

// ended says whether the engine is done with l.
func (l *Leg) ended() bool { return l.stage >= StageDone }

// alive says whether an engine has l.
func (l *Leg) alive() bool { return l.stage > StageNone && l.stage < StageDone }

// toCompute is how much is to be computed before a token can be made: the prompt, and the tokens that
// a retracted request had.
func (l *Leg) toCompute() int { return l.Job.PromptTokens + l.made }

// uncomputed is how much of that is left.
func (l *Leg) uncomputed() int { return l.toCompute() - l.computed }

// need is the most memory that admission expects of l.
func (l *Leg) need(c *DecodeConfig) int {
	if l.Job.TokensMax > 0 && l.Job.TokensMax < c.ClipTokens {
		return l.Job.PromptTokens + l.Job.TokensMax
	}
	return l.Job.PromptTokens + c.ClipTokens
}

// fires asks the faults about l.
func (l *Leg) fires(where fault.Where, what fault.What) *fault.Fault {
	if l.rank.e.faults == nil {
		return nil
	}
	o := l.Job.Occasion
	o.At, o.Worker = l.rank.e.now, l.rank.w.Name
	return l.rank.e.faults.Fires(where, what, o)
}
