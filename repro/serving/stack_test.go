package serving_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// TestFirstComeFirstServed checks that nobody is overtaken, whatever runs out: prefill's turn, memory
// or slots on either side, the running batch.
func TestFirstComeFirstServed(t *testing.T) {
	for _, row := range []struct {
		name   string
		tokens int // of each answer
		cfg    func(c *serving.Config)
	}{
		{"prefill", 50, func(c *serving.Config) {}},
		{"prefill slots", 50, func(c *serving.Config) { c.Prefill.RequestsMax = 1 }},
		{"prefill memory", 50, func(c *serving.Config) { c.Prefill.KVTokens = 4000 }},
		{"decode slots", 50, func(c *serving.Config) { c.Decode.RequestsMax = 2 }},
		{"decode slots, one token", 1, func(c *serving.Config) { c.Decode.RequestsMax = 1 }},
		{"decode memory", 50, func(c *serving.Config) { c.Decode.KVTokens = 4500 }},
		{"running batch", 50, func(c *serving.Config) { c.Decode.RunningMax = 1 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{cfg: func(c *serving.Config) {
				c.Transfer.PerToken = 0 // transfers run beside each other, and the smallest arrives first
				row.cfg(c)
			}}
			su.run(t, 1, func(p *play) {
				// Large ones before small ones, so that overtaking would pay.
				answers := p.together(12, func(i int) openai.ChatCompletionRequest { return prompt(4000-300*i, row.tokens) })
				for i := 1; i < len(answers); i++ {
					if before, after := answers[i-1].headers, answers[i].headers; after < before {
						t.Errorf("request %d has headers at %v, the one before it at %v", i, after, before)
					}
				}
				p.atRest()
			})
		})
	}
}

// TestChunks checks that short prompts share a chunk and that a long one spreads over several.
func TestChunks(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) {
		c.Prefill.ChunkTokens, c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 1000, time.Second, 0, 0
		c.Transfer = engine.TransferConfig{}
	}}
	su.run(t, 1, func(p *play) {
		sizes := []int{300, 300, 1500, 100, 2000}
		// Chunks: 300; then 300+700; 800+100+100; 1000; 900. The first starts before the others come.
		want := []time.Duration{1, 2, 3, 3, 5}
		for i, a := range p.together(len(sizes), func(i int) openai.ChatCompletionRequest { return prompt(sizes[i], 1) }) {
			p.must(a.err)
			if a.took() != want[i]*time.Second {
				t.Errorf("prompt %d of %d tokens took %v, want %v", i, sizes[i], a.took(), want[i]*time.Second)
			}
		}
	})
}

// TestPrefillFaultOnce checks that a fault in prefill holds up a prompt once, not in each chunk.
func TestPrefillFaultOnce(t *testing.T) {
	su := setup{
		cfg: func(c *serving.Config) {
			c.Prefill.ChunkTokens, c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 1000, time.Second, 0, 0
			c.Transfer = engine.TransferConfig{}
		},
		faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Latency, Delay: 10 * time.Second}},
	}
	su.run(t, 1, func(p *play) {
		a := p.chat(p.ctx, "r", prompt(3000, 1))
		p.must(a.err)
		if a.took() != 13*time.Second {
			t.Errorf("took %v, want 13s", a.took())
		}
	})
}

// TestConnectionPool checks that clients wait for a connection by name, and that a connection comes
// back however the exchange ends.
func TestConnectionPool(t *testing.T) {
	su := setup{faults: []fault.Fault{{ID: "reset", Where: fault.Connection, What: fault.Reset, Nth: 3}}}
	inBothWorlds(t, su, 1, func(p *play) {
		p.client = serving.NewClient(p.s, serving.ClientConfig{ConnectionsMax: 2})
		watcher := p.w.Spawn(p.ctx, "watcher", func(ctx context.Context) {
			p.must(p.w.Sleep(ctx, 500*time.Millisecond))
			for _, o := range p.w.Objects() {
				if o.Name != "connections" || o.InUse != 2 || len(o.Waiters) != 3 || o.Waiters[0].Name == "" || o.Waiters[0].What == "" {
					t.Errorf("state of the pool: %+v", o)
				}
			}
			if n := p.gauge(serving.GaugeRouterInFlight); n != 2 {
				t.Errorf("%v requests have reached the router, want 2", n)
			}
		})
		reset := 0
		for _, a := range p.together(5, func(i int) openai.ChatCompletionRequest { return prompt(100, 100) }) {
			if errors.Is(a.err, serving.ErrReset) {
				reset++
			} else {
				p.must(a.err)
			}
		}
		if reset != 1 {
			t.Errorf("%d connections were reset, want 1", reset)
		}
		p.must(watcher.Wait(p.ctx))
		if o := p.w.Objects()[0]; o.InUse != 0 || len(o.Waiters) != 0 {
			t.Errorf("the pool at rest: %+v", o)
		}
		p.atRest()
	})
}

// TestRefusals checks statuses and what a client is told to do about them.
func TestRefusals(t *testing.T) {
	refuse := func(retryAfter string) []fault.Fault {
		return []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 429, RetryAfter: retryAfter}}
	}
	small := func(c *serving.Config) { c.Model.ContextTokensMax = 100 }
	for _, row := range []struct {
		name   string
		faults []fault.Fault
		cfg    func(c *serving.Config)
		prompt int
		want   pacer.StatusError
	}{
		{"no header", refuse(""), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests"}},
		{"seconds", refuse("7"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests", RetryAfter: 7 * time.Second, HasRetryAfter: true}},
		{"zero", refuse("0"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests", HasRetryAfter: true}},
		{"half a second", refuse("0.5"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests", RetryAfter: time.Second / 2, HasRetryAfter: true}},
		{"a date", refuse("Thu, 01 Jan 2026 00:01:00 GMT"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests", RetryAfter: 50 * time.Second, HasRetryAfter: true}},
		{"a past date", refuse("Wed, 31 Dec 2025 00:00:00 GMT"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests", HasRetryAfter: true}},
		{"nonsense", refuse("soon"), nil, 10, pacer.StatusError{Status: 429, Message: "Too Many Requests"}},
		{"too long", nil, small, 100, pacer.StatusError{Status: 400, Message: "Request r exceeds the maximum number of tokens: 100 > 99"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			setup{faults: row.faults, cfg: row.cfg}.run(t, 1, func(p *play) {
				p.sleep(10 * time.Second)
				a := p.chat(p.ctx, "r", prompt(row.prompt, 0))
				var got *pacer.StatusError
				if !errors.As(a.err, &got) || *got != row.want {
					t.Errorf("got %+v, want %+v", a.err, row.want)
				}
				p.atRest()
			})
		})
	}
}

// TestContextLimit checks that an answer is cut where the model's context ends.
func TestContextLimit(t *testing.T) {
	setup{cfg: func(c *serving.Config) { c.Model.ContextTokensMax = 100 }}.run(t, 1, func(p *play) {
		req := prompt(90, 0)
		req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		a := p.chat(p.ctx, "r", req)
		p.must(a.err)
		if a.usage.CompletionTokens != 10 || a.finish != openai.FinishReasonLength {
			t.Errorf("%d tokens, finish %q; want 10, %q", a.usage.CompletionTokens, a.finish, openai.FinishReasonLength)
		}
	})
}

// TestOversized checks that a request whose answer never fits into the decode engine's memory gets its
// turn, and an error in its stream when the memory is full.
func TestOversized(t *testing.T) {
	setup{cfg: func(c *serving.Config) { c.Decode.KVTokens, c.Decode.ReserveTokens = 1000, 100 }}.run(t, 1, func(p *play) {
		for _, a := range p.together(3, func(i int) openai.ChatCompletionRequest { return prompt(500, 2000) }) {
			var e *pacer.StatusError
			if !errors.As(a.err, &e) || e.Status != 500 || !e.InStream || len(a.reasoning) == 0 {
				t.Errorf("%d bytes, then %v; want some, then an error in the stream", len(a.reasoning), a.err)
			}
		}
		p.atRest()
	})
}

// TestModelIsAsked checks what the model is asked with.
func TestModelIsAsked(t *testing.T) {
	var asked []string
	su := setup{model: serving.Model{Output: func(user string, call, promptTokens int) (int, int) {
		asked = append(asked, fmt.Sprint(user, call, promptTokens))
		return -5, 99 // absurd: an answer has a token at least
	}}}
	su.run(t, 1, func(p *play) {
		req := prompt(10, 0)
		req.User = "task-1"
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: "text"},
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: "more"},
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: "the beginning"}) // is not counted
		a := p.chat(p.ctx, "r", req)
		p.must(a.err)
		if want := []string{fmt.Sprint("task-1", 1, 12)}; !slices.Equal(asked, want) || len(a.reasoning)+len(a.content) != 4 {
			t.Errorf("asked %q, want %q; %d bytes", asked, want, len(a.reasoning)+len(a.content))
		}
	})
}

// TestLogWriteFails checks that the first error of writing the log is kept and the servers go on.
func TestLogWriteFails(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{})
	full := &fullDisk{left: 2}
	s, err := serving.New(w, serving.Default(), serving.Model{}, nil, serving.Logs{Router: full})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		p := &play{t: t, ctx: ctx, w: w, s: s, client: serving.NewClient(s, serving.ClientConfig{})}
		for _, a := range p.together(3, func(int) openai.ChatCompletionRequest { return prompt(10, 10) }) {
			p.must(a.err)
		}
	})
	if err != nil || !errors.Is(s.LogErr(), errFull) || full.writes != 3 {
		t.Errorf("run: %v; log: %v after %d writes, want %v after 3", err, s.LogErr(), full.writes, errFull)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ writes, left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	d.writes++
	if d.left--; d.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestRouterLog shows the log with milliseconds, ids that need quoting, and every kind of line.
func TestRouterLog(t *testing.T) {
	su := setup{
		cfg: func(c *serving.Config) { c.Router.LogMilliseconds, c.Model.ContextTokensMax = true, 10_000 },
		faults: []fault.Fault{
			{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 500, From: 2 * time.Second, To: 3 * time.Second},
			{ID: "g", Where: fault.Router, What: fault.Drop, From: 3 * time.Second, To: 4 * time.Second},
		},
	}
	p := su.run(t, 1, func(p *play) {
		limited := func(d time.Duration) context.Context {
			ctx, _ := sim.WithTimeout(p.ctx, p.w, d, context.DeadlineExceeded)
			return ctx
		}
		p.chat(p.ctx, "agent-07-c012-a1", prompt(100, 10))
		p.chat(p.ctx, "line\nbreak \"quote\" \x1b[31m", prompt(20_000, 10))
		p.sleep(2*time.Second + 5*time.Millisecond - time.Duration(p.w.Now()))
		p.chat(p.ctx, "server-error", prompt(100, 10))
		p.sleep(time.Second)
		p.chat(limited(time.Second), "dropped", prompt(100, 10))
		p.chat(limited(10*time.Millisecond), "left-before-headers", prompt(100, 1000))
		p.chat(limited(5*time.Second), "left-in-stream", prompt(100, 1000))
	})
	golden(t, "router.log", p.log.String())
	for line := range strings.Lines(p.log.String()) {
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\n\x1b") {
			t.Errorf("raw control characters: %q", line)
		}
	}
}
