package serving

import (
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// view is what the client sees of a request.
type view struct {
	changed    sim.Cond // headers, the end, or what will be shown when
	status     int      // of the headers; 0: they have not gone out
	headersAt  sim.Instant
	firstAt    sim.Instant // the first token was made
	failure    error       // a *Refusal, ErrReset or errLeft
	inBand     *Refusal    // the error event that the answer ends with
	cut        bool        // the body ends without finish reason and [DONE]
	closed     bool        // the answer has come to its end, and the client can see that
	closedAt   sim.Instant
	responseID string // of the engine
	made       int    // when the router had done with it
	madeLast   sim.Instant
	gapMax     time.Duration // between tokens, when the router had done with it or the stop was reached

	// What faults do to it.
	heldUntil sim.Instant // nothing made before this instant is shown before it
	holdFrom  sim.Instant // a proxy holds the answer back until this instant; 0: there is none
	stop      stop
	defects   Defects
}

// stop is what happens in the midst of a stream. The zero value is not valid.
type stop struct {
	at        int // tokens that pass before; never: nothing happens
	what      fault.What
	every     time.Duration // of comments
	status    int           // of an error
	reached   bool
	reachedAt sim.Instant
}

// never is a number of tokens that is not reached.
const never = -1

func (v *view) reset() { v.stop.at = never }

// breaks says whether the answer has been broken off.
func (s *stop) breaks() bool { return s.reached && (s.what == fault.Reset || s.what == fault.Cut) }

// stopped says whether no more of the answer is shown, although it goes on or has ended well.
func (v *view) stopped() bool {
	return v.stop.reached && (v.stop.what == fault.Silence || v.stop.what == fault.Comments)
}

// over says whether the client has, or could have, all that it will ever get, and knows it.
func (v *view) over() bool { return v.failure != nil || v.closed }

// headersShown says whether the client can have the headers of an answer with status 200 by now.
func (r *request) headersShown() bool {
	_, refused := r.failure.(*Refusal)
	return r.status != 0 && !refused && (r.Stream || r.closed) && (r.over() || r.s.now() >= r.holdFrom)
}

// shape asks the faults of the stream what the answer will look like. Its first token has been made.
func (a *attempt) shape() {
	s, r := a.s, a.r
	if s.faults == nil {
		return
	}
	o := s.occasion(&r.Request, s.now())
	fires := func(what fault.What) *fault.Fault { return s.faults.Fires(fault.Stream, what, o) }
	if f := fires(fault.Reasoning); f != nil {
		r.heldUntil = s.now().Add(f.Delay)
	}
	for _, what := range [...]fault.What{fault.Silence, fault.Reset, fault.Comments, fault.Error, fault.Cut, fault.Malformed} {
		f := fires(what)
		if f == nil {
			continue
		}
		from, ok := r.reply.from(f.In)
		if at := from + f.AfterTokens; ok && at < r.reply.tokens && (r.stop.at == never || at < r.stop.at) {
			r.stop = stop{at: at, what: what, every: f.Every, status: f.StatusCode}
		}
	}
	if r.stop.every == 0 {
		r.stop.every = 15 * time.Second
	}
	r.defects.NoDone = fires(fault.NoDone) != nil
	r.defects.OpenAfterDone = fires(fault.OpenAfterDone) != nil
	r.defects.NoUsage = fires(fault.NoUsage) != nil
	a.watchStop()
}

// watchStop has the engine tell when the stop is reached, or does at once what follows from it.
func (a *attempt) watchStop() {
	stop := &a.r.stop
	if stop.at == never {
		return
	}
	mark := stop.at
	if stop.what == fault.Malformed {
		mark++ // it is the event with the next token that is broken
	}
	if mark > 1 {
		a.decode.MarkTokens = mark
		a.decode.Remark()
		return
	}
	a.reachStop()
}

// reachStop notes that the stop is reached.
func (a *attempt) reachStop() {
	s, r := a.s, a.r
	if r.stop.at == never || r.stop.reached {
		return
	}
	r.gapMax = r.gapSoFar()
	r.stop.reached, r.stop.reachedAt = true, s.now()
	if r.stop.what == fault.Error {
		a.ended, a.failure = true, stopFailure(r.stop.status)
	}
	r.changed.WakeAllLocked(s.w)
}

// madeSoFar returns how many tokens of r the engines have made by now, and when the last of them was.
func (r *request) madeSoFar() (tokens int, last sim.Instant) {
	if r.a != nil {
		return r.a.decode.Made(r.s.now())
	}
	return r.made, r.madeLast
}

// gapSoFar returns the longest silence between two tokens that have been made, and will be shown, by now.
func (r *request) gapSoFar() time.Duration {
	if r.a == nil || r.stop.reached {
		return r.gapMax
	}
	return r.a.decode.GapMax(r.s.now())
}

// seen returns how many tokens have reached the client by now, and when the last of them did.
func (r *request) seen() (tokens int, last sim.Instant) {
	if r.status == 0 {
		return 0, 0
	}
	now := r.s.now()
	tokens, last = r.madeSoFar()
	if r.stop.reached && r.stop.what != fault.Malformed {
		tokens, last = min(tokens, r.stop.at), r.stop.reachedAt
	}
	if tokens == 0 || !r.closed && (!r.Stream || now < r.heldUntil) {
		return 0, 0
	}
	if !r.closed {
		last = max(last, r.heldUntil)
	}
	held, until := r.held(now)
	if held {
		return 0, 0
	}
	return tokens, max(last, until)
}

// held says whether a proxy holds the answer back, and until when it did if it does not any more.
func (r *request) held(now sim.Instant) (bool, sim.Instant) {
	until := r.holdFrom
	if r.closed {
		until = min(until, r.closedAt)
	}
	return now < until, until
}

// comments returns how many comments have reached the client by now, and when the last of them did.
func (r *request) comments() (n int, last sim.Instant) {
	now := r.s.now()
	if held, _ := r.held(now); held || r.status == 0 || !r.Stream || !r.stop.reached || r.stop.what != fault.Comments {
		return 0, 0
	}
	n = int(now.Sub(r.stop.reachedAt) / r.stop.every)
	if n == 0 {
		return 0, 0
	}
	return n, r.stop.reachedAt.Add(time.Duration(n) * r.stop.every)
}

// next returns when more is due to the client, as things stand.
func (r *request) next() sim.Instant {
	now := r.s.now()
	held, until := r.held(now)
	switch {
	case r.over():
		return now
	case r.status == 0 || !r.Stream:
		return sim.Never
	case held:
		return until
	case now < r.heldUntil:
		return r.heldUntil
	case r.stop.reached && r.stop.what == fault.Comments:
		n := now.Sub(r.stop.reachedAt) / r.stop.every
		return r.stop.reachedAt.Add((n + 1) * r.stop.every)
	case r.stopped() || r.a == nil:
		return sim.Never
	}
	return r.a.decode.NextToken(now)
}

// lastShown returns how many tokens will reach the client if it stays to the end.
func (r *request) lastShown() int {
	if r.stop.at == never {
		return r.reply.tokens
	}
	return r.stop.at
}
