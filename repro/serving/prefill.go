package serving

import (
	"math"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// prefill is the prefill engine. It computes one chunk at a time, and of one prompt at a time only a
// part: the rest of it comes first in the next chunk.
type prefill struct {
	waiting  fifo
	chunk    []share // under way; empty: none is
	partial  *request
	due      node // end of the chunk
	requests int  // slots taken
	kvTokens int  // reserved
	inflight int  // requests whose KV memory is on its way, and pinned entries
	tokens   int64
}

// share is what a request has in a chunk. A request that has left has none in it any more.
type share struct {
	r      *request // nil: it has left
	tokens int
}

// toBootstrap passes a request on to both engines.
func (s *Stack) toBootstrap(r *request) {
	r.enter(StageBootstrap, s.now)
	s.bootstrap.push(r)
}

// preallocate reserves KV memory on the decode engine for the head of the bootstrap queue, as long
// as it fits. Nobody overtakes a head that does not.
func (s *Stack) preallocate() {
	for r := s.bootstrap.head; r != nil; r = s.bootstrap.head {
		need := min(r.Prompt.Tokens+r.reply.tokens, s.cfg.Decode.KVTokens)
		if full(s.decode.requests, s.cfg.Decode.RequestsMax) || full(s.prefill.requests, s.cfg.Prefill.RequestsMax) ||
			s.decode.kvTokens+need > s.cfg.Decode.KVTokens {
			return
		}
		r.unqueue()
		r.holdsDecode, r.decodeKVTokens = true, need
		s.decode.requests++
		s.decode.kvTokens += need
		r.holdsPrefill = true
		s.prefill.requests++
		s.decode.transfer++
		r.enter(StagePrefillWait, s.now)
		s.prefill.waiting.push(r)
	}
}

// full says whether n has reached a limit, where 0 is none.
func full(n, limit int) bool { return limit > 0 && n >= limit }

// startChunk puts the next chunk together, if none is under way and anybody waits.
func (s *Stack) startChunk() {
	p := &s.prefill
	if len(p.chunk) > 0 {
		return
	}
	left := s.cfg.Prefill.ChunkTokens
	if p.partial != nil {
		left -= s.take(p.partial, left)
	}
	for r := p.waiting.head; r != nil && left > 0; r = p.waiting.head {
		if p.kvTokens+r.Prompt.Tokens > s.cfg.Prefill.KVTokens {
			break
		}
		r.unqueue()
		r.prefillKVTokens = r.Prompt.Tokens
		p.kvTokens += r.prefillKVTokens
		r.enter(StagePrefill, s.now)
		left -= s.take(r, left)
	}
	if len(p.chunk) > 0 {
		s.schedule(s.now.Add(s.chunkTime()), &p.due)
	}
}

// take gives a request its share of the chunk, of at most left tokens.
func (s *Stack) take(r *request, left int) int {
	p := &s.prefill
	n := min(left, r.Prompt.Tokens-r.prefilledTokens)
	p.chunk = append(p.chunk, share{r, n})
	p.partial = nil
	if r.prefilledTokens+n < r.Prompt.Tokens {
		p.partial = r
	}
	return n
}

// chunkTime returns how long the chunk takes. A fault in one of its requests holds up all of them,
// and for ever if it is a hang.
func (s *Stack) chunkTime() time.Duration {
	c := &s.cfg.Prefill
	ns := float64(c.ChunkBase)
	for i := range s.prefill.chunk {
		sh := &s.prefill.chunk[i]
		n, before := float64(sh.tokens), float64(sh.r.prefilledTokens)
		ns += n*float64(c.PerToken) + n*(before+n/2)*float64(c.PerTokenPair)
		if sh.r.prefilledTokens > 0 {
			continue // its faults have been asked at its first chunk
		}
		o := s.occasion(&sh.r.Request, s.now)
		if f := s.faults.Fires(fault.Prefill, fault.Latency, o); f != nil {
			ns += float64(f.Delay)
		}
		sh.r.hung = s.faults.Fires(fault.Prefill, fault.Hang, o) != nil
		if sh.r.hung {
			ns = math.Inf(1)
		}
	}
	if ns >= spanLimit {
		return sim.Never.Sub(s.now)
	}
	return time.Duration(ns)
}

// chunkDone sends those on their way whose prompts are complete.
func (s *Stack) chunkDone() {
	p := &s.prefill
	for _, sh := range p.chunk {
		p.tokens += int64(sh.tokens)
		if sh.r == nil {
			continue
		}
		sh.r.prefilledTokens += sh.tokens
		if sh.r.prefilledTokens == sh.r.Prompt.Tokens {
			s.toInflight(sh.r)
		}
	}
	clear(p.chunk)
	p.chunk = p.chunk[:0]
}

// leaveChunk takes a request out that leaves while its prompt is being computed. The chunk goes on to
// its end without it, unless it was the one that would never have ended.
func (s *Stack) leaveChunk(r *request) {
	p := &s.prefill
	if p.partial == r {
		p.partial = nil
	}
	hung := false
	for i := range p.chunk {
		if p.chunk[i].r == r {
			p.chunk[i].r = nil
		} else if p.chunk[i].r != nil {
			hung = hung || p.chunk[i].r.hung
		}
	}
	if r.hung && !hung {
		s.schedule(s.now, &p.due)
	}
}

// releasePrefill gives back what r holds of the prefill engine.
func (s *Stack) releasePrefill(r *request) {
	if r.holdsPrefill {
		s.prefill.requests--
	}
	s.prefill.kvTokens -= r.prefillKVTokens
	r.holdsPrefill, r.prefillKVTokens = false, 0
}
