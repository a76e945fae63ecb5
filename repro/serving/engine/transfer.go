package engine

import (
	"fmt"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// toInflight sends the KV memory of a computed prompt to the decode engine.
func (r *rank) toInflight(l *Leg) {
	l.enter(StageInflight, r.e.now)
	r.inflight.push(l)
	hangs := l.fires(fault.Inflight, fault.Hang) != nil
	hangs = l.fires(fault.Transfer, fault.Hang) != nil || hangs
	status := l.fires(fault.Transfer, fault.Status)
	slow := l.fires(fault.Transfer, fault.Latency)
	d := l.Peer
	switch {
	case hangs || d == nil || d.stage != StageTransfer || d.Peer != l:
		return // there is nobody to send it to, and nobody tells
	case status != nil:
		r.transferFailed++
		r.fail(l, transferFailure(l, "Failed to send kv chunk"))
		return
	}
	takes := r.e.cfg.Transfer.Latency + time.Duration(l.Job.PromptTokens)*r.e.cfg.Transfer.PerToken
	if slow != nil {
		takes += slow.Delay
	}
	l.timed.act = actTransfer
	r.e.schedule(r.e.now.Add(takes), &l.timed)
}

// transferred frees the prefill engine's part. The decode engine has the data; it looks for it, and
// lets the leg wait for the running batch, unless it has retracted requests to care for.
func (r *rank) transferred(l *Leg) {
	d := l.Peer
	if d.stage != StageTransfer {
		return // it has gone, and nobody has told: the entry stays
	}
	l.unqueue()
	r.release(l)
	r.end(l, StageDone)
	r.e.notify(noticeEnd, l)
	d.rank.touch()
	d.unqueue()
	d.timed.remove()
	d.rank.landed.push(d)
}

// transferBegins says that the first chunk of the prompt has been sent.
func (l *Leg) transferBegins() {
	if l.stage != StageTransfer || l.sending {
		return
	}
	l.sending = true
	l.unqueue()
	l.rank.sending.push(l)
}

// dropFromInflight takes a leg out whose client has left during its transfer. A pinned entry stays
// behind with its slot and memory, until it is released, if ever.
func (r *rank) dropFromInflight(l *Leg) {
	c := &r.e.cfg.Abort
	f := l.fires(fault.Inflight, fault.PinOnAbort)
	r.aborted++
	if f == nil && !c.PinInflight {
		r.transferFailed++
		r.leaveStage(l)
		r.end(l, StageAborted)
		return
	}
	releaseAfter := c.PinReleaseAfter
	if f != nil {
		releaseAfter = f.ReleaseAfter
	}
	l.pinned = true
	r.pinnedEntries++
	l.timed.remove()
	r.end(l, StageAborted)
	if releaseAfter > 0 {
		l.timed.act = actUnpin
		r.e.schedule(r.e.now.Add(releaseAfter), &l.timed)
	}
}

// dropInflight releases a pinned entry.
func (r *rank) dropInflight(l *Leg) {
	l.pinned = false
	r.pinnedEntries--
	l.unqueue()
	r.release(l)
}

// peerLostAfter is how long a decode engine takes to notice that the prefill leg of a request has
// gone: between one and two heartbeats of 5 s (SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL).
const peerLostAfter = 6 * time.Second

// peerGone tells the other leg of a pair that l has ended without success, as far as engines do that.
func (r *rank) peerGone(l, p *Leg, stage Stage) {
	if p.ended() || p.Peer != l {
		return
	}
	if r.w.Kind == KindPrefill {
		if p.rank != nil && (p.stage == StageTransfer || p.stage == StagePrealloc && p.queue == &p.rank.prealloc) {
			p.timed.act = actPeerLost
			r.e.schedule(r.e.now.Add(peerLostAfter), &p.timed)
		}
		return
	}
	if stage == StageAborted && r.e.cfg.Abort.PeerNotTold || !p.reserved {
		return // an entry in bootstrap has not heard of decode, and so goes on waiting for it
	}
	p.rank.touch()
	p.rank.transferFailed++
	p.rank.fail(p, transferFailure(p, "Aborted by AbortReq."))
}

// transferFailure is the failure of a leg whose memory does not get across.
func transferFailure(l *Leg, why string) *Failure {
	side := "Decode"
	if l.worker.Kind == KindPrefill {
		side = "Prefill"
	}
	return &Failure{Status: 500, Type: typeInternal, Message: fmt.Sprintf(
		"%s transfer failed for request rank=%d req.rid='%s' req.bootstrap_room=%d with exception KVTransferError(bootstrap_room=%d): %s",
		side, l.rank.index, l.Job.Occasion.Key, l.Job.Room, l.Job.Room, why)}
}

// watchWaiting arms the timer of the decode leg that has waited longest for its transfer to begin.
func (r *rank) watchWaiting() {
	at := sim.Never
	if limit := r.e.cfg.Transfer.WaitingTimeout; limit > 0 && r.idle.head != nil {
		at = r.idle.head.since.Add(limit)
	}
	r.e.schedule(at, &r.waitNode)
}

// waitTimeout fails those that have waited too long.
func (r *rank) waitTimeout() {
	limit := r.e.cfg.Transfer.WaitingTimeout
	for l := r.idle.head; l != nil && r.e.now >= l.since.Add(limit); l = r.idle.head {
		r.transferFailed++
		r.fail(l, transferFailure(l, fmt.Sprintf("Request %d timed out after %.1fs in KVPoll.WaitingForInput", l.Job.Room, limit.Seconds())))
	}
}
