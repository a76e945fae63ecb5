package engine

import (
	"fmt"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// rank is a scheduler with queues, slots and memory of its own. A prefill engine uses the first part of
// it, a decode engine the second, a unified engine both.
type rank struct {
	w     *Worker
	e     *Engines
	index int

	nextDirty *rank
	isDirty   bool

	bootstrap     fifo // without memory reserved at decode
	ready         fifo // with it, and without a metadata slot
	waiting       fifo // prefill_wait
	computing     fifo // prefill
	inflight      fifo
	chunk         []share // under way; empty: none is
	chunkNode     node
	chunkEnd      sim.Instant
	partial       *Leg
	bootNode      node
	prefillSlots  int
	prefillKV     int
	pending       int // prompt tokens in waiting
	pinnedEntries int

	cold        fifo // prealloc, without a handshake
	prealloc    fifo // prealloc, with one
	idle        fifo // transfer, not begun
	sending     fifo // transfer, begun
	landed      fifo // transfer, all has arrived, and the engine has not looked yet
	decodeWait  fifo
	running     fifo
	retracted   fifo
	waitNode    node
	batch       batch
	batchNode   node
	batchAt     sim.Instant
	decodeSlots int
	decodeKV    int   // reserved by legs that are not in the batch
	longestNeed int   // the most that a prompt and its clipped output have needed so far
	chunkSteps  int64 // of the batch, when the latest chunk of a unified engine began

	prefillTokens, decodeTokens                            int64
	bootstrapFailed, transferFailed, aborted, retractedSum int64

	published published
}

func newRank(w *Worker, index int) *rank {
	r := &rank{w: w, e: w.e, index: index, batch: newBatch(&w.e.cfg.Decode), batchAt: sim.Never}
	r.chunkNode = node{act: actChunk, rank: r}
	r.bootNode = node{act: actBootTimeout, rank: r}
	r.waitNode = node{act: actWaitTimeout, rank: r}
	r.batchNode = node{act: actBatchStop, rank: r}
	r.published.node = node{act: actLog, rank: r}
	return r
}

// queues lists all queues that a leg can be in.
func (r *rank) queues() []*fifo {
	return []*fifo{
		&r.bootstrap, &r.ready, &r.waiting, &r.computing, &r.inflight,
		&r.cold, &r.prealloc, &r.idle, &r.sending, &r.landed, &r.decodeWait, &r.running, &r.retracted,
	}
}

// touch is called before anything at the rank changes: what it has shown of itself until now is noted,
// and it will be seen whether it can go on.
func (r *rank) touch() {
	r.publish()
	if r.isDirty {
		return
	}
	r.isDirty = true
	r.nextDirty, r.e.dirty = r.e.dirty, r
}

// proceed lets legs go on wherever there is room now.
func (r *rank) proceed() {
	switch r.w.Kind {
	case KindPrefill:
		r.takeReady()
		r.startChunk()
		r.watchBootstrap()
	case KindDecode:
		r.joinBatch()
		r.resume()
		r.preallocate()
		r.scheduleStop()
		r.watchWaiting()
	default:
		r.joinBatch()
		r.startUnifiedChunk()
		r.scheduleStop()
	}
	r.scheduleLog()
}

// inTransfer returns how many decode legs have memory reserved and have not been seen to have it all.
func (r *rank) inTransfer() int { return r.idle.n + r.sending.n + r.landed.n }

// full says whether n has reached a limit, where 0 is none.
func full(n, limit int) bool { return limit > 0 && n >= limit }

// decodeFree returns how much of decode's memory is free.
func (r *rank) decodeFree() int {
	return r.decodeCapacity() - r.decodeKV - int(r.batch.contextTokens(r.e.now))
}

// decodeCapacity is decode's memory without what a fault has taken.
func (r *rank) decodeCapacity() int {
	capacity := r.e.cfg.Decode.KVTokens
	if r.e.faults == nil {
		return capacity
	}
	if f := r.e.faults.Active(fault.Decode, fault.StarveKV, r.w.Name, r.e.now); f != nil {
		capacity -= min(capacity, f.KVTokens)
	}
	return capacity
}

// Types of the error events of a failure.
const (
	typeInternal    = "INTERNAL_SERVER_ERROR"
	typeUnavailable = "SERVICE_UNAVAILABLE"
	typeBadRequest  = "BAD_REQUEST"
)

// tooLong returns the failure of a prompt that no memory will ever be enough for, or nil.
func tooLong(l *Leg, limit int) *Failure {
	if l.Job.PromptTokens <= limit {
		return nil
	}
	return &Failure{
		Status: 400, Type: typeBadRequest,
		Message: fmt.Sprintf("Request %s exceeds the maximum number of tokens: %d > %d", l.Job.Occasion.Key, l.Job.PromptTokens, limit),
	}
}

// fail ends a leg, in whatever stage it is, with a failure that its owner is told of.
func (r *rank) fail(l *Leg, f *Failure) {
	if l.ended() {
		return
	}
	l.failure = f
	r.leaveStage(l)
	r.end(l, StageFailed)
	r.logFailure(l, f)
	r.e.notify(noticeEnd, l)
}

// end is the last that the engine has to do with a leg, but for a pinned entry. It holds nothing any more.
func (r *rank) end(l *Leg, stage Stage) {
	l.leave.remove()
	l.enter(stage, r.e.now)
	if p := l.Peer; p != nil && stage != StageDone {
		r.peerGone(l, p, stage)
	}
}

// drop ends a leg whose client has left, as the engine has just noticed.
func (r *rank) drop(l *Leg) {
	c := &r.e.cfg.Abort
	switch {
	case l.ended():
		return
	case c.BootstrapDeaf && l.stage == StageBootstrap && !l.reserved:
		return
	case c.PromptToEnd && l.stage == StagePrefill:
		l.doomed = true
		return
	case l.stage == StageInflight:
		r.dropFromInflight(l)
		return
	}
	leaks := c.WaitingSlotLeak && l.stage == StagePrefillWait && r.w.Kind == KindPrefill
	if l.stage == StageBootstrap {
		r.bootstrapFailed++
	}
	r.aborted++
	if leaks {
		l.slot = false // it is never given back
	}
	r.leaveStage(l)
	r.end(l, StageAborted)
}

// leaveStage takes a leg out of where it is, and gives back all that it holds.
func (r *rank) leaveStage(l *Leg) {
	l.timed.remove()
	switch l.stage {
	case StagePrefillWait:
		r.pending -= l.promptLeft()
	case StagePrefill:
		r.leaveChunk(l)
	case StageDecode:
		r.leaveBatch(l)
	}
	l.unqueue()
	r.release(l)
}

// release gives back what a leg holds of its engine.
func (r *rank) release(l *Leg) {
	if r.w.Kind == KindPrefill {
		if l.slot {
			r.prefillSlots--
		}
		r.prefillKV -= l.kvTokens
	} else {
		if l.slot {
			r.decodeSlots--
		}
		r.decodeKV -= l.kvTokens
	}
	l.slot, l.kvTokens = false, 0
}
