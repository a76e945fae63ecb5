package engine

import "example.com/wedge/harness/fault"

// acceptDecode takes a leg into the prealloc queue.
func (r *rank) acceptDecode(l *Leg) {
	if r.tooLong(l) {
		return
	}
	l.enter(StagePrealloc, r.e.now)
	r.cold.push(l)
	pair(l)
}

// preallocate reserves memory for the head of the prealloc queue, as long as it fits. Nobody overtakes
// a head that does not. While there are retracted legs there is no admission at all.
func (r *rank) preallocate() {
	if r.retracted.n > 0 {
		return
	}
	c := &r.e.cfg.Decode
	r.dropDead(&r.prealloc)
	for l := r.prealloc.head; l != nil && !r.slotsFull(); l = r.prealloc.head {
		if l.Job.PromptTokens+c.ReserveTokens > r.free()-r.kept(c.ReserveTokens) {
			return
		}
		l.unqueue()
		r.hold(l, l.Job.PromptTokens)
		l.enter(StageTransfer, r.e.now)
		r.sending.push(l)
		r.dropDead(&r.prealloc)
		if d := r.e.cfg.Transfer.WaitingTimeout; d > 0 {
			r.e.schedule(r.e.now.Add(d), &l.due)
		}
		p := l.mate
		if p == nil {
			continue // it has gone, which will be noticed in a while
		}
		p.rank.touch()
		p.due.remove()
		p.unqueue()
		p.rank.ready.push(p)
	}
}

// kept is the free memory that admission does not touch: a reserve for each leg that has been
// admitted, or what the neediest of the running ones would need if all others were retracted,
// whichever is more.
func (r *rank) kept(reserve int) int {
	c := &r.e.cfg.Decode
	kept := reserve * (r.batch.size + r.sending.n + r.landed.n + r.decodeWait.n + r.unifiedComputing())
	if kept >= c.ClipTokens { // nobody needs more than that beyond what it holds
		return kept
	}
	steps, _ := r.batch.at(r.e.now)
	held := int(r.batch.kvTokens(steps))
	for l := r.running.head; l != nil; l = l.behind {
		kept = max(kept, l.need(c)-held)
	}
	return kept
}

// unifiedComputing returns how many legs a unified engine has admitted whose prompts are being computed.
func (r *rank) unifiedComputing() int {
	if r.w.Kind == KindUnified {
		return r.computing.n
	}
	return 0
}

// waitingTimeout fails a leg whose transfer has not begun for too long.
func (r *rank) waitingTimeout(l *Leg) {
	if l.verdict != StageNone {
		return
	}
	r.counts.transferFailed++
	r.conclude(l, StageFailed, l.transferFailed(l.timedOut(r.e.cfg.Transfer.WaitingTimeout, "WaitingForInput")))
}

// lookAtTransfers lets legs wait for the batch whose memory has arrived, and ends those that it should
// have ended before. While there are retracted legs it does neither.
func (r *rank) lookAtTransfers() {
	if r.retracted.n > 0 {
		return
	}
	for _, q := range [...]*fifo{&r.cold, &r.prealloc, &r.sending, &r.landed} {
		for l := q.head; l != nil && r.deferred > 0; {
			next := l.behind
			if l.verdict != StageNone {
				r.end(l, l.verdict, l.verdictFailure)
			}
			l = next
		}
	}
	for l := r.landed.head; l != nil; l = r.landed.head {
		l.unqueue()
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
}

// fillBatch moves legs into the running batch while there is room, and returns whether it has moved any.
func (r *rank) fillBatch() (moved bool) {
	limit := r.runningMax()
	r.dropDead(&r.decodeWait)
	for l := r.decodeWait.head; l != nil && r.batch.size < limit; l = r.decodeWait.head {
		r.join(l)
		r.dropDead(&r.decodeWait)
		moved = true
	}
	return moved
}

// runningMax is how many legs the batch may have.
func (r *rank) runningMax() int {
	if r.w.serialized {
		return 1
	}
	return r.e.cfg.Decode.RunningMax
}

// join puts a leg into the batch. One that comes from prefill has its next token with that: prefill has
// made it.
func (r *rank) join(l *Leg) {
	first := !l.begun
	if first && l.fires(fault.Decode, fault.Drop) != nil {
		l.left = true // there is nobody that it would tell
		r.end(l, StageAborted, nil)
		return
	}
	l.unqueue()
	l.enter(StageDecode, r.e.now)
	if first {
		r.turns.took(l.arrived, r.e.now)
		l.hung = l.fires(fault.Decode, fault.Hang) != nil
		if f := l.fires(fault.Decode, fault.Slow); f != nil {
			l.factor = f.Factor
		}
	}
	if !l.hung && (first || l.computed == l.toCompute()) {
		if !first {
			l.gapMax = max(l.gapMax, r.e.now.Sub(l.madeAt))
		}
		l.made, l.madeAt, l.begun = l.made+1, r.e.now, true
		r.counts.decodeTokens++
	}
	if l.made < l.Job.OutputTokens {
		r.enterBatch(l)
	}
	if first && l.begun {
		r.e.notify(noticeFirst, l)
	}
	switch {
	case !l.inBatch:
		r.end(l, StageDone, nil)
	case l.atNext && l.begun:
		r.noticeLeft(l)
	}
}

// enterBatch moves a leg with its memory into the batch.
func (r *rank) enterBatch(l *Leg) {
	b := &r.batch
	b.settle(r.e.now)
	r.kv -= l.kvTokens
	l.kvTokens = 0
	l.inBatch = true
	r.running.push(l)
	if l.left {
		r.zombies++
	}
	if l.deserted {
		r.deserted.change(1, r.e.now)
	}
	if l.factor > 1 {
		r.slowed++
		r.setSpeed()
	}
	if l.hung {
		b.joinHung(l.Job.PromptTokens)
		return
	}
	b.join(l, l.Job.PromptTokens+l.made)
	l.stopAt = l.nextStop(l.made)
	b.stops.put(l.startStep+int64(l.stopAt-l.made), &l.stop)
}

// leaveBatch takes a leg out of the batch, with its memory. What it has made stays noted.
func (r *rank) leaveBatch(l *Leg) {
	b := &r.batch
	made, at := l.Made(r.e.now)
	l.gapMax = l.GapMax(r.e.now)
	b.settle(r.e.now)
	if l.hung {
		b.leaveHung(l.Job.PromptTokens)
	} else {
		b.leave(l, l.Job.PromptTokens+l.made)
		r.madeUntil = r.e.now
	}
	r.counts.decodeTokens += int64(made - l.made)
	l.made, l.madeAt = made, at
	l.inBatch = false
	l.unqueue()
	b.gaps.trim(&r.running)
	if l.left {
		r.zombies--
	}
	if l.deserted {
		r.deserted.change(-1, r.e.now)
	}
	if l.factor > 1 {
		r.slowed--
		r.setSpeed()
	}
}

// setSpeed makes the batch as slow as the slowest in it, and slower still if the engine is. It must be
// settled.
func (r *rank) setSpeed() {
	factor := 1.0
	if r.slowed > 0 {
		for l := r.running.head; l != nil; l = l.behind {
			factor = max(factor, l.factor)
		}
	}
	r.batch.setSpeed(&r.e.cfg.Decode, factor*max(1, r.w.stepFactor))
}
