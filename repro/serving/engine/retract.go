package engine

import "net/http"

// memoryText is what an engine says of a request that has all of its memory and needs more.
const memoryText = "Out of memory even after retracting all other requests in the decode batch. Aborting the last request."

// retract takes legs out of the batch until the next step fits into the memory: those with the fewest
// tokens first, of these those with the longest prompt, of these the latest. One that is alone and
// does not fit fails.
func (r *rank) retract() {
	b := &r.batch
	if over := b.firstOver(int64(r.capacity() - r.kv)); over < 0 || b.endOf(over) > r.e.now {
		return
	}
	b.settle(r.e.now)
	if !b.atBoundary(r.e.now) {
		return
	}
	legs, gained := 0, 0
	for b.makers > 0 && b.kvTokens(b.steps) > int64(r.capacity()-r.kv) {
		l := r.victim()
		switch {
		case l.verdict != StageNone:
			r.end(l, l.verdict, l.verdictFailure)
			continue
		case b.makers == 1:
			r.end(l, StageFailed, newFailure(http.StatusInternalServerError, memoryText))
			continue
		}
		r.setAside(l)
		legs++
		gained += l.Job.PromptTokens + l.made
	}
	if legs > 0 {
		r.logRetraction(legs, gained)
	}
}

// victim returns the leg in the batch to be retracted first. The batch is at a boundary.
func (r *rank) victim() *Leg {
	var victim *Leg
	least := 0
	for l := r.running.tail; l != nil; l = l.ahead {
		made := l.made + int(r.batch.steps-l.startStep)
		if l.hung || victim != nil && (made > least || made == least && l.Job.PromptTokens <= victim.Job.PromptTokens) {
			continue
		}
		victim, least = l, made
	}
	return victim
}

// setAside takes a leg out of the batch for want of memory.
func (r *rank) setAside(l *Leg) {
	r.counts.retractedSum++
	r.leaveBatch(l)
	r.release(l)
	l.enter(StageRetracted, r.e.now)
	if !r.e.cfg.Decode.Recompute || r.w.Kind == KindDecode {
		r.retracted.push(l)
		return
	}
	l.computed = 0
	r.again++
	r.wait(l, r.e.cfg.Decode.Mixed) // vLLM puts it before all others, SGLang behind them
}

// resume brings legs back whose memory was copied aside, in their order, as long as they fit. Nobody
// overtakes a head that does not.
func (r *rank) resume() {
	c := &r.e.cfg.Decode
	for l := r.retracted.head; l != nil && !r.slotsFull(); l = r.retracted.head {
		// At least a token of memory for each, so that a step can be made before it runs out again.
		reserve := max(1, c.ReserveTokens)
		has := l.Job.PromptTokens + l.made
		need := has + reserve
		if r.w.Kind == KindUnified && r.inMemory() == 0 {
			need = has // nobody will make room; a decode engine lets it wait for ever all the same
		}
		if need > r.free()-r.kept(reserve) {
			return
		}
		l.unqueue()
		r.hold(l, has)
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
}
