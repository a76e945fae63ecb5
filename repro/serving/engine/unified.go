package engine

import "net/http"

// acceptUnified takes a leg into the waiting queue, unless that is full.
func (r *rank) acceptUnified(l *Leg) {
	if r.tooLong(l) {
		return
	}
	if full(r.waiting.n, r.e.cfg.Decode.QueuedMax) {
		r.end(l, StageFailed, newFailure(http.StatusServiceUnavailable, "The request queue is full."))
		return
	}
	l.enter(StagePrefillWait, r.e.now)
	r.wait(l, false)
}

// startBetweenSteps starts the next chunk of a unified engine, if none is under way and anybody waits.
// It begins at the end of a step of the batch, which stands still until the chunk is done. With mixed
// chunks the batch makes a step meanwhile, and both take the time of both.
func (r *rank) startBetweenSteps() {
	c, b := &r.chunk, &r.batch
	if len(c.shares) > 0 || c.partial == nil && r.nextAdmitted() == nil {
		c.startNode.remove()
		return
	}
	b.settle(r.e.now)
	if b.size > 0 && !b.atBoundary(r.e.now) {
		r.e.schedule(b.anchor, &c.startNode)
		return
	}
	c.startNode.remove()
	r.gather((*rank).admit)
	if len(c.shares) == 0 {
		return
	}
	due := r.dueAfter(c.time(&r.e.cfg.Prefill, r.w.chunkFactor))
	switch {
	case b.size == 0:
	case r.e.cfg.Decode.Mixed:
		due = b.stretch(r.e.now, due.Sub(r.e.now))
	default:
		b.pause(r.e.now, due)
	}
	r.run(due)
}

// nextAdmitted returns the head of the waiting queue, if there is room for it.
func (r *rank) nextAdmitted() *Leg {
	r.dropDead(&r.waiting)
	c := &r.e.cfg.Decode
	l := r.waiting.head
	if l == nil || r.retracted.n > 0 || r.slotsFull() || r.inMemory() >= r.runningMax() {
		return nil
	}
	need := l.toCompute() + c.ReserveTokens
	if r.inMemory() == 0 {
		need = l.toCompute() // nobody will make room: it may have all
	}
	if need > r.free()-r.kept(c.ReserveTokens) {
		return nil
	}
	return l
}

// inMemory returns how many legs have been admitted and hold memory.
func (r *rank) inMemory() int { return r.batch.size + r.decodeWait.n + r.computing.n }

// admit takes the head of the waiting queue, with memory, if there is room for it.
func (r *rank) admit() *Leg {
	l := r.nextAdmitted()
	if l != nil {
		r.hold(l, l.toCompute())
	}
	return l
}
