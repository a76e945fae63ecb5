package engine

// acceptUnified takes a leg into the waiting queue, unless that is full.
func (r *rank) acceptUnified(l *Leg) {
	c := &r.e.cfg.Decode
	if f := tooLong(l, c.KVTokens-1); f != nil {
		r.fail(l, f)
		return
	}
	if full(r.waiting.n, c.QueuedMax) {
		r.fail(l, &Failure{Status: 503, Type: typeUnavailable, Message: "The request queue is full."})
		return
	}
	l.enter(StagePrefillWait, r.e.now)
	r.pending += l.promptLeft()
	r.waiting.push(l)
}

// startUnifiedChunk begins a chunk between two steps of the running batch, which stands still until it
// is over. With mixed chunks each is followed by a step at least, so that the batch goes on.
func (r *rank) startUnifiedChunk() {
	if len(r.chunk) > 0 || r.partial == nil && r.waiting.n == 0 {
		return
	}
	b := &r.batch
	b.settle(r.e.now)
	from := b.anchor
	if r.e.cfg.Decode.Mixed && b.makers > 0 && b.steps <= r.chunkSteps {
		from = b.endOf(r.chunkSteps + 1)
	}
	if from > r.e.now {
		r.chunkNode.act = actChunkStart
		r.e.schedule(from, &r.chunkNode)
		return
	}
	left := r.e.cfg.Prefill.ChunkTokens
	if r.partial != nil {
		left -= r.take(r.partial, left)
	}
	for l := r.waiting.head; l != nil && left > 0 && r.admits(l); l = r.waiting.head {
		r.hold(l, l.promptTokens())
		l.slot = true
		r.decodeSlots++
		if r.begin(l) {
			left -= r.take(l, left)
		}
	}
	r.chunkNode.act = actChunk
	r.runChunk()
	if len(r.chunk) > 0 && b.size > 0 {
		r.chunkSteps = b.steps
		b.pause(r.e.now, min(spanLimit, r.chunkEnd.Sub(r.e.now)))
	}
}

// admits says whether a unified engine takes the head of its waiting queue.
func (r *rank) admits(l *Leg) bool {
	c := &r.e.cfg.Decode
	if full(r.decodeSlots, c.RequestsMax) || r.batch.size+r.decodeWait.n+r.computing.n >= c.RunningMax {
		return false
	}
	free := r.decodeFree()
	return min(l.promptTokens()+c.ReserveTokens, c.KVTokens) <= free-r.keptFree(free)
}
