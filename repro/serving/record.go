package serving

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Record is a request that has ended, for those who count: histograms, access logs. Instants that
// never came are [sim.Never].
type Record struct {
	ID           string
	Path         string // of the endpoint, such as "/v1/chat/completions"
	Agent        string
	Stream       bool
	Status       int    // of the response headers; 0: none went out, the client left before
	ErrorCode    string // header X-SMG-Error-Code; empty: none
	PromptTokens int
	OutputTokens int // made, whether they reached the client or not

	Arrived    sim.Instant
	Dispatched sim.Instant // the latest attempt was sent to the engines
	Headers    sim.Instant // response headers went out
	FirstToken sim.Instant // was made
	Ended      sim.Instant // the last token was made, or the client left, or it failed

	Times    StageTimes
	Attempts int    // that the router made; 0: it was never dispatched
	Prefill  string // worker of the latest attempt; empty: none
	Decode   string // the same; with mode unified the one engine
	Outcome  Outcome
}

// QueueTime returns how long it waited at the engines before its prompt was computed.
func (r *Record) QueueTime() time.Duration { return r.Times.Bootstrap + r.Times.PrefillWait }

// StageTimes is how long the latest attempt was in each stage of the engines. 0: not at all.
type StageTimes struct {
	Bootstrap, PrefillWait, Prefill, Inflight  time.Duration // prefill leg
	Prealloc, Transfer, DecodeWait, DecodeLoop time.Duration // decode leg
}

// Outcome is how a request ended.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed" // answered in full, as far as the router knows
	Failed    Outcome = "failed"    // with an error status or an error event
	Left      Outcome = "left"      // the client left, or its connection broke
)

// tell tells whoever counts that a request has ended.
func (s *Stack) tell(r *request, outcome Outcome) {
	rec := &s.record
	*rec = Record{
		ID: r.ID, Path: "/v1/chat/completions", Agent: r.Agent, Stream: r.Stream, Status: r.status,
		PromptTokens: r.Prompt.Tokens, OutputTokens: r.made,
		Arrived: r.arrived, Dispatched: sim.Never, Headers: sim.Never, FirstToken: sim.Never, Ended: s.now(),
		Attempts: r.attempts, Outcome: outcome,
	}
	if r.status != 0 {
		rec.Headers = r.headersAt
	}
	if e, ok := r.failure.(*Refusal); ok {
		rec.ErrorCode = e.ErrorCode
	}
	if a := r.a; a != nil {
		a.fillIn(rec)
	}
	for _, f := range s.onEnd {
		f(rec)
	}
}

// fillIn writes down what is known of a request from the engines.
func (a *attempt) fillIn(rec *Record) {
	rec.Dispatched = a.began
	rec.Decode = a.d.engine.Name
	d, t := &a.decode, &rec.Times
	now := a.s.now()
	time := func(l *engine.Leg, stage engine.Stage) time.Duration {
		took := l.Time(stage)
		if at, since := l.Stage(); at == stage {
			took += now.Sub(since)
		}
		return took
	}
	first := d
	if a.p != nil {
		rec.Prefill = a.p.engine.Name
		first = &a.prefill
	}
	t.Bootstrap, t.PrefillWait = time(first, engine.StageBootstrap), time(first, engine.StagePrefillWait)
	t.Prefill, t.Inflight = time(first, engine.StagePrefill), time(first, engine.StageInflight)
	t.Prealloc, t.Transfer = time(d, engine.StagePrealloc), time(d, engine.StageTransfer)
	t.DecodeWait, t.DecodeLoop = time(d, engine.StageDecodeWait), time(d, engine.StageDecode)
	if a.begun {
		rec.FirstToken = a.r.firstAt
	}
}

// OnEnd has f called at the end of each request, with the monitor held. The record is f's only during
// the call. It must be called before the first request, and at most a few times.
func (s *Stack) OnEnd(f func(*Record)) {
	s.w.Lock()
	defer s.w.Unlock()
	s.onEnd = append(s.onEnd, f)
}
