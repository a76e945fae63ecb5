package serving

import (
	"context"
	"errors"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
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
	s        *Stack
	r        request
	taken    int  // tokens given out by Take
	comments int  // given out by Take
	broken   bool // the event that is no JSON has been given out

	severed   bool        // nothing gets through between client and servers any more
	severedAt sim.Instant // when that began
	left      bool        // the client has, before it had all
	wake      *sim.Timer  // of the wait under way; nil: there was none with an end so far
	frozen    pacer.Progress
}

// Hold puts a proxy between the servers and the client, as [Connection] says with Buffer. It must be
// called before anything else is.
func (h *Handle) Hold(c Connection) {
	if !c.Buffer {
		return
	}
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.r.holdFrom = sim.Never
	if c.BufferFor > 0 {
		h.r.holdFrom = h.r.arrived.Add(c.BufferFor)
	}
}

// ResponseID returns the id that the engine has given to the request, and that stands in the chunks of
// its answer. It is known once there are headers. The router does not know it, nor the log.
func (h *Handle) ResponseID() string {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	return h.r.responseID
}

// WaitHeaders waits until response headers are due. It returns nil if their status is 200, a *Refusal
// if it is another one, [ErrReset] if the connection is reset first, and the cause of ctx if that ends
// first, which leaves the request as it is.
func (h *Handle) WaitHeaders(ctx context.Context) error {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	for {
		h.s.enter()
		until := sim.Never
		switch {
		case h.severed:
		case h.r.headersShown():
			return nil
		case h.r.failure != nil:
			return h.r.failure
		case h.r.status != 0 && h.r.holdFrom > h.s.now():
			until = h.r.holdFrom
		}
		if err := h.waitLocked(ctx, until, waitsForHeaders); err != nil {
			return err
		}
	}
}

// Wait waits until an instant has come or the answer has ended, whichever is first. It may also
// return for no reason. With [sim.Never], which Take returns when nothing more is due, it waits for
// the end alone. It returns the cause of ctx if that ends first.
func (h *Handle) Wait(ctx context.Context, until sim.Instant) error {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.s.enter()
	for h.severed {
		if err := h.waitLocked(ctx, sim.Never, waitsForBody); err != nil {
			return err
		}
	}
	if h.r.over() || until <= h.s.now() {
		return nil
	}
	return h.waitLocked(ctx, until, waitsForBody)
}

// waitLocked waits for a change or an instant, with the monitor held.
func (h *Handle) waitLocked(ctx context.Context, until sim.Instant, what string) error {
	if until < sim.Never && !h.severed {
		if d := until.Sub(h.s.now()); h.wake == nil {
			h.wake = h.s.w.AfterFunc(d, func() { h.r.changed.WakeAllLocked(h.s.w) })
		} else {
			h.wake.Reset(d)
		}
		defer h.wake.Stop()
	}
	return h.r.changed.WaitLocked(ctx, h.s.w, what)
}

// What a process that waits for an answer says.
const (
	waitsForHeaders = "response headers"
	waitsForBody    = "response body"
)

// sever cuts the way between client and servers, with the monitor held: nothing gets through any
// more, and neither side is told.
func (h *Handle) sever() {
	h.s.enter()
	h.frozen = h.Progress()
	h.severed, h.severedAt = true, h.s.now()
	h.r.changed.WakeAllLocked(h.s.w)
}

// Defects returns what is wrong with the end of the answer. It is known once there are headers.
func (h *Handle) Defects() Defects {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	return h.r.defects
}

// Take returns the part of the answer that has become due since the last call, without waiting, and
// the instant when more will be: not in the future if more is due already, sim.Never if only the end
// can change that. An error says that no more will come. Once a part has Finish, Error or Cut there is
// no need to ask again.
func (h *Handle) Take() (part Part, more sim.Instant, err error) {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	h.s.enter()
	if h.severed {
		return part, sim.Never, nil
	}
	r := &h.r
	if seen, _ := r.seen(); seen > h.taken {
		part = h.takeText(seen)
		if h.taken < seen {
			return part, h.s.now(), nil
		}
	}
	if n, _ := r.comments(); n > h.comments {
		if part.Tokens > 0 {
			return part, h.s.now(), nil // comments come before what else is in a part, and so in the next
		}
		part.Comments, h.comments = n-h.comments, n
	}
	if part.Tokens == 0 && r.failure != nil {
		return part, sim.Never, r.failure
	}
	if r.closed {
		part.Error, part.Cut = r.inBand, r.cut
		if r.inBand == nil && !r.cut {
			part.Finish = r.reply.finish
		}
	}
	return part, r.next(), nil
}

// takeText returns the text up to a token, or only the first of it. An event that is broken is the
// last of its part.
func (h *Handle) takeText(seen int) Part {
	r := &h.r
	breaks := r.stop.at != never && r.stop.what == fault.Malformed && !h.broken && seen > r.stop.at
	if breaks {
		seen = r.stop.at + 1
	}
	part := r.reply.part(h.taken, seen)
	h.taken += part.Tokens
	if breaks && h.taken == seen {
		part.Malformed, h.broken = true, true
	}
	return part
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
	if h.severed || !h.r.over() {
		h.leaves()
	}
	if h.severed {
		return // the servers do not hear of it
	}
	if r := &h.r; !r.over() {
		r.failure = errLeft
		h.s.abandon(r)
		r.changed.WakeAllLocked(h.s.w)
	}
	h.s.leave()
}

// abandon is what the router does when a client has left.
func (s *Stack) abandon(r *request) {
	if r.phase.over() {
		return
	}
	s.aborts++
	if a := r.a; a != nil {
		if r.status != 0 && s.cfg.Router.DropUpstream == DropNextToken {
			made, _ := a.decode.Made(s.now())
			a.dropNext, a.decode.MarkTokens = true, made+1
			a.decode.Remark()
		} else {
			a.abort()
		}
	}
	s.end(r, phaseAborted, Left)
}
