package main

import (
	"context"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// scene is a server that does the same to every attempt.
type scene struct {
	Name  string
	About string

	refuse *pacer.StatusError // instead of an answer; nil: there is one
	// headers is the time from the request to the response headers; never: there are none.
	headers time.Duration
	// first is the time from the request to the first output; never: there is none.
	first time.Duration
	// gap is the time between two tokens.
	gap time.Duration
	// tokens is the length of the answer, or of what there is of it if quiet.
	tokens int
	// quiet says that the stream does not end after its tokens, but goes quiet.
	quiet bool
	// comments is the time between two comments before the first output; 0: none.
	comments time.Duration
}

// never is longer than anybody waits here.
const never = 100 * 365 * 24 * time.Hour

// scenes are the servers that an explanation plays a policy against, the incident's call of 264 s first.
func scenes() [8]scene {
	const ms = time.Millisecond
	busy := func(after time.Duration) *pacer.StatusError {
		return &pacer.StatusError{Status: 503, Message: "busy", RetryAfter: after, HasRetryAfter: after > 0}
	}
	return [...]scene{
		{Name: "answer-264s", About: "an answer that takes 264 s: the first token after 2 s, then ten a second", headers: 1 * time.Second, first: 2 * time.Second, gap: 100 * ms, tokens: 2621},
		{Name: "held-back-264s", About: "the same answer, held back until it is complete: headers after 1 s, then only a comment every 15 s", headers: 1 * time.Second, first: 264 * time.Second, tokens: 2621, comments: 15 * time.Second},
		{Name: "silent-after-100s", About: "a stream that goes silent after 100 s, for good", headers: 1 * time.Second, first: 2 * time.Second, gap: 100 * ms, tokens: 981, quiet: true},
		{Name: "no-headers", About: "a server that takes the request and says nothing", headers: never},
		{Name: "busy", About: "a server that answers 503 at once", refuse: busy(0)},
		{Name: "busy-retry-after-30s", About: "the same, with Retry-After: 30", refuse: busy(30 * time.Second)},
		{Name: "busy-retry-after-600s", About: "the same, with Retry-After: 600", refuse: busy(600 * time.Second)},
		{Name: "short", About: "a healthy short answer of 5 s", headers: 1 * time.Second, first: 1 * time.Second, gap: 100 * ms, tokens: 41},
	}
}

// silences are the servers that go silent at the worst places of a call.
func silences() [3]scene {
	return [...]scene{
		{Name: "no headers", headers: never},
		{Name: "no token", headers: 0, first: never},
		{Name: "after a token", headers: 0, first: 0, tokens: 1, quiet: true},
	}
}

// sceneBackend is the backend of a scene in a virtual world.
type sceneBackend struct {
	w *sim.Virtual
	scene
}

var _ pacer.Backend = (*sceneBackend)(nil)

// Open implements pacer.Backend.
func (s *sceneBackend) Open(ctx context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	if s.refuse != nil {
		return nil, s.refuse
	}
	if err := s.w.Sleep(ctx, s.headers); err != nil {
		return nil, err
	}
	return &sceneStream{sceneBackend: s, ctx: ctx, opened: s.w.Now()}, nil
}

// sceneStream is the answer of a scene to one attempt.
type sceneStream struct {
	*sceneBackend
	ctx    context.Context
	opened sim.Instant
	pr     pacer.Progress
	ended  bool
}

var _ pacer.Stream = (*sceneStream)(nil)

// Recv implements pacer.Stream. A chunk is a token, but a whole answer that was held back.
func (p *sceneStream) Recv() (openai.ChatCompletionStreamResponse, error) {
	n := 1
	switch {
	case p.ended:
		return openai.ChatCompletionStreamResponse{}, io.EOF
	case p.pr.Tokens == 0:
		if err := p.awaitFirst(); err != nil {
			return openai.ChatCompletionStreamResponse{}, err
		}
		if p.gap == 0 {
			n = p.tokens
		}
	case p.pr.Tokens == p.tokens:
		if p.quiet {
			return openai.ChatCompletionStreamResponse{}, p.w.Sleep(p.ctx, never)
		}
		p.ended = true
		return openai.ChatCompletionStreamResponse{Usage: &openai.Usage{CompletionTokens: p.tokens}}, nil
	default:
		if err := p.w.Sleep(p.ctx, p.gap); err != nil {
			return openai.ChatCompletionStreamResponse{}, err
		}
	}
	p.note(n)
	return openai.ChatCompletionStreamResponse{ID: "answer", Model: "m", Choices: []openai.ChatCompletionStreamChoice{
		{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "word"}}}}, nil
}

// awaitFirst waits for the first output, with comments in between.
func (p *sceneStream) awaitFirst() error {
	for left := p.first - p.headers; left > 0; {
		wait := left
		if p.comments > 0 {
			wait = min(wait, p.comments)
		}
		if err := p.w.Sleep(p.ctx, wait); err != nil {
			return err
		}
		if left -= wait; left > 0 {
			p.w.Lock()
			p.pr.Bytes, p.pr.LastByte = p.pr.Bytes+1, p.w.Now()
			p.w.Unlock()
		}
	}
	return nil
}

// note counts n tokens that have arrived.
func (p *sceneStream) note(n int) {
	p.w.Lock()
	defer p.w.Unlock()
	now := p.w.Now()
	p.pr.Tokens, p.pr.Events, p.pr.Bytes = p.pr.Tokens+n, p.pr.Events+1, p.pr.Bytes+int64(n*pacer.BytesPerToken)
	p.pr.LastByte, p.pr.LastEvent, p.pr.LastToken = now, now, now
}

// Progress implements pacer.Stream.
func (p *sceneStream) Progress() pacer.Progress { return p.pr }

// Close implements pacer.Stream.
func (p *sceneStream) Close() error { return nil }
