package api

import (
	"net/http"
	"strconv"

	"example.com/wedge/harness/sim"
)

// Observer is told what clients do at the router's port, as somebody sees it who looks over the
// shoulder of the HTTP front and knows nothing of the servers behind. Its methods are called by the
// goroutines of the requests, several at once, without the monitor held; they must not wait. The methods
// about one visit come in the order Arrived, Answered, Wrote, Ended; all but the first and the last may
// be missing.
type Observer interface {
	// Arrived says that a chat request has come and been read.
	Arrived(v *Visit)
	// Answered says that the response headers go out, with a status.
	Answered(v *Visit, at sim.Instant, status int)
	// Wrote says that a piece of a stream has been handed to the client's connection: so many tokens, and
	// so many bytes. No tokens means comments, or other events without text.
	Wrote(v *Visit, at sim.Instant, tokens, bytes int)
	// Ended comes last. For [EndRefused] and [EndError] the message is that of the error.
	Ended(v *Visit, at sim.Instant, how End, message string)
	// Elsewhere says that a request has come to a path or with a method that nothing serves, or that a
	// chat request was no good; status is that of the answer.
	Elsewhere(at sim.Instant, method, path string, status int, message string)
}

// Visit is a chat request, from its arrival to its end. An observer may keep it; nothing changes it.
type Visit struct {
	ID           string // the router's, as in its log
	Agent        string // whose it is, if the client says so; empty: it does not
	At           sim.Instant
	Stream       bool
	PromptTokens int    // estimated from its text
	Body         uint64 // hash of the body: one that is sent again has the same
	// Retry is how many times the client says that it has sent this before (X-Stainless-Retry-Count, of
	// the official clients); -1: it does not say.
	Retry int
}

// End is how a visit ended.
type End uint8

// The ends.
const (
	EndComplete End = iota // answered in full
	EndRefused             // with an error status
	EndError               // with an error event in a stream that had begun well
	EndCut                 // the server broke it off: a reset, a body without an end, or it is being closed
	EndLeft                // the client closed its connection, or the stream
)

// String returns the end in a word or two.
func (e End) String() string {
	return [...]string{"complete", "error status", "error event", "cut off by the server", "left by the client"}[e]
}

// visit is what an exchange keeps for an observer.
type visit struct {
	Visit
	how     End
	message string
	over    bool // how is known
}

// watchArrival begins a visit, if somebody wants to know. The body is still the reader's.
func (x *exchange) watchArrival(q *question, body []byte) {
	if x.cfg.Observer == nil {
		return
	}
	x.visit = &visit{Visit: Visit{
		ID: x.id, Agent: q.Agent, At: x.arrived, Stream: q.Stream, PromptTokens: q.Prompt.Tokens,
		Body: hashOf(body), Retry: retryCount(x.in.Header),
	}}
	x.cfg.Observer.Arrived(&x.visit.Visit)
}

// watchEnd ends the visit. It is deferred by who serves it, since many of its ends are panics.
func (x *exchange) watchEnd() {
	v := x.visit
	if v == nil {
		return
	}
	if !v.over {
		v.how = EndCut
		if x.in.Context().Err() != nil && x.life.Err() == nil {
			v.how = EndLeft
		}
	}
	x.cfg.Observer.Ended(&v.Visit, x.w.Now(), v.how, v.message)
}

// watchHow notes how a visit ends, before it has.
func (x *exchange) watchHow(how End, message string) {
	if v := x.visit; v != nil && !v.over {
		v.how, v.message, v.over = how, message, true
	}
}

// watchStatus notes that headers go out.
func (x *exchange) watchStatus(status int) {
	if v := x.visit; v != nil {
		x.cfg.Observer.Answered(&v.Visit, x.w.Now(), status)
	}
}

// watchWrite notes that a piece of a stream has been written.
func (x *exchange) watchWrite(tokens, bytes int) {
	if v := x.visit; v != nil {
		x.cfg.Observer.Wrote(&v.Visit, x.w.Now(), tokens, bytes)
	}
}

// watchFailure notes an error that is the answer to a request.
func (x *exchange) watchFailure(f *failure) {
	switch {
	case x.cfg.Observer == nil || x.face.kind != faceRouter:
	case x.visit != nil:
		x.watchHow(EndRefused, f.message)
	default:
		x.cfg.Observer.Elsewhere(x.arrived, x.in.Method, x.in.URL.Path, f.status, f.message)
	}
}

// hashOf is FNV-1a, eight bytes at a time: it tells bodies apart, and is no secret to anybody.
func hashOf(body []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for ; len(body) >= 8; body = body[8:] {
		h ^= uint64(body[0]) | uint64(body[1])<<8 | uint64(body[2])<<16 | uint64(body[3])<<24 |
			uint64(body[4])<<32 | uint64(body[5])<<40 | uint64(body[6])<<48 | uint64(body[7])<<56
		h *= prime
		h ^= h >> 29
	}
	for _, c := range body {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

// retryCount returns what the official clients say of earlier attempts.
func retryCount(h http.Header) int {
	n, err := strconv.Atoi(h.Get("X-Stainless-Retry-Count"))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
