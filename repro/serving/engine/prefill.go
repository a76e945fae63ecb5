package engine

import (
	"time"

	"example.com/wedge/harness/fault"
)

// acceptPrefill takes a leg into the bootstrap queue.
func (r *rank) acceptPrefill(l *Leg) {
	if r.tooLong(l) {
		return
	}
	l.enter(StageBootstrap, r.e.now)
	r.bootstrap.push(l)
	l.deaf = l.fires(fault.Bootstrap, fault.Hang) != nil
	if d := r.e.cfg.Prefill.BootstrapTimeout; d > 0 {
		r.e.schedule(r.e.now.Add(d), &l.due)
	}
	pair(l)
}

// takeReady lets legs wait for their turn that have memory at decode, as long as there are metadata
// slots, in the order that they have been given the memory in.
func (r *rank) takeReady() {
	for l := r.ready.head; l != nil && !r.slotsFull(); l = r.ready.head {
		l.unqueue()
		r.hold(l, 0)
		l.enter(StagePrefillWait, r.e.now)
		r.wait(l, false)
	}
}

// bootstrapTimeout fails a leg that has not heard of decode for too long.
func (r *rank) bootstrapTimeout(l *Leg) {
	r.counts.bootstrapFailed++
	r.end(l, StageFailed, l.failed("Prefill bootstrap failed", l.timedOut(r.e.cfg.Prefill.BootstrapTimeout, "Bootstrapping")))
}

// send sends the memory of a computed prompt to decode. If decode has gone and nobody has told, it
// waits for an answer that does not come.
func (r *rank) send(l *Leg) {
	l.unqueue()
	l.enter(StageInflight, r.e.now)
	r.inflight.push(l)
	hangs := l.fires(fault.Inflight, fault.Hang) != nil
	hangs = l.fires(fault.Transfer, fault.Hang) != nil || hangs
	status := l.fires(fault.Transfer, fault.Status)
	takes := r.e.cfg.Transfer.Latency + time.Duration(l.Job.PromptTokens)*r.e.cfg.Transfer.PerToken
	if f := l.fires(fault.Transfer, fault.Latency); f != nil {
		takes += f.Delay
	}
	switch {
	case status != nil:
		r.counts.transferFailed++
		f := l.transferFailed("Failed to send kv chunk")
		f.Status, f.Type = status.StatusCode, statusName(status.StatusCode)
		r.end(l, StageFailed, f)
	case !hangs && l.mate != nil:
		r.e.schedule(r.e.now.Add(takes), &l.due)
	}
}

// sent is the end of a leg whose memory has arrived at decode.
func (r *rank) sent(l *Leg) {
	d := l.mate
	r.end(l, StageDone, nil)
	d.rank.touch()
	d.unqueue()
	d.rank.landed.push(d)
}

// pin keeps the entry of an aborted leg in the inflight queue, with all that it holds, if the engine
// has that defect. It returns whether it has.
func (r *rank) pin(l *Leg) bool {
	releaseAfter := r.e.cfg.Abort.PinReleaseAfter
	if f := l.fires(fault.Inflight, fault.PinOnAbort); f != nil {
		releaseAfter = f.ReleaseAfter
	} else if !r.e.cfg.Abort.PinInflight {
		return false
	}
	l.pinned = true
	r.pinned++
	l.due.remove()
	if releaseAfter > 0 {
		r.e.schedule(r.e.now.Add(releaseAfter), &l.due)
	}
	return true
}

// unpin releases a pinned entry.
func (r *rank) unpin(l *Leg) {
	r.counts.transferFailed++
	r.end(l, StageFailed, l.transferFailed(abortedText))
}
