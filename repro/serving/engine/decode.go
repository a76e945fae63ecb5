package engine

import (
	"example.com/wedge/harness/fault"
)

// acceptDecode takes a leg into the prealloc queue.
func (r *rank) acceptDecode(l *Leg) {
	if l.fires(fault.Decode, fault.Drop) != nil {
		l.stage, l.since = StageAborted, r.e.now // and nobody is told, not even its peer
		return
	}
	if f := tooLong(l, r.e.cfg.Decode.KVTokens-1); f != nil {
		r.fail(l, f)
		return
	}
	l.enter(StagePrealloc, r.e.now)
	r.cold.push(l)
	if p := l.Peer; p != nil && p.stage == StageBootstrap {
		handshake(p, l)
	}
}

// preallocate reserves memory for the head of the prealloc queue, as long as it fits. Nobody overtakes
// a head that does not. While there are retracted requests there is no admission at all.
func (r *rank) preallocate() {
	if r.retracted.n > 0 || r.prealloc.n == 0 {
		return
	}
	c := &r.e.cfg.Decode
	free := r.decodeFree()
	for l := r.prealloc.head; l != nil; l = r.prealloc.head {
		need := min(l.Job.PromptTokens+c.ReserveTokens, c.KVTokens)
		if full(r.decodeSlots, c.RequestsMax) || need > free-r.keptFree(free) {
			return
		}
		l.unqueue()
		l.timed.remove()
		r.hold(l, l.Job.PromptTokens)
		free -= l.Job.PromptTokens
		l.slot = true
		r.decodeSlots++
		l.enter(StageTransfer, r.e.now)
		r.idle.push(l)
		p := l.Peer
		p.rank.touch()
		p.unqueue()
		p.reserved = true
		p.rank.ready.push(p)
	}
}

// hold reserves memory for a leg that is not in the batch.
func (r *rank) hold(l *Leg, tokens int) {
	r.decodeKV += tokens - l.kvTokens
	l.kvTokens = tokens
	r.longestNeed = max(r.longestNeed, l.Job.PromptTokens+min(l.Job.TokensMax, r.e.cfg.Decode.ClipTokens))
}

// keptFree is what admission does not touch: some for each request that has been admitted, or what
// the neediest of the running ones would need if all others were retracted, whichever is more.
func (r *rank) keptFree(free int) int {
	c := &r.e.cfg.Decode
	kept := c.ReserveTokens * (r.batch.size + r.inTransfer() + r.decodeWait.n + r.computing.n)
	if r.batch.size == 0 || free-max(kept, r.longestNeed) > c.KVTokens/2 {
		return kept // there is plenty: no need to look closer
	}
	held, worst := int(r.batch.contextTokens(r.e.now)), 0
	for l := r.running.head; l != nil; l = l.behind {
		worst = max(worst, l.Job.PromptTokens+min(l.Job.TokensMax, c.ClipTokens)-held)
	}
	return max(kept, worst)
}

// joinBatch moves legs into the running batch while there is room, after it has looked for transfers
// that have come to their end.
func (r *rank) joinBatch() {
	if r.retracted.n == 0 {
		r.pollTransfers()
	}
	limit := r.e.cfg.Decode.RunningMax
	if r.e.faults != nil && r.e.faults.Active(fault.Decode, fault.Serialize, r.w.Name, r.e.now) != nil {
		limit = 1
	}
	for l := r.decodeWait.head; l != nil && r.batch.size < limit; l = r.decodeWait.head {
		l.unqueue()
		r.join(l)
	}
}

// pollTransfers lets legs wait for the batch whose memory has arrived.
func (r *rank) pollTransfers() {
	for l := r.landed.head; l != nil; l = r.landed.head {
		l.unqueue()
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
}

// join puts a leg into the batch. The first time it has its first token with that, which prefill has made.
func (r *rank) join(l *Leg) {
	now := r.e.now
	l.enter(StageDecode, now)
	r.running.push(l)
	r.batch.settle(now)
	r.decodeKV -= l.kvTokens
	l.kvTokens = 0
	first := !l.begun && l.endTokens == 0
	if first {
		l.hung = l.fires(fault.Decode, fault.Hang) != nil
	}
	if l.hung {
		r.batch.joinHung(l.Job.PromptTokens)
		return
	}
	if first {
		if f := l.fires(fault.Decode, fault.Slow); f != nil {
			l.factor = f.Factor
		}
		l.begun, l.endTokens, l.endLast = true, 1, now
		r.decodeTokens++
		r.e.notify(noticeFirst, l)
	}
	l.base = l.endTokens
	if l.base >= l.Job.OutputTokens {
		l.startStep = r.batch.steps
		r.batch.join(l, l.Job.PromptTokens+l.base, 1) // to be taken out again at once
		r.finish(l)
		return
	}
	if first && l.MarkTokens == 1 {
		r.e.notify(noticeMark, l)
	}
	r.batch.join(l, l.Job.PromptTokens+l.base, int64(l.nextStop(l.base)-l.base))
	r.setFactor()
}

// setFactor makes the batch as slow as the slowest in it.
func (r *rank) setFactor() {
	factor := 1.0
	if r.e.faults.Has(fault.Decode, fault.Slow) || r.batch.factor > 1 {
		for l := r.running.head; l != nil; l = l.behind {
			factor = max(factor, l.factor)
		}
	}
	if factor != r.batch.factor {
		r.batch.factor = factor
		r.batch.retime()
	}
}

// nextStop returns the number of tokens, more than the given one, at which something happens to l.
func (l *Leg) nextStop(tokens int) int {
	if l.MarkTokens > tokens && l.MarkTokens < l.Job.OutputTokens {
		return l.MarkTokens
	}
	return l.Job.OutputTokens
}

// Remark tells the engine that MarkTokens of a leg has been changed.
func (l *Leg) Remark() {
	if l.stage != StageDecode || l.hung {
		return
	}
	r := l.rank
	r.touch()
	r.batch.settle(r.e.now)
	made := l.base + int(r.batch.steps-l.startStep)
	r.batch.stops.put(l.startStep+int64(l.nextStop(made)-l.base), &l.stop)
	r.e.settle()
}

// batchStop deals with all legs whose stop has come, and with memory that has run out.
func (r *rank) batchStop() {
	b := &r.batch
	b.settle(r.e.now)
	for steps, n := b.stops.first(); n != nil && steps <= b.steps; steps, n = b.stops.first() {
		l := n.leg
		made := l.base + int(steps-l.startStep)
		if made >= l.Job.OutputTokens {
			r.finish(l)
			continue
		}
		if made == l.MarkTokens {
			r.e.notify(noticeMark, l)
		}
		b.stops.put(l.startStep+int64(l.nextStop(made)-l.base), n)
	}
	r.makeRoom()
}

// finish is the regular end of a leg.
func (r *rank) finish(l *Leg) {
	r.leaveStage(l)
	r.end(l, StageDone)
	r.e.notify(noticeEnd, l)
}

// leaveBatch takes a leg out of the batch; what it has made stays noted.
func (r *rank) leaveBatch(l *Leg) {
	r.batch.settle(r.e.now)
	if l.hung {
		r.batch.leaveHung(l.Job.PromptTokens)
		return
	}
	l.endTokens, l.endLast = l.Made(r.e.now)
	r.decodeTokens += int64(l.endTokens - l.base)
	r.batch.leave(l, l.Job.PromptTokens+l.base)
	l.unqueue()
	r.setFactor()
}

// scheduleStop moves the agenda's entry to where the first stop is now, or to where memory runs out.
func (r *rank) scheduleStop() {
	at := r.batch.nextStop()
	if r.batch.makers > 0 {
		free := int64(r.decodeCapacity()-r.decodeKV) - r.batch.context - r.batch.makers*r.batch.steps
		if short := r.batch.endOf(r.batch.steps + max(0, free)/r.batch.makers); short < at {
			at = max(short, r.e.now)
		}
	}
	if at != r.batchAt || r.batchNode.pos == 0 {
		r.batchAt = at
		r.e.schedule(at, &r.batchNode)
	}
}

// short says whether there is no room for another step.
func (r *rank) short() bool {
	b := &r.batch
	return b.makers > 0 && int64(r.decodeCapacity()-r.decodeKV)-b.context-b.makers*b.steps < b.makers
}

// makeRoom retracts legs until the next step fits: those with the fewest tokens first, then those with
// the longest prompt. One that is alone and does not fit fails.
func (r *rank) makeRoom() {
	if r.e.now < r.batch.anchor && !r.batch.paused {
		return // a step is under way
	}
	n, gained := 0, 0
	for r.short() {
		victim := r.victim()
		if r.batch.makers == 1 {
			r.fail(victim, &Failure{Status: 500, Type: typeInternal, Message: "Out of memory even after retracting all other requests in the decode batch."})
			break
		}
		n++
		gained += victim.Job.PromptTokens + victim.base + int(r.batch.steps-victim.startStep)
		r.retract(victim)
	}
	if n > 0 {
		r.logRetraction(n, gained)
	}
}

func (r *rank) victim() *Leg {
	var v *Leg
	least := 0
	for l := r.running.head; l != nil; l = l.behind {
		made := l.base + int(r.batch.steps-l.startStep)
		if l.hung || v != nil && (made > least || made == least && l.Job.PromptTokens <= v.Job.PromptTokens) {
			continue
		}
		v, least = l, made
	}
	return v
}

// retract takes a leg out of the batch for want of memory.
func (r *rank) retract(l *Leg) {
	r.leaveBatch(l)
	r.retractedSum++
	l.kvTokens = 0
	if r.e.cfg.Decode.Recompute {
		if l.slot {
			r.decodeSlots--
			l.slot = false
		}
		l.computed = 0
		l.enter(StagePrefillWait, r.e.now)
		r.pending += l.promptLeft()
		r.waiting.pushFront(l)
		return
	}
	l.enter(StageRetracted, r.e.now)
	r.retracted.push(l)
}

// resume brings retracted legs back, in their order, while there is room for them.
func (r *rank) resume() {
	if r.retracted.n == 0 {
		return
	}
	c := &r.e.cfg.Decode
	for l := r.retracted.head; l != nil; l = r.retracted.head {
		free := r.decodeFree()
		has := l.Job.PromptTokens + l.endTokens
		if min(has+c.ReserveTokens, c.KVTokens) > free-r.keptFree(free) {
			return
		}
		l.unqueue()
		r.hold(l, has)
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
	r.joinBatch()
}
