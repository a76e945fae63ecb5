package engine

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// share is what a leg has in a chunk. One that has left has none in it any more.
type share struct {
	leg    *Leg // nil: it has left
	tokens int
}

// promptLeft is how much of the prompt is still to be computed. A request that was retracted and lost
// its memory has its tokens so far to compute too.
func (l *Leg) promptLeft() int { return l.promptTokens() - l.computed }

func (l *Leg) promptTokens() int { return l.Job.PromptTokens + l.endTokens }

// acceptPrefill takes a leg into the bootstrap queue.
func (r *rank) acceptPrefill(l *Leg) {
	if f := tooLong(l, r.e.cfg.Prefill.KVTokens); f != nil {
		r.fail(l, f)
		return
	}
	l.enter(StageBootstrap, r.e.now)
	r.bootstrap.push(l)
	l.deaf = l.fires(fault.Bootstrap, fault.Hang) != nil
	if d := l.Peer; d != nil && d.stage == StagePrealloc {
		handshake(l, d)
	}
}

// handshake lets the two legs of a pair know of each other, if each is where the other takes it to be.
func handshake(p, d *Leg) {
	if p.deaf || p.stage != StageBootstrap || d.PeerAt != p.worker || p.PeerAt != nil && p.PeerAt != d.worker || d.queue != &d.rank.cold {
		return
	}
	// Decode looks for the leg at the rank that it computes from the room.
	if int(uint64(d.Job.Room)%uint64(len(p.worker.ranks))) != p.rank.index {
		return
	}
	d.rank.touch()
	d.unqueue()
	d.rank.prealloc.push(d)
}

// takeReady moves legs that have memory at decode to the waiting queue, while there are metadata slots.
func (r *rank) takeReady() {
	for l := r.ready.head; l != nil && !full(r.prefillSlots, r.e.cfg.Prefill.RequestsMax); l = r.ready.head {
		l.unqueue()
		l.slot = true
		r.prefillSlots++
		l.enter(StagePrefillWait, r.e.now)
		r.pending += l.promptLeft()
		r.waiting.push(l)
	}
}

// watchBootstrap arms the timer of the leg that has waited longest in bootstrap.
func (r *rank) watchBootstrap() {
	limit := r.e.cfg.Prefill.BootstrapTimeout
	at := sim.Never
	for _, q := range [...]*fifo{&r.bootstrap, &r.ready} {
		if q.head != nil && limit > 0 {
			at = min(at, q.head.arrived.Add(limit))
		}
	}
	r.e.schedule(at, &r.bootNode)
}

// bootTimeout fails those that have waited too long in bootstrap.
func (r *rank) bootTimeout() {
	limit := r.e.cfg.Prefill.BootstrapTimeout
	for _, q := range [...]*fifo{&r.bootstrap, &r.ready} {
		for q.head != nil && r.e.now >= q.head.arrived.Add(limit) {
			l := q.head
			r.bootstrapFailed++
			r.fail(l, &Failure{Status: 500, Type: typeInternal, Message: fmt.Sprintf(
				"Prefill bootstrap failed for request rank=%d req.rid='%s' req.bootstrap_room=%d with exception KVTransferError(bootstrap_room=%d): Request %d timed out after %.1fs in KVPoll.Bootstrapping",
				r.index, l.Job.Occasion.Key, l.Job.Room, l.Job.Room, l.Job.Room, limit.Seconds())})
		}
	}
}

// startChunk puts the next chunk together, if none is under way and anybody waits.
func (r *rank) startChunk() {
	if len(r.chunk) > 0 {
		return
	}
	left := r.e.cfg.Prefill.ChunkTokens
	if r.partial != nil {
		left -= r.take(r.partial, left)
	}
	for l := r.waiting.head; l != nil && left > 0; l = r.waiting.head {
		if r.prefillKV+l.Job.PromptTokens > r.e.cfg.Prefill.KVTokens {
			break
		}
		l.kvTokens = l.Job.PromptTokens
		r.prefillKV += l.kvTokens
		if r.begin(l) {
			left -= r.take(l, left)
		}
	}
	r.runChunk()
}

// begin takes a leg from the waiting queue into computation. It says false if the leg has failed there.
func (r *rank) begin(l *Leg) bool {
	l.unqueue()
	r.pending -= l.promptLeft()
	l.enter(StagePrefill, r.e.now)
	r.computing.push(l)
	if f := l.fires(fault.Prefill, fault.Status); f != nil {
		r.fail(l, &Failure{Status: f.StatusCode, Type: typeInternal, Message: "Prefill failed"})
		return false
	}
	return true
}

// runChunk has the chunk computed that has been put together, if there is one.
func (r *rank) runChunk() {
	if len(r.chunk) == 0 {
		return
	}
	r.chunkEnd = sim.Never
	if d := r.chunkTime(); d < spanLimit {
		r.chunkEnd = r.e.now.Add(d)
	}
	r.e.schedule(r.chunkEnd, &r.chunkNode)
}

// take gives a leg its share of the chunk, of at most left tokens.
func (r *rank) take(l *Leg, left int) int {
	n := min(left, l.promptLeft())
	r.chunk = append(r.chunk, share{l, n})
	r.partial = nil
	if n < l.promptLeft() {
		r.partial = l
	}
	return n
}

// chunkTime returns how long the chunk takes. A fault in one of its requests holds up all of them,
// and for ever if it is a hang.
func (r *rank) chunkTime() time.Duration {
	c := &r.e.cfg.Prefill
	ns := float64(c.ChunkBase)
	for i := range r.chunk {
		sh := &r.chunk[i]
		n, before := float64(sh.tokens), float64(sh.leg.computed)
		ns += n*float64(c.PerToken) + n*(before+n/2)*float64(c.PerTokenPair)
		if sh.leg.computed > 0 {
			continue // its faults have been asked at its first chunk
		}
		if f := sh.leg.fires(fault.Prefill, fault.Latency); f != nil {
			ns += float64(f.Delay)
		}
		if sh.leg.fires(fault.Prefill, fault.Hang) != nil {
			sh.leg.hung = true
			ns = math.Inf(1)
		}
	}
	if ns >= spanLimit {
		return spanLimit
	}
	return time.Duration(ns)
}

// chunkDone sends those on their way whose prompts are complete.
func (r *rank) chunkDone() {
	tokens, legs := 0, 0
	if r.batch.paused {
		r.batch.anchor = r.e.now // earlier than thought, if the one has left that would never have ended
	}
	for _, sh := range r.chunk {
		tokens += sh.tokens
		legs++
		l := sh.leg
		if l == nil {
			continue
		}
		l.computed += sh.tokens
		if r.w.Kind == KindPrefill && l.Peer != nil {
			l.Peer.transferBegins()
		}
		if l.promptLeft() == 0 {
			r.computed(l)
		}
	}
	r.prefillTokens += int64(tokens)
	clear(r.chunk)
	r.chunk = r.chunk[:0]
	r.publishChunk(legs, tokens)
}

// computed is the end of a leg's prompt.
func (r *rank) computed(l *Leg) {
	l.unqueue()
	switch {
	case l.doomed:
		r.aborted++
		r.release(l)
		r.end(l, StageAborted)
	case r.w.Kind == KindPrefill:
		r.toInflight(l)
	default:
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
}

// leaveChunk takes a leg out that leaves while its prompt is being computed. The chunk goes on to its
// end without it, unless it was the one that would never have ended.
func (r *rank) leaveChunk(l *Leg) {
	if r.partial == l {
		r.partial = nil
	}
	hung := false
	for i := range r.chunk {
		if r.chunk[i].leg == l {
			r.chunk[i].leg = nil
		} else if r.chunk[i].leg != nil {
			hung = hung || r.chunk[i].leg.hung
		}
	}
	if l.hung && !hung && len(r.chunk) > 0 {
		r.chunkEnd = r.e.now
		r.e.schedule(r.e.now, &r.chunkNode)
	}
}
