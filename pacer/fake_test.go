package pacer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

const seed = 1

// inBothWorlds runs body in virtual time, and on the wall inside a synctest bubble, where the clock
// moves only while everybody waits: so one timeline holds for both.
func inBothWorlds(t *testing.T, body func(t *testing.T, w sim.World, ctx context.Context)) {
	t.Helper()
	t.Run("virtual", func(t *testing.T) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		if err := w.Run(t.Context(), func(ctx context.Context) { body(t, w, ctx) }); err != nil {
			t.Errorf("seed %d: Run: %v", seed, err)
		}
	})
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWall(sim.WallOptions{Seed: seed})
			if err := w.Run(t.Context(), func(ctx context.Context) { body(t, w, ctx) }); err != nil {
				t.Errorf("seed %d: Run: %v", seed, err)
			}
		})
	})
}

// script is what a fake server does with one attempt.
type script struct {
	pool    time.Duration // until there is room for a connection
	connect time.Duration // from then on until there is one
	headers time.Duration // from then on until the response headers
	refuse  error         // instead of a response
	chunks  []chunk
	end     error // nil: io.EOF
	noTouch bool  // does not say when it is connected
}

// chunk is one event of a stream.
type chunk struct {
	after time.Duration // since the one before
	text  string        // empty: an event without output
	usage int           // output tokens, if not 0
	bytes int           // a comment of so many bytes instead of an event
	call  string        // a piece of a tool call's arguments
}

func say(after time.Duration, text string) chunk { return chunk{after: after, text: text} }

// backend plays a script for each attempt.
type backend struct {
	w    sim.World
	play func(a *pacer.Attempt) script
	hear func(a *pacer.Attempt, req *openai.ChatCompletionRequest) // nil: nobody does
}

func (b *backend) Open(ctx context.Context, a *pacer.Attempt, req openai.ChatCompletionRequest) (pacer.Stream, error) {
	if !req.Stream || req.StreamOptions == nil || !req.StreamOptions.IncludeUsage {
		return nil, fmt.Errorf("the request is not streamed with usage")
	}
	s := b.play(a)
	if b.hear != nil {
		b.hear(a, &req)
	}
	if s.pool > 0 {
		if err := b.w.Sleep(ctx, s.pool); err != nil {
			return nil, err
		}
	}
	if a.Dialing != nil {
		a.Dialing()
	}
	if err := b.w.Sleep(ctx, s.connect); err != nil {
		return nil, err
	}
	if !s.noTouch {
		a.Connected()
	}
	if err := b.w.Sleep(ctx, s.headers); err != nil {
		return nil, err
	}
	if s.refuse != nil {
		return nil, s.refuse
	}
	return &stream{w: b.w, ctx: ctx, script: s}, nil
}

type stream struct {
	w      sim.World
	ctx    context.Context
	script script
	next   int
	closed bool
	pr     pacer.Progress
}

func (s *stream) Recv() (openai.ChatCompletionStreamResponse, error) {
	var none openai.ChatCompletionStreamResponse
	for ; s.next < len(s.script.chunks); s.next++ {
		c := s.script.chunks[s.next]
		if err := s.w.Sleep(s.ctx, c.after); err != nil {
			return none, err
		}
		s.note(c)
		if c.bytes > 0 {
			continue
		}
		s.next++
		return c.response(), nil
	}
	if s.script.end == nil {
		return none, io.EOF
	}
	if s.script.end == errHang {
		if err := s.w.Sleep(s.ctx, 1000*time.Hour); err != nil {
			return none, err
		}
	}
	return none, s.script.end
}

// errHang as the end of a script: for 1000 hours nothing more arrives.
var errHang = errors.New("hang")

func (s *stream) note(c chunk) {
	s.w.Lock()
	defer s.w.Unlock()
	now := s.w.Now()
	s.pr.Bytes += int64(c.bytes + len(c.text) + 10)
	s.pr.LastByte = now
	if c.bytes > 0 {
		return
	}
	s.pr.Events++
	s.pr.LastEvent = now
	if c.text != "" {
		if s.pr.Tokens > 0 {
			s.pr.GapMax = max(s.pr.GapMax, now.Sub(s.pr.LastToken))
		}
		s.pr.Tokens++
		s.pr.LastToken = now
	}
}

func (s *stream) Progress() pacer.Progress { return s.pr }

func (s *stream) Close() error { s.closed = true; return nil }

func (c chunk) response() openai.ChatCompletionStreamResponse {
	r := openai.ChatCompletionStreamResponse{ID: "x", Model: "m"}
	if c.usage > 0 {
		r.Usage = &openai.Usage{CompletionTokens: c.usage}
		return r
	}
	delta := openai.ChatCompletionStreamChoiceDelta{Content: c.text}
	if c.call != "" {
		delta.ToolCalls = []openai.ToolCall{{Function: openai.FunctionCall{Arguments: c.call}}}
	}
	r.Choices = []openai.ChatCompletionStreamChoice{{Delta: delta}}
	return r
}

// recorder writes down what an Observer is told, one line an event.
type recorder struct {
	w     sim.World
	calls bool // each line says which call it is about
	lines []string
}

// of returns what a line about a call begins with.
func (r *recorder) of(s *pacer.CallState) string {
	if !r.calls {
		return ""
	}
	return strings.TrimLeft(strings.TrimPrefix(s.ID, s.Agent+"-c"), "0") + ": "
}

func (r *recorder) printf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf("%v ", time.Duration(r.w.Now()))+fmt.Sprintf(format, args...))
}

func (r *recorder) StageChanged(s *pacer.CallState, from pacer.Stage) {
	slot := ""
	if s.HoldsSlot {
		slot = " +slot"
	}
	r.printf("%s%s%s", r.of(s), s.Stage, slot)
}

func (r *recorder) AttemptEnded(s *pacer.CallState, a pacer.AttemptResult) {
	line := r.of(s) + fmt.Sprintf("a%d %s", s.Attempt(), a.Outcome)
	if a.Limit != "" {
		line += " " + a.Limit
	}
	if a.Hedge {
		line += " hedge"
	}
	if a.Beside {
		line += " beside"
	}
	if a.Status != 0 {
		line += fmt.Sprintf(" %d", a.Status)
	}
	line += fmt.Sprintf(" took=%v tokens=%d", a.Took, a.Tokens)
	if a.Kept != 0 {
		line += fmt.Sprintf(" kept=%d", a.Kept)
	}
	switch {
	case a.Again:
		line += fmt.Sprintf(" again=%v", a.Delay)
	case a.Stop.Special() || a.Stop == pacer.StopRetryAfter:
		line += fmt.Sprintf(" stop=%s", a.Stop)
	}
	r.printf("%s", line)
}

func (r *recorder) CallEnded(s *pacer.CallState, tokens int, err error) {
	r.printf("%sended tokens=%d err=%v", r.of(s), tokens, err != nil)
}

// quick is a policy without limits, jitter or floor, so that delays are round.
func quick() pacer.Policy {
	p := pacer.DefaultPolicy()
	p.Jitter, p.BackoffFloor, p.RetryAfterJitter = "none", 0, 0
	return p
}

func slots(n int, hold pacer.Hold) pacer.Config { return pacer.Config{Slots: n, Hold: hold} }

// request is a request of eight prompt tokens.
func request() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "abcdefghijklmnopqrstuvwxyz012345"}}}
}

func identity(agent string, call int) pacer.Identity {
	return pacer.Identity{Agent: agent, Task: "task", Round: 1, Step: call, Call: call}
}
