package serving

import (
	"net/http"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// attempt is a request's way to a pair of engines, or to one. It has a leg at each of them. It stays
// until its engines have forgotten them, which may be after its request.
type attempt struct {
	s              *Stack
	r              *request // nil: it has been given up
	id             string   // of the request
	older, younger *attempt // neighbours among the calls of the router, by their start
	next           *attempt // in the list of those that are done with

	prefillJob, decodeJob engine.Job // the same but for the id
	prefill, decode       engine.Leg // prefill is not used if engines are unified
	p, d                  *worker    // p is nil if engines are unified

	began    sim.Instant
	counted  bool            // into the load of the workers
	answered bool            // the prefill leg is, or there is none
	refused  *engine.Failure // why the prefill leg has failed, if the router has noticed
	begun    bool            // decode has its first token
	ended    bool            // decode has ended
	failure  *engine.Failure // why decode has, if it did not end well
	passing  bool            // the client gets what decode makes
	dropNext bool            // the call is to be closed at decode's next token
}

var _ engine.Owner = (*attempt)(nil)

// dispatch sends a request to the engines.
func (s *Stack) dispatch(r *request) {
	r.attempts++
	s.checkHealth()
	draw := s.w.Stream("router", r.ID).At(r.attempts)
	var p *worker
	if len(s.prefills.all) > 0 {
		if p = s.prefills.choose(r, &draw); p == nil {
			s.failed(r, s.noWorker("prefill"))
			return
		}
	}
	d := s.decodes.choose(r, &draw)
	if d == nil {
		s.failed(r, s.noWorker("decode"))
		return
	}
	a := s.calls.begin(r)
	a.p, a.d = p, d
	a.fill(&draw)
	s.queued--
	r.enter(phaseEngines)
	if !r.Stream {
		a.count()
	}
	// Both go at once. A failure of the prefill leg, if it comes within the call, may give up the decode
	// leg, so that one must be there.
	d.engine.Submit(&a.decode)
	if p != nil && a.r != nil {
		p.engine.Submit(&a.prefill)
	}
}

// fill makes the legs and what is asked of them. The engines give them ids of their own, which only
// they know.
func (a *attempt) fill(draw *sim.Stream) {
	s, r := a.s, a.r
	a.began = s.now()
	room := int64(draw.Uint64() >> 1)
	ids := newIDs(draw)
	a.decodeJob = engine.Job{
		PromptTokens: r.Prompt.Tokens, OutputTokens: r.reply.tokens, TokensMax: s.tokensMax(&r.Request), Stream: r.Stream,
		Room: room, Occasion: s.occasion(&r.Request, s.now()),
	}
	a.decodeJob.CachedTokens = min(int(s.cfg.Prefill.CacheHit*float64(r.Prompt.Prefix)), r.Prompt.Tokens-1)
	if r.Remaining > 0 {
		a.decodeJob.Deadline = r.arrived.Add(r.Remaining)
	}
	a.decodeJob.Occasion.Key = ids[:idSize]
	a.decode.Job, a.decode.Owner = &a.decodeJob, a
	a.answered = a.p == nil
	if a.p == nil {
		return
	}
	a.prefillJob = a.decodeJob
	a.prefillJob.Occasion.Key = ids[idSize:]
	a.prefill.Job, a.prefill.Owner = &a.prefillJob, a
	a.prefill.Peer, a.prefill.PeerAt = &a.decode, a.d.engine
	a.decode.Peer, a.decode.PeerAt = &a.prefill, a.p.engine
	if r.mispaired {
		// To the decode engine its peer is where it is not: at another prefill engine, or at none.
		a.decode.PeerAt = s.prefills.other(a.p, a.d.engine)
	}
}

// idSize is the length of an engine's id of a request: a UUID without dashes.
const idSize = 32

// newIDs returns two ids of engines, one after the other.
func newIDs(draw *sim.Stream) string {
	const digits = "0123456789abcdef"
	var b [2 * idSize]byte
	for i := 0; i < len(b); i += 16 {
		x := draw.Uint64()
		for j := range 16 {
			b[i+j] = digits[x&15]
			x >>= 4
		}
	}
	return string(b[:])
}

// FirstToken implements engine.Owner.
func (a *attempt) FirstToken(*engine.Leg) {
	if a.r == nil {
		return
	}
	a.begun = true
	a.r.firstAt = a.s.now()
	a.shape()
	a.proceed()
}

// Marked implements engine.Owner.
func (a *attempt) Marked(*engine.Leg) {
	switch {
	case a.r != nil:
		a.reachStop()
		a.proceed()
	case a.dropNext:
		a.abort()
	}
}

// Ended implements engine.Owner.
func (a *attempt) Ended(l *engine.Leg) {
	if a.r == nil {
		return
	}
	f := l.Failure()
	if l == &a.prefill {
		a.answered = true
		// The leg of a stream has failed with an event in a body of status 200, which nobody reads.
		if f != nil && !a.r.Stream {
			a.refused = f
		}
		a.p.answered(a.refused)
	} else {
		a.ended, a.failure = true, f
	}
	a.proceed()
}

// proceed does what follows from how things stand with the legs.
func (a *attempt) proceed() {
	s, r := a.s, a.r
	decodeAnswered := a.ended || a.begun && (r.Stream || r.stop.breaks())
	switch {
	case !a.answered:
		// The prefill leg comes first, however long it takes, whatever has become of decode.
	case a.refused != nil:
		if s.cfg.Router.Legs == PrefillFirst || decodeAnswered {
			s.failed(r, a.upstream("prefill", a.refused))
		}
	case !decodeAnswered:
	case a.failure != nil && !r.Stream:
		a.d.answered(a.failure)
		s.failed(r, a.upstream("decode", a.failure))
	default:
		a.pass()
	}
}

// pass passes on to the client what decode has answered so far.
func (a *attempt) pass() {
	s, r := a.s, a.r
	if !a.passing {
		a.passing = true
		a.d.answered(nil)
		a.count()
	}
	switch {
	case r.lost:
		if a.ended {
			a.abort()
			s.end(r, phaseUnknown, Failed)
		}
		return
	case r.stop.breaks() && r.stop.what == fault.Reset:
		a.reset()
		return
	}
	if r.status == 0 {
		r.responseID = a.decodeJob.Occasion.Key
		s.respond(r, http.StatusOK, "")
	}
	switch {
	case a.failure != nil:
		r.inBand = inBand(a.failure)
		a.close(Failed)
	case r.stop.breaks():
		r.cut = true
		a.close(Failed)
	case a.ended:
		r.closed, r.closedAt = !r.stopped(), s.now()
		s.end(r, phaseDone, Completed)
	}
}

// close ends an answer early.
func (a *attempt) close(outcome Outcome) {
	r := a.r
	r.closed, r.closedAt = true, a.s.now()
	a.abort()
	a.s.end(r, phaseAborted, outcome)
}

// reset breaks the connection to the client, before the headers if not even a token has passed.
func (a *attempt) reset() {
	r := a.r
	if r.Stream && r.status == 0 && r.stop.at > 0 {
		a.s.respond(r, http.StatusOK, "")
	}
	r.failure = ErrReset
	a.abort()
	a.s.end(r, phaseAborted, Left)
}

// abort closes the calls to the engines.
func (a *attempt) abort() {
	if stage, _ := a.prefill.Stage(); stage != engine.StageNone {
		a.p.engine.Abort(&a.prefill)
	}
	if stage, _ := a.decode.Stage(); stage != engine.StageNone {
		a.d.engine.Abort(&a.decode)
	}
}
