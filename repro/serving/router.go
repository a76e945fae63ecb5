package serving

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Submit hands a request to the router and returns at once. The answer is had from the handle, which
// must be cancelled unless it is read to its end.
func (s *Stack) Submit(q Request) *Handle {
	h := new(Handle)
	h.submit(s, &q)
	return h
}

// submit makes h, which must be zero, the handle of a request.
func (h *Handle) submit(s *Stack, q *Request) {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	h.s = s
	r := &h.r
	r.Request, r.s = *q, s
	r.arrived, r.since = s.now(), s.now()
	r.timer.Do = r
	r.view.reset()
	s.accept(r)
	s.leave()
}

// accept is the router's part up to its limiter.
func (s *Stack) accept(r *request) {
	s.log.started(s.now(), r.ID)
	if e := s.refusal(r); e != nil {
		s.refuse(r, e)
		return
	}
	o := s.occasion(&r.Request, s.now())
	if s.faults.Fires(fault.Router, fault.Drop, o) != nil {
		r.enter(phaseUnknown)
		return
	}
	s.register(r)
	r.lost = s.faults.Fires(fault.Router, fault.LoseReply, o) != nil
	r.mispaired = s.faults.Fires(fault.Router, fault.Mispair, o) != nil
	s.limiter.admit(r)
}

// refusal returns why the router does not take a request, or nil.
func (s *Stack) refusal(r *request) *Refusal {
	if limit := s.cfg.Router.QueuedMax; limit > 0 && s.inFlight >= limit {
		return refusal(http.StatusServiceUnavailable, "The request queue is full.")
	}
	if f := s.faults.Fires(fault.Router, fault.Status, s.occasion(&r.Request, s.now())); f != nil {
		e := refusal(f.StatusCode, cmp.Or(http.StatusText(f.StatusCode), "refused"))
		e.RetryAfter = retryAfter(f.RetryAfter, s.now())
		return e
	}
	if e := s.tooLate(r); e != nil {
		return e
	}
	// A prompt needs room for one token of output. The engines' own check comes before their queues.
	if limit := s.cfg.Model.ContextTokensMax - 1; r.Prompt.Tokens > limit {
		return refusal(http.StatusBadRequest, fmt.Sprintf("Request %s exceeds the maximum number of tokens: %d > %d", r.ID, r.Prompt.Tokens, limit))
	}
	return nil
}

// tooLate refuses a request that cannot be answered in the time that its client has left, as far as the
// queues of the engines tell.
func (s *Stack) tooLate(r *request) *Refusal {
	if !s.cfg.Router.HonourDeadline || r.Remaining <= 0 {
		return nil
	}
	var least time.Duration
	for i, w := range s.decodes.all {
		if turn, serve := w.engine.Expect(); i == 0 || turn+serve < least {
			least = turn + serve
		}
	}
	if least <= r.Remaining {
		return nil
	}
	return own(http.StatusGatewayTimeout, "deadline_exceeded", fmt.Sprintf("The answer is expected in %v, and the request has %v left.", least.Round(time.Millisecond), r.Remaining))
}

// retryAfter returns the value of the header: as the fault has it, or for one such as "date+30s" the
// date that will be then.
func retryAfter(text string, now sim.Instant) string {
	if after, ok := strings.CutPrefix(text, "date"); ok {
		if d, err := time.ParseDuration(after); err == nil {
			return now.Add(d).Time().Format(http.TimeFormat)
		}
	}
	return text
}

// register puts r among the requests that the router has, and decides what the answer will be.
func (s *Stack) register(r *request) {
	s.inFlight++
	s.queued++
	if s.inFlight == 1 {
		s.armHealthCheck()
	}
	r.older = s.newest
	if s.newest != nil {
		s.newest.younger = r
	} else {
		s.oldest = r
	}
	s.newest = r

	tokens, reasoning := s.model.output(&s.cfg.Model, &r.Request)
	most := s.tokensMax(&r.Request)
	tokens = max(tokens, min(r.OutputTokensMin, most+1)) // one more than allowed: it is cut off there
	r.reply = s.texts.plan(&r.Prompt, tokens, reasoning, most)
	s.truncate(r)
}

// truncate asks the fault that has a tool call end early. With nothing said it ends half-way.
func (s *Stack) truncate(r *request) {
	f := s.faults.Fires(fault.Stream, fault.TruncateCall, s.occasion(&r.Request, s.now()))
	if f == nil || r.reply.tool == "" {
		return
	}
	from, ok := r.reply.from(f.In)
	if !ok {
		return
	}
	call := from + f.AfterTokens - r.reply.callFrom()
	if f.AfterTokens == 0 && f.In == "" {
		call = (r.reply.tokens - r.reply.callFrom()) / 2
	}
	r.defects.TruncateCall = true
	r.reply.truncate(call)
}

// tokensMax returns how many tokens an answer may have at most.
func (s *Stack) tokensMax(q *Request) int {
	n := s.cfg.Model.ContextTokensMax - q.Prompt.Tokens
	if q.OutputTokensMax > 0 {
		n = min(n, q.OutputTokensMax)
	}
	return n
}

// unregister is the opposite of register.
func (s *Stack) unregister(r *request) {
	s.inFlight--
	if r.phase < phaseEngines {
		s.queued--
	}
	if r.older != nil {
		r.older.younger = r.younger
	} else {
		s.oldest = r.younger
	}
	if r.younger != nil {
		r.younger.older = r.older
	} else {
		s.newest = r.older
	}
	r.older, r.younger = nil, nil
}

// admitted is called when the limiter lets r pass.
func (s *Stack) admitted(r *request) {
	if f := s.faults.Fires(fault.Router, fault.Latency, s.occasion(&r.Request, s.now())); f != nil {
		r.enter(phaseDelay)
		s.engines.Schedule(s.now().Add(f.Delay), &r.timer)
		return
	}
	s.dispatch(r)
}

// Do implements engine.Doer: what r waited for at the router has come.
func (r *request) Do() { r.s.dispatch(r) }

// respond has the response headers go out. It is the end of what the router's log tells.
func (s *Stack) respond(r *request, status int, code string) {
	r.status, r.headersAt = status, s.now()
	s.log.finished(s.now(), r.ID, status, s.now().Sub(r.arrived))
	s.counts.responses.add(status, code)
	r.changed.WakeAllLocked(s.w)
}

// refuse answers a request with an error status, whether the router had taken it or not.
func (s *Stack) refuse(r *request, e *Refusal) {
	r.failure = e
	s.respond(r, e.Status, e.ErrorCode)
	s.end(r, phaseAborted, Failed)
}

// end is the last thing that the router does with a request: it has been answered, or is forgotten.
func (s *Stack) end(r *request, p phase, outcome Outcome) {
	if r.phase.over() {
		return
	}
	known := r == s.oldest || r.older != nil
	r.gapMax = r.gapSoFar()
	r.made, r.madeLast = r.madeSoFar()
	if len(s.onEnd) > 0 {
		s.tell(r, outcome)
	}
	s.engines.Schedule(sim.Never, &r.timer)
	if r.phase == phaseLimit {
		s.limiter.forget(r)
	}
	if known {
		s.unregister(r)
	}
	r.enter(p)
	if a := r.a; a != nil {
		r.a, a.r = nil, nil
		s.release(a)
	}
	r.changed.WakeAllLocked(s.w)
	if r.token {
		r.token = false
		s.limiter.giveBack()
	}
}
