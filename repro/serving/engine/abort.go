package engine

import (
	"strings"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Abort says that whoever waits for the leg has left, or closed its connection. What becomes of it,
// and when, is the engine's affair (see [AbortConfig]); its owner is told nothing of it any more. It
// does nothing to a leg that has ended. Of a pair the prefill leg is to be aborted first: it fails,
// and is told so, when the decode leg has gone.
func (w *Worker) Abort(l *Leg) {
	l.mute = true
	if l.left || !l.alive() {
		return
	}
	r := l.rank
	r.touch()
	l.Desert()
	l.left = true
	if l.inBatch {
		r.zombies++
	}
	if at := r.noticesAt(l); at > w.e.now {
		w.e.schedule(at, &l.leave)
	} else {
		r.noticeLeft(l)
	}
	w.e.settle()
}

// noticesAt returns when an engine notices that the client of a leg has left, as of now. A leg whose
// client's leaving is noticed with a token remembers that.
func (r *rank) noticesAt(l *Leg) sim.Instant {
	c, now := &r.e.cfg.Abort, r.e.now
	if r.w.Kind != KindPrefill && l.fires(fault.Decode, fault.IgnoreAbort) != nil {
		return sim.Never
	}
	switch c.Detect {
	case DetectNever:
		return sim.Never
	case DetectNextToken:
		// A leg without stream, and one at prefill, is sent all in one.
		l.atNext = l.Job.Stream && r.w.Kind != KindPrefill
		if l.atNext && l.inBatch {
			return now
		}
		return sim.Never
	case DetectPoll:
		if l.begun && l.Job.Stream {
			return now.Add(c.Lag)
		}
		if c.Poll > 0 {
			return l.arrived.Add((now.Sub(l.arrived)/c.Poll + 1) * c.Poll)
		}
	}
	return now
}

// noticeLeft does to a leg what its engine does when it learns that nobody waits for it.
func (r *rank) noticeLeft(l *Leg) {
	c := &r.e.cfg.Abort
	switch {
	case l.pinned || l.verdict != StageNone:
		return // for the second time
	case c.ZombieDecode && l.begun && l.Job.Stream:
		r.log("Received output for rid='%s' but the state was deleted", l.Job.Occasion.Key)
		return
	case c.BootstrapDeaf && l.stage == StageBootstrap:
		return
	}
	r.counts.aborted++
	switch l.stage {
	case StageBootstrap:
		r.counts.bootstrapFailed++
		r.log("%s", l.failed("Prefill bootstrap failed", abortedText).Message)
	case StagePrealloc:
		r.counts.bootstrapFailed++
		r.log("%s", l.failed("Decode handshake failed", abortedText).Message)
	case StageInflight:
		if r.pin(l) {
			return
		}
		r.counts.transferFailed++
		r.log("%s", l.transferFailed(abortedText).Message)
	case StageTransfer:
		r.counts.transferFailed++
		r.log("%s", l.transferFailed(abortedText).Message)
	case StagePrefillWait:
		l.peerHeard = true // decode is not told
		if c.WaitingSlotLeak && r.w.Kind == KindPrefill {
			l.slot = false // it is never given back
		}
	}
	r.conclude(l, StageAborted, nil)
}

// AbortMatching is the endpoint /abort_request: it aborts all legs at once whose occasion keys begin
// with the prefix, and tells their owners with Ended and a Failure "Aborted by AbortReq.". What becomes
// of the legs is up to [AbortConfig] as with Abort, but for the detection. It returns how many.
func (w *Worker) AbortMatching(prefix string) int {
	var all []*Leg
	for l := w.oldest; l != nil; l = l.younger {
		if strings.HasPrefix(l.Job.Occasion.Key, prefix) {
			all = append(all, l)
		}
	}
	for _, l := range all {
		r := l.rank
		r.touch()
		l.Desert()
		l.leave.remove()
		if !l.left {
			l.failure = newFailure(500, abortedText)
			r.e.notify(noticeEnd, l)
			l.left = true
			if l.inBatch {
				r.zombies++
			}
		}
		r.noticeLeft(l)
	}
	w.e.settle()
	return len(all)
}
