package serving

import (
	"context"
	"errors"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// errLeft is what is left for a client that has gone.
var errLeft = errors.New("serving: the client has left")

// Handle is a request as its client, or the HTTP front on its behalf, sees it. Make one with
// [Stack.Submit]. Its methods are safe for concurrent use, but only one caller may take the answer;
// they must be called without the monitor held, except Progress. On the wall they may be called by
// any goroutine, with any context.
//
// A front serves a streamed request in this order:
//
//	h := stack.Submit(request)
//	defer h.Cancel()                   // the client leaves, unless all was taken
//	err := h.WaitHeaders(ctx)          // ctx of the HTTP request, which ends when its client leaves
//	... write the status and headers: of a *Refusal, or 200
//	for {
//		part, more, err := h.Take()
//		... write and flush part, all in one piece; end after part.Finish or err
//		err = h.Wait(ctx, more)
//	}
//
// Take gives all that is due by then. A front that waits until a little later than more gets the
// tokens of several steps together and writes once for all of them.
type Handle struct {
	s     *Stack
	r     request
	taken int // tokens given out by Take
}

// WaitHeaders waits until response headers are due. It returns nil if their status is 200, a *Refusal
// if it is another one, [ErrReset] if the connection is reset first, and the cause of ctx if that ends
// first, which leaves the request as it is.
func (h *Handle) WaitHeaders(ctx context.Context) error {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	for h.s.enter(); !h.r.headersOut; h.s.enter() {
		if h.r.failure != nil {
			return h.r.failure
		}
		if err := h.r.changed.WaitLocked(ctx, h.s.w, waitsForHeaders); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits until an instant has come or the answer has ended, whichever is first. It may also
// return for no reason. With [sim.Never], which Take returns when nothing more is due, it waits for
// the end alone. It returns the cause of ctx if that ends first.
func (h *Handle) Wait(ctx context.Context, until sim.Instant) error {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.s.enter()
	if h.r.over() || until <= h.s.now {
		return nil
	}
	if until < sim.Never {
		t := h.s.w.AfterFunc(until.Sub(h.s.now), func() { h.r.changed.WakeAllLocked(h.s.w) })
		defer t.Stop()
	}
	return h.r.changed.WaitLocked(ctx, h.s.w, waitsForBody)
}

// What a process that waits for an answer says.
const (
	waitsForHeaders = "response headers"
	waitsForBody    = "response body"
)

// waitEnd waits until the answer has ended, and returns how if it did not end well.
func (h *Handle) waitEnd(ctx context.Context) error {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	for h.s.enter(); !h.r.over(); h.s.enter() {
		if err := h.r.changed.WaitLocked(ctx, h.s.w, waitsForBody); err != nil {
			return err
		}
	}
	return h.r.failure
}

// waitFirst waits until the first token has reached the client. It returns how many tokens the first
// section of the answer has, of those that will arrive in the end.
func (h *Handle) waitFirst(ctx context.Context) (tokens int, err error) {
	for {
		h.s.w.Lock()
		h.s.enter()
		seen, _ := h.s.seen(&h.r)
		next, failure := h.s.nextToken(&h.r), h.r.failure
		h.s.w.Unlock()
		if seen > 0 {
			return min(h.r.reply.firstSection(), h.r.lastShown()), nil
		}
		if failure != nil {
			return 0, failure
		}
		if err := h.Wait(ctx, next); err != nil {
			return 0, err
		}
	}
}

// Part is a stretch of an answer. Its texts are slices of texts that are shared by many.
type Part struct {
	Tokens    int                 // output tokens in it
	Reasoning string              // comes first in an answer
	Content   string              // comes after the reasoning
	Tool      string              // name of the tool, in the part that the call begins in
	Arguments string              // of the tool call, which comes last
	Finish    openai.FinishReason // of the whole answer, in its last part; empty: more is to come

	// What faults do to the answer.
	Comments  int      // SSE comments that are due before the rest of the part
	Malformed bool     // the last event of the part is to be written as broken JSON
	Error     *Refusal // ends the answer: an error event after the rest of the part, then [DONE]; nil: none
	Cut       bool     // the body ends after the part, without finish reason and [DONE]
}

// Defects is what faults do to the end of an answer. The zero value is nothing.
type Defects struct {
	NoDone        bool // [DONE] is not sent
	OpenAfterDone bool // the body stays open after [DONE]
	NoUsage       bool // no usage, though it was asked for
	TruncateCall  bool // the arguments of the tool call end early
}

// Defects returns what is wrong with the end of the answer. It is known once there are headers.
func (h *Handle) Defects() Defects { return Defects{} }

// Take returns the part of the answer that has become due since the last call, without waiting, and
// the instant when more will be: not in the future if more is due already, sim.Never if only the end
// can change that. An error says that no more will come.
func (h *Handle) Take() (part Part, more sim.Instant, err error) {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.s.enter()
	seen, _ := h.s.seen(&h.r)
	if seen > h.taken {
		part = h.r.reply.part(h.taken, seen)
		h.taken += part.Tokens
	}
	if h.taken < seen {
		return part, h.s.now, nil
	}
	if part.Tokens == 0 && h.r.failure != nil {
		return part, sim.Never, h.r.failure
	}
	if h.r.over() && h.r.failure == nil {
		part.Finish = h.r.reply.finish
	}
	return part, h.s.nextToken(&h.r), nil
}

// Usage returns what the answer is charged for, once it is complete.
func (h *Handle) Usage() openai.Usage { return *h.charge() }

// charge is Usage in one piece of memory.
func (h *Handle) charge() *openai.Usage {
	var c struct {
		openai.Usage
		details openai.CompletionTokensDetails
	}
	c.PromptTokens, c.CompletionTokens = h.r.Prompt.Tokens, h.r.reply.tokens
	c.TotalTokens = c.PromptTokens + c.CompletionTokens
	c.details.ReasoningTokens = h.r.reply.reasoning
	c.CompletionTokensDetails = &c.details
	return &c.Usage
}

// Cancel says that the client has left. It does nothing if the answer was complete, or was cancelled
// before.
func (h *Handle) Cancel() {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.s.enter()
	if !h.r.over() {
		h.r.failure = errLeft
		h.s.abort(&h.r)
		h.r.changed.WakeAllLocked(h.s.w)
		h.s.proceed()
	}
	h.s.leave()
}

// Progress says what has reached the client by now, with the monitor held. Bytes and events are those
// of a stream with an event for each token.
func (h *Handle) Progress() pacer.Progress {
	h.s.enter()
	tokens, last := h.s.seen(&h.r)
	if tokens == 0 {
		return pacer.Progress{}
	}
	events := 1 + tokens // the first has the role
	if h.r.over() && h.r.failure == nil {
		events += 2 // finish and usage
	}
	return pacer.Progress{
		Bytes:     int64(events)*eventBytes + int64(tokens)*pacer.BytesPerToken,
		Events:    events,
		Tokens:    tokens,
		LastByte:  last,
		LastEvent: last,
		LastToken: last,
	}
}

// eventBytes is what an event has besides its text: the frame, ids and nulls of a chunk.
const eventBytes = 232

// seen returns how many tokens have reached the client by now, and when the last of them did.
func (s *Stack) seen(r *request) (tokens int, last sim.Instant) {
	tokens, last = s.made(r)
	complete := r.stage == StageDone && !r.silenced
	if r.silenced {
		tokens, last = r.silentAt, r.silentFrom
	}
	if tokens == 0 || !complete && (!r.Stream || s.now < r.heldUntil) {
		return 0, 0
	}
	if !complete {
		last = max(last, r.heldUntil)
	}
	return tokens, last
}

// nextToken returns when the next token is due, as things stand.
func (s *Stack) nextToken(r *request) sim.Instant {
	switch {
	case r.over():
		return s.now
	case !r.Stream:
		return sim.Never
	case s.now < r.heldUntil:
		return r.heldUntil
	case r.stage != StageDecode || r.hung || r.silenced:
		return sim.Never
	}
	steps, _ := s.decode.batch.at(s.now)
	return s.decode.batch.endOf(max(steps, r.startStep) + 1)
}
