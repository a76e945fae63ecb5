package engine

import (
	"io"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Worker is an engine: one HTTP server with one or more data-parallel ranks.
type Worker struct {
	Name string
	Kind Kind

	e              *Engines
	balance        Balance
	ranks          []*rank
	turn           int  // of round_robin
	oldest, newest *Leg // all that it has, by arrival

	out    io.Writer // of the log; nil: there is none
	outErr error     // the first of writing it

	// Faults of the engine as a whole that are in force.
	serialized, frozen bool
	starved            int     // tokens of memory
	stepFactor         float64 // times as long as configured steps take; 0 stands for 1
	chunkFactor        float64 // the same of chunks
}

// rankFor chooses the rank of a request.
func (w *Worker) rankFor(room int64) *rank {
	if w.balance == FollowRoom {
		return w.rankOfRoom(room)
	}
	r := w.ranks[w.turn]
	w.turn = (w.turn + 1) % len(w.ranks)
	return r
}

// rankOfRoom is the rank with FollowRoom.
func (w *Worker) rankOfRoom(room int64) *rank { return w.ranks[uint64(room)%uint64(len(w.ranks))] }

// Submit hands a leg to the worker.
func (w *Worker) Submit(l *Leg) {
	r := w.rankFor(l.Job.Room)
	r.touch()
	l.rank, l.arrived, l.since = r, w.e.now, w.e.now
	l.due = node{act: actDue, leg: l}
	l.lost = node{act: actLost, leg: l}
	l.leave = node{act: actLeave, leg: l}
	l.stop.leg = l
	l.factor = 1
	if w.Kind != KindDecode {
		l.computed = l.Job.CachedTokens
	}
	w.list(l)
	r.countLegs(1)
	switch w.Kind {
	case KindPrefill:
		r.acceptPrefill(l)
	case KindDecode:
		r.acceptDecode(l)
	case KindUnified:
		r.acceptUnified(l)
	}
	w.e.settle()
}

// list puts a leg among those that the worker has.
func (w *Worker) list(l *Leg) {
	l.older = w.newest
	if w.newest != nil {
		w.newest.younger = l
	} else {
		w.oldest = l
	}
	w.newest = l
}

// unlist is the opposite of list.
func (w *Worker) unlist(l *Leg) {
	if l.older != nil {
		l.older.younger = l.younger
	} else {
		w.oldest = l.younger
	}
	if l.younger != nil {
		l.younger.older = l.older
	} else {
		w.newest = l.older
	}
	l.older, l.younger = nil, nil
}

// due does what is due at the end of a leg's stage, or at its limit.
func (r *rank) due(l *Leg) {
	switch {
	case l.pinned:
		r.unpin(l)
	case l.stage == StageInflight:
		r.sent(l)
	case l.stage == StageBootstrap:
		r.bootstrapTimeout(l)
	default:
		r.waitingTimeout(l)
	}
}

// Ranks returns how many ranks the worker has.
func (w *Worker) Ranks() int { return len(w.ranks) }

// healthTimeout is how long /health waits for a sign of life of the engine (SGLANG_HEALTH_CHECK_TIMEOUT).
const healthTimeout = 20 * time.Second

// Healthy says what the worker's /health answers, and how long it takes: it waits until one of its
// ranks has done the chunk or step under way, for 20 s at most; then the answer is 503. A rank that
// has nothing under way answers at once, however stuck its queues are.
func (w *Worker) Healthy() (ok bool, after time.Duration) {
	after = healthTimeout
	for _, r := range w.ranks {
		after = min(after, r.busyUntil().Sub(w.e.now))
	}
	return after < healthTimeout, after
}

// busyUntil returns when what is under way at the rank ends.
func (r *rank) busyUntil() sim.Instant {
	switch {
	case len(r.chunk.shares) > 0:
		return r.chunk.due
	case r.batch.size > 0:
		steps, _ := r.batch.at(r.e.now)
		return r.batch.endOf(steps + 1)
	}
	return r.e.now
}

// Refresh is to be called when faults have come or gone.
func (e *Engines) Refresh() {
	for _, w := range e.all {
		for _, r := range w.ranks {
			r.touch()
		}
		w.refresh()
	}
	e.schedule(e.faults.NextBoundary(e.now), &e.boundary)
	e.settle()
}

// refresh looks which faults of engines as a whole are in force.
func (w *Worker) refresh() {
	active := func(where fault.Where, what fault.What) *fault.Fault {
		return w.e.faults.Active(where, what, w.Name, w.e.now)
	}
	w.serialized = active(fault.Decode, fault.Serialize) != nil
	w.starved = 0
	if f := active(fault.Decode, fault.StarveKV); f != nil {
		w.starved = f.KVTokens
	}
	w.chunkFactor = factorOf(active(fault.Prefill, fault.Throttle))
	if f := factorOf(active(fault.Decode, fault.Throttle)); f != w.stepFactor {
		w.stepFactor = f
		for _, r := range w.ranks {
			r.batch.settle(r.e.now)
			r.setSpeed()
		}
	}
	frozen := active(fault.Metrics, fault.Freeze) != nil
	if frozen && !w.frozen {
		for _, r := range w.ranks {
			r.freeze()
		}
	}
	w.frozen = frozen
}

// factorOf returns by how much a fault slows an engine down; 0 for none.
func factorOf(f *fault.Fault) float64 {
	if f == nil {
		return 0
	}
	return f.Factor
}
