package published

import (
	"context"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// replyScript is what a server does with every attempt: nothing at all, refuse, or stream.
type replyScript struct {
	silent bool
	status int // not 0: the answer's, at once
	chunks int
	gap    time.Duration // before each chunk
}

// scripted is a server that plays a script.
type scripted struct {
	w      sim.World
	script replyScript
	begins []time.Duration
	sent   int // chunks, by the last attempt
}

var _ pacer.Backend = (*scripted)(nil)

// lag is how long anything takes to arrive.
const lag = time.Millisecond

// Open plays the beginning of an attempt.
func (s *scripted) Open(ctx context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	s.begins = append(s.begins, time.Duration(s.w.Now()))
	s.sent = 0
	a.Connected()
	wait := lag
	if s.script.silent {
		wait = 1000 * time.Hour
	}
	if err := s.w.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	if s.script.status != 0 {
		return nil, &pacer.StatusError{Status: s.script.status, Message: "overloaded"}
	}
	return &scriptedStream{s: s, ctx: ctx}, nil
}

// scriptedStream is an attempt that is answered.
type scriptedStream struct {
	s   *scripted
	ctx context.Context
	pr  pacer.Progress
}

var _ pacer.Stream = (*scriptedStream)(nil)

// Recv plays a chunk.
func (t *scriptedStream) Recv() (openai.ChatCompletionStreamResponse, error) {
	var r openai.ChatCompletionStreamResponse
	if t.s.sent == t.s.script.chunks {
		return r, io.EOF
	}
	if err := t.s.w.Sleep(t.ctx, t.s.script.gap); err != nil {
		return r, err
	}
	t.s.w.Lock()
	defer t.s.w.Unlock()
	t.s.sent++
	now := t.s.w.Now()
	t.pr = pacer.Progress{Bytes: t.pr.Bytes + 1, Events: t.pr.Events + 1, Tokens: t.pr.Tokens + 1, LastByte: now, LastEvent: now, LastToken: now}
	r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "word"}}}
	return r, nil
}

// Progress says what has arrived.
func (t *scriptedStream) Progress() pacer.Progress { return t.pr }

// Close ends the stream.
func (t *scriptedStream) Close() error { return nil }
