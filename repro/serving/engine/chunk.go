package engine

import (
	"math"
	"net/http"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// chunk is what a rank computes of prompts at a time: whole ones, and of one of them a part. The rest
// of that comes first in the next chunk.
type chunk struct {
	shares    []share // of the one under way; empty: none is
	due       sim.Instant
	partial   *Leg
	extra     time.Duration // by faults, of the one being put together
	node      node
	startNode node // a unified engine waits for the end of a step before it starts one
}

// share is what a leg has in a chunk.
type share struct {
	leg    *Leg
	tokens int
}

// gather gives the leg with a part left, and then those that next returns until it returns nil, their
// shares of a new chunk.
func (r *rank) gather(next func(r *rank) *Leg) {
	c := &r.chunk
	left := r.e.cfg.Prefill.ChunkTokens
	if l := c.partial; l != nil {
		left -= c.take(l, left)
	}
	for left > 0 {
		l := next(r)
		if l == nil {
			return
		}
		if r.begin(l) {
			left -= c.take(l, left)
		}
	}
}

// begin takes a leg from the waiting queue into computation. It returns false if the leg has failed
// with that.
func (r *rank) begin(l *Leg) bool {
	r.pending -= l.uncomputed()
	l.unqueue()
	if l.stage == StageRetracted {
		r.again--
	}
	l.enter(StagePrefill, r.e.now)
	r.computing.push(l)
	if l.asked {
		return true
	}
	l.asked = true
	if f := l.fires(fault.Prefill, fault.Latency); f != nil {
		r.chunk.extra += f.Delay
	}
	// One that nobody waits for, but is computed all the same, holds up nobody.
	l.hung = l.fires(fault.Prefill, fault.Hang) != nil && l.verdict == StageNone
	if f := l.fires(fault.Prefill, fault.Status); f != nil {
		r.end(l, StageFailed, &Failure{Status: f.StatusCode, Type: statusName(f.StatusCode), Message: http.StatusText(f.StatusCode)})
		return false
	}
	return true
}

// take gives a leg its share, of at most left tokens, and returns how many it has taken.
func (c *chunk) take(l *Leg, left int) int {
	rest := l.uncomputed()
	n := min(left, rest)
	c.shares = append(c.shares, share{l, n})
	c.partial = nil
	if n < rest {
		c.partial = l
	}
	return n
}

// time returns how long the chunk takes at an engine that takes factor times as long as configured. A
// fault in one of its requests holds up all of them, and for ever if it is a hang.
func (c *chunk) time(p *PrefillConfig, factor float64) time.Duration {
	ns := float64(p.ChunkBase) + float64(c.extra)
	c.extra = 0
	for i := range c.shares {
		sh := &c.shares[i]
		n, before := float64(sh.tokens), float64(sh.leg.computed)
		ns += n*float64(p.PerToken) + n*(before+n/2)*float64(p.PerTokenPair)
		if sh.leg.hung {
			ns = math.Inf(1)
		}
	}
	return time.Duration(math.Min(ns*max(1, factor), spanLimit))
}

// run starts the chunk that has been gathered, to be over at an instant.
func (r *rank) run(due sim.Instant) {
	r.chunk.due = due
	r.e.schedule(due, &r.chunk.node)
}

// dueAfter returns the instant d from now, or never if d stands for that.
func (r *rank) dueAfter(d time.Duration) sim.Instant {
	if d >= spanLimit {
		return sim.Never
	}
	return r.e.now.Add(d)
}

// startChunk starts the next chunk of a prefill engine, if none is under way and anybody waits.
func (r *rank) startChunk() {
	if len(r.chunk.shares) > 0 {
		return
	}
	r.gather((*rank).nextToCompute)
	if len(r.chunk.shares) > 0 {
		r.run(r.dueAfter(r.chunk.time(&r.e.cfg.Prefill, r.w.chunkFactor)))
	}
}

// nextToCompute returns the head of the waiting queue, with memory, if there is room for it.
func (r *rank) nextToCompute() *Leg {
	r.dropDead(&r.waiting)
	l := r.waiting.head
	if l == nil || r.kv+l.Job.PromptTokens > r.capacity() {
		return nil
	}
	r.hold(l, l.Job.PromptTokens)
	return l
}

// chunkDone sends those on their way whose prompts are complete.
func (r *rank) chunkDone() {
	c := &r.chunk
	r.batch.cut(r.e.now) // a unified engine's, if the chunk has ended before its time
	shares, tokens := len(c.shares), 0
	for _, sh := range c.shares {
		sh.leg.computed += sh.tokens
		sh.leg.spent += sh.tokens
		tokens += sh.tokens
	}
	r.counts.prefillTokens += int64(tokens)
	for _, sh := range c.shares {
		r.shareDone(sh.leg)
	}
	clear(c.shares)
	c.shares = c.shares[:0]
	r.showChunk(shares, tokens)
}

// shareDone deals with a leg whose share of a chunk has been computed.
func (r *rank) shareDone(l *Leg) {
	complete := l.computed == l.toCompute()
	switch {
	case l.verdict != StageNone && (complete || !r.e.cfg.Abort.PromptToEnd):
		r.end(l, l.verdict, l.verdictFailure)
	case r.w.Kind == KindPrefill:
		if m := l.mate; m != nil {
			m.due.remove() // its memory has begun to arrive: that has no limit
		}
		if complete {
			r.send(l)
		}
	case complete:
		l.unqueue()
		l.enter(StageDecodeWait, r.e.now)
		r.decodeWait.push(l)
	}
}

// drop forgets that a leg had a part left.
func (c *chunk) drop(l *Leg) {
	if c.partial == l {
		c.partial = nil
	}
}

// unhang ends the chunk under way, if the leg was what kept it from ending.
func (c *chunk) unhang(r *rank, l *Leg) {
	if !l.hung {
		return
	}
	l.hung = false
	for i := range c.shares {
		if c.shares[i].leg.hung {
			return
		}
	}
	r.run(r.e.now)
}
