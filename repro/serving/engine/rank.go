package engine

import (
	"time"

	"example.com/wedge/harness/sim"
)

// rank is a scheduler with queues, slots and memory of its own. A prefill engine uses the first group of
// queues, a decode engine the second, a unified engine some of both.
type rank struct {
	w     *Worker
	e     *Engines
	index int

	dirty     bool // in the engines' list of those to look at
	nextDirty *rank

	bootstrap fifo // without memory reserved at decode
	ready     fifo // with it, and without a metadata slot
	waiting   fifo // for its turn; at a unified engine also those that are to be computed again
	computing fifo
	inflight  fifo
	pinned    int // of inflight
	pending   int // prompt tokens in waiting

	cold       fifo // prealloc, without a handshake
	prealloc   fifo // prealloc, with one
	sending    fifo // transfer
	landed     fifo // transfer, all has arrived, and the engine has not looked yet
	decodeWait fifo
	running    fifo
	retracted  fifo // memory copied aside
	again      int  // retracted legs in waiting
	deferred   int  // legs with a verdict, in the queues that are not looked at meanwhile
	zombies    int  // of running

	deserted  deserted    // of running
	madeUntil sim.Instant // when a leg that made tokens last left the batch

	legs    int           // all of them
	since   sim.Instant   // when that became 0
	legsAt  sim.Instant   // of the latest change of legs
	legTime time.Duration // of all legs up to then
	slots   int           // taken: of metadata at prefill, of requests at decode
	kv      int           // tokens of memory taken, but for the batch

	chunk     chunk
	batch     batch
	batchNode node
	batchAt   sim.Instant // where it is on the agenda
	slowed    int         // legs in the batch with a factor
	turns     turns

	counts counts
	shown  shown
	unseen bool // gauges are those of the present, and there is no log: nobody sees what has been shown
}

// counts are what a rank has counted since the start.
type counts struct {
	prefillTokens, decodeTokens                            int64 // decode's without those of the batch
	bootstrapFailed, transferFailed, aborted, retractedSum int64
}

func newRank(w *Worker, index int) *rank {
	r := &rank{w: w, e: w.e, index: index, batchAt: sim.Never}
	r.unseen = w.e.cfg.Gauges.Exact && w.out == nil
	r.batch.setSpeed(&w.e.cfg.Decode, 1)
	r.chunk.node = node{act: actChunk, rank: r}
	r.chunk.startNode = node{act: actChunkStart, rank: r}
	r.batchNode = node{act: actBatch, rank: r}
	r.shown.node = node{act: actReport, rank: r}
	r.shown.ratio = 0.7 // SGLang's before the first retraction, which then falls
	r.shown.nextSteps, r.shown.nextAt = int64(w.e.cfg.Gauges.EverySteps), sim.Never
	return r
}

// touch is called before anything at the rank changes: what it has shown of itself until now is noted,
// and the rank will be looked at.
func (r *rank) touch() {
	r.note()
	if r.dirty {
		return
	}
	r.dirty = true
	if r.e.lastDirty == nil {
		r.e.firstDirty = r
	} else {
		r.e.lastDirty.nextDirty = r
	}
	r.e.lastDirty = r
}

// proceed lets legs go on wherever there is room now.
func (r *rank) proceed() {
	switch r.w.Kind {
	case KindPrefill:
		r.takeReady()
		r.startChunk()
		return
	case KindDecode:
		r.runBatch()
		r.preallocate()
	case KindUnified:
		r.runBatch()
		r.startBetweenSteps()
	}
	r.scheduleBatch()
}

// runBatch brings the batch up to the present and fills it.
func (r *rank) runBatch() {
	r.endSteps()
	if len(r.chunk.shares) > 0 {
		return // a unified engine's: the batch stands still, or makes a single step
	}
	for {
		r.retract()
		r.resume()
		r.lookAtTransfers()
		if !r.fillBatch() {
			return
		}
	}
}

// capacity is the rank's memory, without what a fault has taken.
func (r *rank) capacity() int {
	if r.w.Kind == KindPrefill {
		return r.e.cfg.Prefill.KVTokens
	}
	return max(0, r.e.cfg.Decode.KVTokens-r.w.starved)
}

// free returns how much of the memory is free. It is negative if a fault has taken what was in use.
func (r *rank) free() int {
	steps, _ := r.batch.at(r.e.now)
	return r.capacity() - r.kv - int(r.batch.kvTokens(steps))
}

// full says whether n has reached a limit, where 0 is none.
func full(n, limit int) bool { return limit > 0 && n >= limit }

// slotsFull says whether the rank has no slot left.
func (r *rank) slotsFull() bool {
	if r.w.Kind == KindPrefill {
		return full(r.slots, r.e.cfg.Prefill.RequestsMax)
	}
	return full(r.slots, r.e.cfg.Decode.RequestsMax)
}

// hold gives a leg a slot, unless it has one, and memory.
func (r *rank) hold(l *Leg, kvTokens int) {
	if !l.slot {
		l.slot = true
		r.slots++
	}
	r.kv += kvTokens
	l.kvTokens += kvTokens
}

// release takes back what a leg holds. What it has in the batch leaves with it.
func (r *rank) release(l *Leg) {
	if l.slot {
		l.slot = false
		r.slots--
	}
	r.kv -= l.kvTokens
	l.kvTokens = 0
}

// wait puts a leg into the waiting queue, or before all others there.
func (r *rank) wait(l *Leg, first bool) {
	r.pending += l.uncomputed()
	if first {
		r.waiting.pushFront(l)
	} else {
		r.waiting.push(l)
	}
}
