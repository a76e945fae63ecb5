package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// stream is the answer to a client in memory, until it is closed: its body is used for other answers
// then, and says by its turn that it is somebody else's.
type stream struct {
	*body
	turn uint64
}

// body is what a stream hands out, in few chunks. The first one comes when the first token does, and
// has all of the answer's first section, mostly its reasoning: a receiver that puts texts together
// then has nothing to copy. So the text runs ahead of the tokens, but never beyond what will arrive in
// the end; Progress is exact. The rest comes when the answer is complete.
type body struct {
	c      *Client
	turn   uint64                  // guarded by the monitor
	ctx    context.Context         // of Open, which ends Recv too
	cancel context.CancelCauseFunc // nil: nothing but ctx ends it
	h      Handle
	lease  sim.Lease
	model  string
	// created is when the request arrived, as a Unix time.
	created int64
	usage   bool // a chunk with it is wanted
	state   streamState
	given   int // tokens handed out as text

	choices [3]openai.ChatCompletionStreamChoice // those of the chunks handed out
	used    int
	call    [1]openai.ToolCall // the first piece of it

	next, before *body // neighbours in one of the client's lists
	isOpen       bool
}

// streamState is what the stream hands out next.
type streamState uint8

const (
	streamFirst  streamState = iota // the first token
	streamRest                      // what is left of the text
	streamFinish                    // the chunk with the finish reason
	streamUsage                     // the chunk with the usage, if it is wanted
	streamEnd
)

var _ pacer.Stream = (*stream)(nil)

// Recv implements pacer.Stream.
func (st *stream) Recv() (chunk openai.ChatCompletionStreamResponse, err error) {
	if st.turn != st.body.turn {
		return chunk, errLeft
	}
	if err = st.receive(&chunk); err != nil && !st.lingers() {
		_ = st.end() // as net/http does with a body that has ended
	}
	return chunk, err
}

// Progress implements pacer.Stream.
func (st *stream) Progress() pacer.Progress {
	if st.turn != st.body.turn {
		return pacer.Progress{}
	}
	return st.h.Progress()
}

// Close implements pacer.Stream. It may be called more than once.
func (st *stream) Close() error {
	st.c.s.w.Lock()
	closed := st.turn != st.body.turn
	st.c.s.w.Unlock()
	if closed {
		return nil
	}
	if st.lingers() {
		_ = st.c.s.w.Sleep(st.ctx, drainMax) // whoever is not that patient leaves earlier
	}
	err := st.end()
	st.c.reuse(st.body)
	return err
}

// What a client makes of an answer that has come to a bad end.
var (
	errCut    = fmt.Errorf("serving: the stream ended without [DONE] and before the answer was finished: %w", io.ErrUnexpectedEOF)
	errBroken = errors.New("serving: an event of the stream is no valid JSON")
)

// drainMax is how long an HTTP client waits for the end of a body after [DONE] before it gives the
// connection up: see package httpbackend.
const drainMax = time.Second

// lingers says whether the body stays open although all of it has been received.
func (b *body) lingers() bool { return b.state == streamEnd && b.h.r.defects.OpenAfterDone }

// receive fills in the next chunk, which is empty.
func (b *body) receive(chunk *openai.ChatCompletionStreamResponse) error {
	if b.state == streamFirst {
		tokens, err := b.h.waitFirst(b.ctx)
		if err != nil {
			return err
		}
		b.state = streamRest
		if tokens > 0 {
			b.text(chunk, tokens)
			chunk.Choices[0].Delta.Role = openai.ChatMessageRoleAssistant
			return nil
		}
	}
	if b.state == streamRest {
		tokens, err := b.h.waitEnd(b.ctx)
		if b.given < tokens {
			b.text(chunk, tokens)
			return nil
		}
		if err != nil {
			return err
		}
		b.state = streamFinish
	}
	switch b.state {
	case streamFinish:
		b.state = streamUsage
		choice := b.choice()
		choice[0].FinishReason = b.h.r.reply.finish
		b.fill(chunk, choice)
		return nil
	case streamUsage:
		b.state = streamEnd
		if b.usage && !b.h.r.defects.NoUsage {
			b.fill(chunk, []openai.ChatCompletionStreamChoice{})
			chunk.Usage = b.h.charge()
			return nil
		}
	}
	return io.EOF
}

// waitFirst waits until the first token has reached the client. It returns how many tokens the first
// section of the answer has, of those that will arrive in the end; 0 if there will be none.
func (h *Handle) waitFirst(ctx context.Context) (tokens int, err error) {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	for {
		h.s.enter()
		r := &h.r
		seen, _ := r.seen()
		switch {
		case h.severed:
		case seen > 0:
			return min(r.reply.firstSection(), r.lastShown()), nil
		case r.failure != nil:
			return 0, r.failure
		case r.closed || h.brokenBy(seen):
			return 0, nil
		}
		if err := h.waitLocked(ctx, r.next(), waitsForBody); err != nil {
			return 0, err
		}
	}
}

// waitEnd waits until the answer has ended, or is broken. It returns how many tokens of it there are,
// and what was wrong with its end.
func (h *Handle) waitEnd(ctx context.Context) (tokens int, err error) {
	h.s.w.Lock()
	defer h.s.w.Unlock()
	for {
		h.s.enter()
		r := &h.r
		until := sim.Never
		if !h.severed {
			seen, _ := r.seen()
			switch {
			case r.failure != nil:
				return 0, r.failure
			case h.brokenBy(seen):
				return r.stop.at, errBroken
			case r.closed && r.inBand != nil:
				return seen, &pacer.StatusError{Status: r.inBand.Status, Message: r.inBand.Message, InStream: true}
			case r.closed && r.cut:
				return seen, errCut
			case r.closed:
				return seen, nil
			case r.stop.reached && r.stop.what == fault.Malformed:
				until = r.next() // what is broken is held back
			}
		}
		if err := h.waitLocked(ctx, until, waitsForBody); err != nil {
			return 0, err
		}
	}
}

// brokenBy says whether the event that is no JSON is among those that so many tokens have come with.
func (h *Handle) brokenBy(seen int) bool {
	stop := &h.r.stop
	return stop.at != never && stop.what == fault.Malformed && seen > stop.at
}

// text fills a chunk with the text up to the given number of tokens, or with the first of it.
func (b *body) text(chunk *openai.ChatCompletionStreamResponse, tokens int) {
	part := b.h.r.reply.part(b.given, tokens)
	b.given += part.Tokens
	choice := b.choice()
	d := &choice[0].Delta
	d.ReasoningContent, d.Content = part.Reasoning, part.Content
	if part.Arguments != "" {
		d.ToolCalls = b.call[:]
		if part.Tool == "" { // a further piece
			d.ToolCalls = make([]openai.ToolCall, 1)
		}
		d.ToolCalls[0] = openai.ToolCall{
			Index:    &b.c.index,
			ID:       b.h.r.ID,
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: part.Tool, Arguments: part.Arguments},
		}
	}
	b.fill(chunk, choice)
}

// choice returns room for a choice. The first few are part of the body, and none is used twice for
// one stream.
func (b *body) choice() []openai.ChatCompletionStreamChoice {
	if b.used == len(b.choices) {
		return make([]openai.ChatCompletionStreamChoice, 1)
	}
	b.used++
	return b.choices[b.used-1 : b.used : b.used]
}

func (b *body) fill(chunk *openai.ChatCompletionStreamResponse, choices []openai.ChatCompletionStreamChoice) {
	chunk.ID, chunk.Model = b.h.r.responseID, b.model
	chunk.Object, chunk.Created = "chat.completion.chunk", b.created
	chunk.Choices = choices
}

// end says that the client has left, and gives the connection back. It may be called more than once.
func (b *body) end() error {
	b.h.Cancel()
	b.c.s.w.Lock()
	b.c.done(b)
	cancel := b.cancel
	b.cancel = nil
	b.c.s.w.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
	lease := b.lease
	b.lease = sim.Lease{}
	return lease.Release()
}
