package serving

import (
	"cmp"
	"fmt"
	"net/http"

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
	r.Request = *q
	r.arrived, r.since = s.now, s.now
	r.silentAt, r.resetAt = never, never
	r.timed.of, r.stop.of = r, r
	s.accept(r)
	s.proceed()
	s.leave()
}

// accept is the router's part.
func (s *Stack) accept(r *request) {
	s.log.started(s.now, r.ID)
	if refusal := s.refusal(r); refusal != nil {
		r.enter(StageAborted, s.now)
		r.failure = refusal
		s.answered(r, refusal.Status)
		s.record(r, Failed)
		return
	}
	if s.faults.Fires(fault.Router, fault.Drop, s.occasion(&r.Request, s.now)) != nil {
		r.enter(StageUnknown, s.now)
		return
	}
	s.register(r)
	if f := s.faults.Fires(fault.Router, fault.Latency, s.occasion(&r.Request, s.now)); f != nil {
		s.held++
		r.timed.do = actDispatch
		s.schedule(s.now.Add(f.Delay), &r.timed)
		return
	}
	s.toBootstrap(r)
}

// refusal returns why the servers do not take a request, or nil.
func (s *Stack) refusal(r *request) *Refusal {
	if limit := s.cfg.Router.QueuedMax; limit > 0 && s.inFlight >= limit {
		return &Refusal{Status: http.StatusServiceUnavailable, Message: "The request queue is full."}
	}
	if f := s.faults.Fires(fault.Router, fault.Status, s.occasion(&r.Request, s.now)); f != nil {
		return &Refusal{Status: f.StatusCode, Message: cmp.Or(http.StatusText(f.StatusCode), "refused"), RetryAfter: f.RetryAfter}
	}
	// A prompt needs room for one token of output; memory for less than the prompt would never do.
	if limit := min(s.cfg.Model.ContextTokensMax-1, s.cfg.Prefill.KVTokens, s.cfg.Decode.KVTokens-1); r.Prompt.Tokens > limit {
		return &Refusal{
			Status:  http.StatusBadRequest,
			Message: fmt.Sprintf("Request %s exceeds the maximum number of tokens: %d > %d", r.ID, r.Prompt.Tokens, limit),
		}
	}
	return nil
}

// register puts r among the requests that the router has, and decides what the answer will be.
func (s *Stack) register(r *request) {
	s.inFlight++
	r.older = s.newest
	if s.newest != nil {
		s.newest.younger = r
	} else {
		s.oldest = r
	}
	s.newest = r

	tokens, reasoning := s.model.output(&s.cfg.Model, &r.Request)
	tokensMax := s.cfg.Model.ContextTokensMax - r.Prompt.Tokens
	if r.OutputTokensMax > 0 {
		tokensMax = min(tokensMax, r.OutputTokensMax)
	}
	r.reply = s.texts.plan(&r.Prompt, tokens, reasoning, tokensMax)
}

// unregister is the opposite of register.
func (s *Stack) unregister(r *request) {
	s.inFlight--
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

// dispatch ends a delay in the router.
func (s *Stack) dispatch(r *request) {
	s.held--
	s.toBootstrap(r)
}

// end is the last thing that the servers do with a request whose client is still there or has just
// left: the router answers or forgets, and whoever waits for the answer sees it. Its memory and slots
// must have been given back.
func (s *Stack) end(r *request, stage Stage) {
	if r.headersOut || stage == StageDone {
		s.answered(r, http.StatusOK)
	}
	s.unregister(r)
	r.endTokens, r.endLast = s.made(r)
	s.decode.tokens += int64(r.endTokens)
	if stage == StageDone {
		s.record(r, Completed)
	} else {
		s.aborts++
		s.record(r, Left)
	}
	r.enter(stage, s.now)
	r.changed.WakeAllLocked(s.w)
}

// answered logs and counts an answer.
func (s *Stack) answered(r *request, status int) {
	s.log.finished(s.now, r.ID, status, s.now.Sub(r.arrived))
	r.status = status
	s.counts.respond(status, "")
}

// record tells whoever counts that a request has ended.
func (s *Stack) record(r *request, outcome Outcome) {
	if len(s.onEnd) == 0 {
		return
	}
	rec := Record{
		ID: r.ID, Path: "/v1/chat/completions", Agent: r.Agent, Stream: r.Stream, Status: r.status,
		PromptTokens: r.Prompt.Tokens, OutputTokens: r.endTokens,
		Arrived: r.arrived, Dispatched: r.arrived, Headers: sim.Never, FirstToken: sim.Never, Ended: s.now,
		Outcome: outcome,
	}
	if r.firstAt > 0 {
		rec.Headers, rec.FirstToken = r.firstAt, r.firstAt
		rec.Times.DecodeLoop = s.now.Sub(r.firstAt)
	}
	if outcome != Failed {
		rec.Attempts, rec.Prefill, rec.Decode = 1, "prefill-0", "decode-0"
	}
	for _, f := range s.onEnd {
		f(&rec)
	}
}
