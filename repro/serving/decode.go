package serving

import (
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// decode is the decode engine.
type decode struct {
	batch    batch
	due      node        // first stop of the batch
	dueAt    sim.Instant // where it is on the agenda; sim.Never: nowhere
	waiting  fifo
	transfer int   // requests that have memory reserved and whose KV has not arrived
	requests int   // slots taken
	kvTokens int   // reserved
	tokens   int64 // made by requests that are not running any more
}

// never is a number of tokens that is not reached.
const never = -1

// joinBatch moves requests into the running batch while there is room.
func (s *Stack) joinBatch() {
	d := &s.decode
	for r := d.waiting.head; r != nil && d.batch.size < s.cfg.Decode.RunningMax; r = d.waiting.head {
		r.unqueue()
		r.enter(StageDecode, s.now)
		d.batch.settle(s.now)
		r.hung = s.faults.Fires(fault.Decode, fault.Hang, s.occasion(&r.Request, s.now)) != nil
		if r.hung {
			d.batch.joinHung(r.Prompt.Tokens)
		} else {
			s.firstToken(r)
		}
	}
}

// scheduleStop moves the agenda's entry to where the first stop is now.
func (s *Stack) scheduleStop() {
	d := &s.decode
	if at := d.batch.nextStop(); at != d.dueAt {
		d.dueAt = at
		s.schedule(at, &d.due)
	}
}

// firstToken shows the token that prefill has made, and has the batch make those to come.
func (s *Stack) firstToken(r *request) {
	r.firstAt, r.startStep = s.now, s.decode.batch.steps
	o := s.occasion(&r.Request, s.now)
	if f := s.faults.Fires(fault.Stream, fault.Silence, o); f != nil {
		r.silentAt = f.AfterTokens
	}
	if f := s.faults.Fires(fault.Stream, fault.Reset, o); f != nil {
		r.resetAt = f.AfterTokens
	}
	if f := s.faults.Fires(fault.Stream, fault.Reasoning, o); f != nil {
		r.heldUntil = s.now.Add(f.Delay)
	}
	if r.Stream && r.resetAt != 0 {
		r.headersOut = true
		r.changed.WakeAllLocked(s.w)
	}
	if s.reached(r, 1) {
		s.decode.batch.join(r, r.Prompt.Tokens+1, int64(r.stopAfter(1)-1))
	}
}

// reached does what is to be done once r has made so many tokens, and says whether it goes on.
func (s *Stack) reached(r *request, tokens int) bool {
	switch {
	case tokens >= r.reply.tokens:
		s.finish(r)
		return false
	case r.resetAt != never && tokens >= r.resetAt:
		r.failure = ErrReset
		s.releaseDecode(r)
		s.end(r, StageAborted)
		return false
	case r.silentAt != never && tokens >= r.silentAt:
		r.silenced, r.silentFrom = true, s.now
	}
	return true
}

// stopAfter returns the number of tokens, more than the given one, at which something happens to r.
func (r *request) stopAfter(tokens int) int {
	stop := r.reply.tokens
	if r.resetAt > tokens {
		stop = min(stop, r.resetAt)
	}
	if r.silentAt > tokens {
		stop = min(stop, r.silentAt)
	}
	return stop
}

// batchStop deals with all requests whose stop has come.
func (s *Stack) batchStop() {
	b := &s.decode.batch
	b.settle(s.now)
	for steps, n := b.stops.first(); n != nil && steps <= b.steps; steps, n = b.stops.first() {
		r := n.of
		tokens := 1 + int(steps-r.startStep)
		if stop := r.stopAfter(tokens); tokens < r.reply.tokens && tokens != r.resetAt {
			s.reached(r, tokens)
			b.stops.put(r.startStep+int64(stop-1), n)
			continue
		}
		b.leave(r, r.Prompt.Tokens+1)
		s.reached(r, tokens)
	}
}

// finish is the regular end of a request.
func (s *Stack) finish(r *request) {
	s.releaseDecode(r)
	r.headersOut = r.headersOut || !r.silenced
	s.end(r, StageDone)
}

// leaveBatch takes a request out that leaves while it is running.
func (s *Stack) leaveBatch(r *request) {
	s.decode.batch.settle(s.now)
	if r.hung {
		s.decode.batch.leaveHung(r.Prompt.Tokens)
	} else {
		s.decode.batch.leave(r, r.Prompt.Tokens+1)
	}
}

// releaseDecode gives back what r holds of the decode engine.
func (s *Stack) releaseDecode(r *request) {
	if r.holdsDecode {
		s.decode.requests--
	}
	s.decode.kvTokens -= r.decodeKVTokens
	r.holdsDecode, r.decodeKVTokens = false, 0
}

// made returns how many tokens of r the servers have made by now, and when the last of them was.
func (s *Stack) made(r *request) (tokens int, last sim.Instant) {
	switch {
	case r.ended():
		return r.endTokens, r.endLast
	case r.stage != StageDecode || r.hung:
		return 0, 0
	}
	steps, boundary := s.decode.batch.at(s.now)
	if n := steps - r.startStep; n > 0 {
		return 1 + int(n), boundary
	}
	return 1, r.firstAt
}
