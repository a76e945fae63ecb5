package serving_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// served is what a front has written for a request.
type served struct {
	headersAt, endAt sim.Instant
	writes, tokens   int
	reasoning        string
	content          string
	tool, arguments  string
	finish           openai.FinishReason
	inBand           *serving.Refusal // the answer ended with this event
	cut              bool             // the body ended early
	comments         int
	err              error
}

// serve is an HTTP front without HTTP: the loop of the comment on Handle. It writes at most once in a
// given time.
func (p *play) serve(ctx context.Context, q serving.Request, every time.Duration) (out served) {
	h := p.s.Submit(q)
	defer h.Cancel()
	defer func() { out.endAt = p.w.Now() }()
	if out.err = h.WaitHeaders(ctx); out.err != nil {
		return out
	}
	out.headersAt = p.w.Now()
	promised := p.w.Now()
	for {
		part, more, err := h.Take()
		if err != nil {
			out.err = err
			return out
		}
		if part.Tokens == 0 && part.Comments == 0 && part.Finish == "" && part.Error == nil && !part.Cut && promised < sim.Never {
			p.t.Errorf("at %v: nothing is due, %v was said", p.w.Now(), promised)
		}
		promised = more
		if part.Tokens > 0 {
			out.writes++
		}
		out.tokens += part.Tokens
		out.reasoning += part.Reasoning
		out.content += part.Content
		out.tool += part.Tool
		out.arguments += part.Arguments
		out.comments += part.Comments
		if part.Finish != "" || part.Error != nil || part.Cut {
			out.finish, out.inBand, out.cut = part.Finish, part.Error, part.Cut
			return out
		}
		if out.err = h.Wait(ctx, max(more, min(sim.Never, p.w.Now().Add(every)))); out.err != nil {
			return out
		}
	}
}

// toolChat asks for a call of the given tool.
func toolChat(tool string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Go on.\nSteps: " + tool + "."}},
		Tools:    []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: tool}}},
		Stream:   true,
	}
}

// TestFront checks that a front gets the same text as a client in memory, token by token or many at
// once, and that the end of the answer does not wait for the front's own interval.
func TestFront(t *testing.T) {
	const tokens, reasoning = 500, 300
	su := setup{model: serving.Model{Output: func(string, int, int) (int, int) { return tokens, reasoning }}}
	for _, row := range []struct {
		name   string
		every  time.Duration
		stream bool
		writes int
	}{
		{"token by token", 0, true, tokens},
		{"ten steps together", 205 * time.Millisecond, true, tokens/10 + 1},
		{"never before the end", time.Hour, true, 2},
		{"not streamed", 0, false, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBothWorlds(t, su, 1, func(p *play) {
				req := toolChat("write")
				memory := p.chat(p.ctx, "r1", req)
				start := p.w.Now()
				q := serving.NewRequest("r2", &req)
				q.Stream = row.stream
				got := p.serve(p.ctx, q, row.every)
				p.must(got.err)
				if got.reasoning != memory.reasoning || got.content != memory.content || got.arguments != memory.arguments || got.tool != memory.tool {
					t.Errorf("front and memory differ: %d and %d bytes of reasoning, %d and %d of content, %d and %d of arguments",
						len(got.reasoning), len(memory.reasoning), len(got.content), len(memory.content), len(got.arguments), len(memory.arguments))
				}
				if got.tokens != tokens || got.finish != openai.FinishReasonToolCalls || got.writes != row.writes {
					t.Errorf("%d tokens in %d writes, finish %q; want %d in %d, %q", got.tokens, got.writes, got.finish, tokens, row.writes, openai.FinishReasonToolCalls)
				}
				if took := got.endAt.Sub(start); took != memory.took() {
					t.Errorf("the front took %v, memory %v", took, memory.took())
				}
				wantHeaders := memory.headers.Sub(memory.start)
				if !row.stream {
					wantHeaders = memory.took()
				}
				if headers := got.headersAt.Sub(start); headers != wantHeaders {
					t.Errorf("headers after %v, want %v", headers, wantHeaders)
				}
				p.atRest()
			})
		})
	}
}

// TestFrontsTogether has fronts come and go in the middle of each other's steps: no wait may end before
// a token is due.
func TestFrontsTogether(t *testing.T) {
	su := setup{model: serving.Model{Output: func(_ string, _, promptTokens int) (int, int) { return promptTokens, 0 }}}
	inBothWorlds(t, su, 1, func(p *play) {
		all := make([]*sim.Process, 8)
		for i := range all {
			all[i] = p.w.Spawn(p.ctx, "front", func(ctx context.Context) {
				p.must(p.w.Sleep(ctx, time.Duration(i)*333*time.Millisecond))
				q := serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 30 + 20*i}, Stream: true}
				if got := p.serve(ctx, q, 0); got.err != nil || got.writes != q.Prompt.Tokens {
					t.Errorf("front %d: %d writes, error %v; want %d", i, got.writes, got.err, q.Prompt.Tokens)
				}
			})
		}
		for _, f := range all {
			p.must(f.Wait(p.ctx))
		}
		p.atRest()
	})
}

// TestFrontClientLeaves has the client of a front go away at different moments.
func TestFrontClientLeaves(t *testing.T) {
	for _, after := range []time.Duration{0, 10 * time.Millisecond, 60 * time.Millisecond, time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			inBothWorlds(t, setup{}, 1, func(p *play) {
				ctx, stop := sim.WithTimeout(p.ctx, p.w, after, context.DeadlineExceeded)
				defer stop()
				req := prompt(100, 1000)
				q := serving.NewRequest("r", &req)
				q.Stream = true
				got := p.serve(ctx, q, 0)
				if !errors.Is(got.err, context.DeadlineExceeded) || p.w.Now() != sim.Instant(after) {
					t.Errorf("ended with %v at %v", got.err, p.w.Now())
				}
				p.sleep(time.Second)
				p.atRest()
			})
		})
	}
}

// TestFrontReset checks that all tokens before a reset are given out before the error.
func TestFrontReset(t *testing.T) {
	su := setup{faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Reset, AfterTokens: 25}}}
	inBothWorlds(t, su, 1, func(p *play) {
		req := prompt(100, 1000)
		q := serving.NewRequest("r", &req)
		q.Stream = true
		if got := p.serve(p.ctx, q, time.Hour); !errors.Is(got.err, serving.ErrReset) || got.tokens != 25 {
			t.Errorf("%d tokens, then %v; want 25, then %v", got.tokens, got.err, serving.ErrReset)
		}
		p.sleep(10 * time.Second) // until the engine has noticed
		p.atRest()
	})
}

// TestCancelByOther has somebody else cancel a request that a front waits for.
func TestCancelByOther(t *testing.T) {
	inBothWorlds(t, setup{}, 1, func(p *play) {
		h := p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, Stream: true})
		waiter := p.w.Spawn(p.ctx, "waiter", func(ctx context.Context) {
			p.must(h.WaitHeaders(ctx))
			p.must(h.Wait(ctx, sim.Never))
			for range 2 {
				if part, _, err := h.Take(); (part.Tokens == 0) != (err != nil) {
					t.Errorf("Take: %d tokens and %v", part.Tokens, err)
				}
			}
		})
		p.sleep(time.Second)
		h.Cancel()
		h.Cancel()
		p.must(waiter.Wait(p.ctx))
		p.sleep(10 * time.Second)
		p.atRest()
	})
}

// TestToolCalls checks the answers that the model gives in the agents' conversation.
func TestToolCalls(t *testing.T) {
	for _, row := range []struct {
		name              string
		tool              string
		tokens, reasoning int
		tokensMax         int
		wantContent       int // bytes
		wantArguments     string
		wantFinish        openai.FinishReason
	}{
		{"write", "write", 200, 100, 0, 0, `{"path":"article.md","text":"each agent waits`, openai.FinishReasonToolCalls},
		{"append", "append", 200, 0, 0, 0, `{"path":"article.md","text":"each agent waits`, openai.FinishReasonToolCalls},
		{"all of it reasoning", "write", 200, 200, 0, 0, `{"path":"article.md","text":""}`, openai.FinishReasonToolCalls},
		{"one token", "write", 1, 0, 0, 0, `{"path":"article.md","text":""}`, openai.FinishReasonToolCalls},
		{"read_message", "read_message", 200, 100, 0, 4 * (100 - 4), `{"message":1}`, openai.FinishReasonToolCalls},
		{"save", "save", 200, 100, 0, 4 * (100 - 6), `{"path":"article.md"}`, openai.FinishReasonToolCalls},
		{"another tool", "sing", 200, 100, 0, 4 * (100 - 1), `{}`, openai.FinishReasonToolCalls},
		{"no tool", "", 200, 100, 0, 4 * 100, "", openai.FinishReasonStop},
		{"cut in the call", "write", 200, 100, 110, 0, `{"path":"article.md","text":"each agent wa`[:40], openai.FinishReasonLength},
		{"cut before the call", "write", 200, 100, 90, 0, "", openai.FinishReasonLength},
		{"cut in the content", "save", 200, 100, 150, 200, "", openai.FinishReasonLength},
		{"limit not reached", "save", 200, 100, 200, 4 * (100 - 6), `{"path":"article.md"}`, openai.FinishReasonToolCalls},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{model: serving.Model{Output: func(string, int, int) (int, int) { return row.tokens, row.reasoning }}}
			su.run(t, 1, func(p *play) {
				req := toolChat(row.tool)
				req.MaxCompletionTokens = row.tokensMax
				req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
				a := p.chat(p.ctx, "r", req)
				p.must(a.err)
				if !strings.HasPrefix(a.arguments, row.wantArguments) || (row.wantArguments == "") != (a.tool == "") || len(a.content) != row.wantContent || a.finish != row.wantFinish {
					t.Errorf("tool %q, arguments %.60q, %d bytes of content, finish %q", a.tool, a.arguments, len(a.content), a.finish)
				}
				if row.wantFinish == openai.FinishReasonToolCalls && !json.Valid([]byte(a.arguments)) {
					t.Errorf("arguments are not JSON: %q", a.arguments)
				}
				want := row.tokens
				if row.tokensMax > 0 {
					want = min(want, row.tokensMax)
				}
				if a.usage.CompletionTokens != want {
					t.Errorf("%d tokens charged, want %d", a.usage.CompletionTokens, want)
				}
				text := len(a.reasoning) + len(a.content) + len(a.arguments)
				if off := want*pacer.BytesPerToken - text; row.tokens > 1 && (off < -32 || off > 3) {
					t.Errorf("%d bytes of text for %d tokens", text, want)
				}
			})
		})
	}
}

// TestLongAnswer checks an answer that is longer than the text that all answers are cut from.
func TestLongAnswer(t *testing.T) {
	su := setup{
		cfg:   func(c *serving.Config) { c.Router.RequestTimeout = 0 },
		model: serving.Model{Output: func(string, int, int) (int, int) { return 170_000, 140_000 }},
	}
	su.run(t, 1, func(p *play) {
		a := p.chat(p.ctx, "r", prompt(10, 0))
		p.must(a.err)
		if len(a.reasoning) != 4*140_000 || len(a.content) != 4*30_000 {
			t.Errorf("%d bytes of reasoning and %d of content", len(a.reasoning), len(a.content))
		}
	})
}
