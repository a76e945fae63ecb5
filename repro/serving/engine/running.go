package engine

import "example.com/wedge/harness/sim"

// nextStop returns the number of tokens, more than the given one, at which something happens to l.
func (l *Leg) nextStop(tokens int) int {
	if l.MarkTokens > tokens && l.MarkTokens < l.Job.OutputTokens {
		return l.MarkTokens
	}
	return l.Job.OutputTokens
}

// Remark says that MarkTokens of a leg has been changed.
func (l *Leg) Remark() {
	if l.moveStop() {
		l.rank.e.settle()
	}
}

// moveStop moves the stop of a leg to where MarkTokens wants it, and returns whether that was
// somewhere else.
func (l *Leg) moveStop() bool {
	if !l.inBatch || l.hung || l.verdict != StageNone {
		return false
	}
	made, _ := l.Made(l.rank.e.now)
	stop := l.nextStop(made)
	if stop == l.stopAt {
		return false
	}
	l.rank.touch()
	l.stopAt = stop
	l.rank.batch.stops.put(l.startStep+int64(stop-l.made), &l.stop)
	return true
}

// endSteps deals with all legs whose stop has come.
func (r *rank) endSteps() {
	b := &r.batch
	if steps, n := b.stops.first(); n == nil || b.endOf(steps) > r.e.now {
		return
	}
	done, _ := b.at(r.e.now)
	for steps, n := b.stops.first(); n != nil && steps <= done; steps, n = b.stops.first() {
		l := n.leg
		made := l.made + int(max(0, steps-l.startStep))
		switch {
		case made >= l.Job.OutputTokens:
			r.end(l, StageDone, nil)
		case l.verdict != StageNone:
			r.end(l, l.verdict, l.verdictFailure)
		default:
			if made == l.MarkTokens {
				r.e.notify(noticeMark, l)
			}
			l.stopAt = l.nextStop(made)
			b.stops.put(l.startStep+int64(l.stopAt-l.made), n)
		}
	}
}

// scheduleBatch moves the agenda's entries to where the first stop is now, or to where memory runs out.
func (r *rank) scheduleBatch() {
	b := &r.batch
	at := sim.Never
	if steps, n := b.stops.first(); n != nil {
		at = b.endOf(steps)
	}
	if over := b.firstOver(int64(r.capacity() - r.kv)); over >= 0 {
		at = min(at, b.endOf(over))
	}
	if at != r.batchAt || r.batchNode.pos == 0 {
		r.batchAt = at
		r.e.schedule(at, &r.batchNode)
	}
	r.scheduleReport()
}
