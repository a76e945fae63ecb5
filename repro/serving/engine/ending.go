package engine

// end is the last that a rank has to do with a leg: it takes it out of wherever it is, with all that
// it holds, and has its owner and its mate told. It holds for each stage; see conclude for those in
// which an engine does not come to it at once. A failure is given for StageFailed only.
func (r *rank) end(l *Leg, stage Stage, f *Failure) {
	if l.left && stage == StageFailed {
		stage, f = StageAborted, nil
	}
	r.touch()
	was := l.stage
	r.takeOut(l)
	r.release(l)
	l.due.remove()
	l.lost.remove()
	l.leave.remove()
	if was == StageDecode && stage == StageDone {
		r.turns.finished(l.Time(StageDecode))
	}
	l.enter(stage, r.e.now)
	if f != nil {
		l.failure = f
		r.log("%s", f.Message)
	}
	r.w.unlist(l)
	if r.countLegs(-1); r.legs == 0 {
		r.since = r.e.now
	}
	if l.deserted {
		r.deserted.tokens += int64(l.made - l.desertedAt)
	}
	if r.e.onGone != nil {
		r.e.onGone(l)
	}
	r.part(l, was)
	r.e.notify(noticeEnd, l)
}

// takeOut takes a leg out of the queue, chunk or batch that it is in.
func (r *rank) takeOut(l *Leg) {
	if l.queue == &r.waiting {
		r.pending -= l.uncomputed()
	}
	if l.verdict != StageNone && (l.stage == StagePrealloc || l.stage == StageTransfer) {
		r.deferred--
	}
	switch {
	case l.stage == StageRetracted && l.queue == &r.waiting:
		r.again--
	case l.stage == StagePrefill:
		r.chunk.drop(l)
	case l.pinned:
		r.pinned--
	case l.inBatch:
		r.leaveBatch(l)
	}
	l.unqueue()
}

// conclude ends a leg as soon as the engine comes to it:
//
//	prefill             at the end of the chunk under way, or with abort.prompt_to_end of all chunks
//	prealloc, transfer  at once, unless there are retracted legs: then when it looks again
//	decode              after the step under way, or one more
//	otherwise           at once
func (r *rank) conclude(l *Leg, stage Stage, f *Failure) {
	if l.verdict != StageNone {
		return
	}
	r.touch()
	switch {
	case l.stage == StagePrefill && (len(r.chunk.shares) > 0 || r.e.cfg.Abort.PromptToEnd):
		l.verdict, l.verdictFailure = stage, f
		r.chunk.unhang(r, l)
	case (l.stage == StagePrealloc || l.stage == StageTransfer) && r.retracted.n > 0:
		l.verdict, l.verdictFailure = stage, f
		r.deferred++
	case l.inBatch && !l.hung:
		l.verdict, l.verdictFailure = stage, f
		b := &r.batch
		b.settle(r.e.now)
		stop := b.steps
		if b.atBoundary(r.e.now) || b.pending == 0 {
			stop++ // the next step is prepared already
		}
		b.stops.put(stop, &l.stop)
	default:
		r.end(l, stage, f)
	}
}

// part lets the mate of a leg that has ended, from a stage, know as much of it as it does.
func (r *rank) part(l *Leg, was Stage) {
	m := l.mate
	if m == nil {
		return
	}
	l.mate, m.mate = nil, nil
	if r.w.Kind == KindPrefill {
		if l.stage != StageDone && !l.peerHeard {
			m.rank.loseMate(m)
		}
		return
	}
	if was != StageTransfer {
		return // prefill has not heard of decode yet, and goes on waiting for it
	}
	if r.e.cfg.Abort.PeerNotTold {
		if !m.pinned {
			m.due.remove() // nobody is there to say that the memory has arrived
		}
		return
	}
	m.rank.touch()
	m.rank.abortedByPeer(m)
}

// abortedByPeer takes decode's message that it does not want a leg's memory any more.
func (r *rank) abortedByPeer(l *Leg) {
	switch {
	case l.pinned || l.verdict != StageNone:
		return
	case l.stage == StageInflight && r.pin(l):
		return
	case l.stage == StagePrefillWait && r.e.cfg.Abort.PromptToEnd:
		r.counts.transferFailed++
		l.verdict, l.verdictFailure = StageFailed, l.transferFailed(abortedText)
		return
	}
	r.counts.transferFailed++
	r.conclude(l, StageFailed, l.transferFailed(abortedText))
}
