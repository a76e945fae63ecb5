package httpbackend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/adaptive"
)

// heard is what a server has noticed, from several goroutines.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) printf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

func (h *heard) expect(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.lines, want) {
		t.Errorf("the server noticed\n%q, want\n%q", h.lines, want)
	}
}

// TestHedge has a second attempt join a silent one over a real net/http stack: the first is cancelled
// at the server when the second has its first token.
func TestHedge(t *testing.T) {
	var h heard
	handler := func(rw http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		stream(func(w writer) {
			if id == "agent-c001-a1" {
				start := time.Now()
				if !w.wait(time.Hour) {
					h.printf("%s left after %v", id, time.Since(start))
				}
				return
			}
			w.wait(2 * s)
			w.content("fast")
			w.wait(3 * s)
			w.content("er")
			w.say(done)
		})(rw, r)
	}
	policy := pacer.DefaultPolicy()
	policy.Hedge = pacer.Hedge{After: 5 * s, Share: 1}
	inBubble(t, handler, pacer.DefaultConfig(), policy, &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		r, err := p.Chat(ctx, identity("agent", 1), request())
		if err != nil || r.Choices[0].Message.Content != "faster" || w.Now() != sim.Instant(10*s) {
			t.Errorf("at %v: %+v, %v", w.Now(), r, err)
		}
		_ = w.Sleep(ctx, s)
		h.expect(t, "agent-c001-a1 left after 7s")
	})
}

// TestContinue has the server break off in mid-answer, and looks at what is asked next, with which
// headers.
func TestContinue(t *testing.T) {
	var h heard
	handler := func(rw http.ResponseWriter, r *http.Request) {
		var req openai.ChatCompletionRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		last := req.Messages[len(req.Messages)-1]
		h.printf("%s %q, %s ms, %s s, retry %s", last.Role, last.Content,
			r.Header.Get("X-Request-Deadline-Ms"), r.Header.Get("X-Stainless-Timeout"), r.Header.Get("X-Stainless-Retry-Count"))
		stream(func(w writer) {
			if last.Role == openai.ChatMessageRoleUser {
				w.content("Once ")
				w.wait(s)
				w.content("upon ")
				panic(http.ErrAbortHandler)
			}
			w.content("a time.")
			w.say(done)
		})(rw, r)
	}
	policy := pacer.DefaultPolicy()
	policy.Partial, policy.PropagateDeadline, policy.CallTotal = pacer.PartialContinue, true, 60*s
	policy.Jitter = "none"
	inBubble(t, handler, pacer.DefaultConfig(), policy, &http.Transport{}, func(t *testing.T, _ sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		r, err := p.Chat(ctx, identity("agent", 1), request())
		if err != nil || r.Choices[0].Message.Content != "Once upon a time." {
			t.Errorf("%+v, %v", r, err)
		}
		h.expect(t, `user "hello", 60000 ms, 60 s, retry 0`, `assistant "Once upon ", 58000 ms, 58 s, retry 1`)
	})
}

// TestShouldRetry has servers that know better than the status.
func TestShouldRetry(t *testing.T) {
	for _, tc := range []struct {
		status   int
		header   string
		attempts int
	}{
		{404, "true", 3}, {503, "false", 1}, {503, "perhaps", 3}, {404, "", 1}, {503, "", 3},
	} {
		var h heard
		handler := func(w http.ResponseWriter, r *http.Request) {
			h.printf("%s", r.Header.Get("X-Request-Id"))
			if tc.header != "" {
				w.Header().Set("X-Should-Retry", tc.header)
			}
			http.Error(w, `{"error":{"message":"no"}}`, tc.status)
		}
		policy := pacer.DefaultPolicy()
		policy.RetryHint = true
		inBubble(t, handler, pacer.DefaultConfig(), policy, &http.Transport{}, func(t *testing.T, _ sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
			if _, err := p.Chat(ctx, identity("agent", 1), request()); err == nil {
				t.Error("no error")
			}
			if len(h.lines) != tc.attempts {
				t.Errorf("%d, %q: %d attempts, want %d", tc.status, tc.header, len(h.lines), tc.attempts)
			}
		})
	}
}

// TestLearntSilence has a limit on silence that is learnt from the longest one of an answer before.
func TestLearntSilence(t *testing.T) {
	handler := func(rw http.ResponseWriter, r *http.Request) {
		stream(func(w writer) {
			w.content("a")
			w.wait(2 * s)
			w.content("b")
			if r.Header.Get("X-Request-Id") == "agent-c002-a1" {
				w.wait(time.Hour)
			}
			w.say(done)
		})(rw, r)
	}
	policy := policy()
	policy.Adaptive = []adaptive.Config{{Limit: adaptive.LimitIdle, Rule: adaptive.RuleQuantile, Quantile: 0.9, Factor: 3}}
	inBubble(t, handler, pacer.DefaultConfig(), policy, &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		if _, err := p.Chat(ctx, identity("agent", 1), request()); err != nil {
			t.Error(err)
		}
		_, err := p.Chat(ctx, identity("agent", 2), request())
		if err == nil || w.Now() != sim.Instant(10*s) {
			t.Errorf("at %v: %v, want a limit of 6 s to fire at 10 s", w.Now(), err)
		}
	})
}
