package httpbackend_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

const s = time.Second

func policy() pacer.Policy {
	p := pacer.DefaultPolicy()
	p.MaxAttempts = 1
	return p
}

// TestStages follows a call through a real net/http stack: what is where at which instant, and what
// has arrived by then.
func TestStages(t *testing.T) {
	handler := stream(func(w writer) {
		w.wait(2 * s)
		w.say(": hello\n\n")
		w.wait(2 * s)
		w.say(`data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}` + "\n\n")
		w.wait(2 * s)
		w.content("12345")
		w.wait(2 * s)
		w.content("6789")
		w.say(`data: {"choices":[],"usage":{"completion_tokens":7}}` + "\n\n")
		w.wait(2 * s)
		w.say(done)
	})
	inBubble(t, handler, pacer.DefaultConfig(), policy(), &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		call := w.Spawn(ctx, "agent", func(ctx context.Context) {
			r, err := p.Chat(ctx, identity("agent", 1), request())
			if err != nil || r.Choices[0].Message.Content != "123456789" {
				t.Errorf("got %+v, %v", r, err)
			}
		})
		for _, want := range []string{
			"1s headers since 0s: 0 bytes at 0s, 0 events, 0 tokens at 0s",
			"3s first_token since 2s: 9 bytes at 2s, 0 events, 0 tokens at 0s",
			"5s first_token since 2s: 71 bytes at 4s, 1 events, 0 tokens at 0s",
			"7s stream since 6s: 132 bytes at 6s, 2 events, 2 tokens at 6s",
			"9s stream since 6s: 246 bytes at 8s, 4 events, 7 tokens at 8s",
		} {
			at, _, _ := strings.Cut(want, " ")
			until, _ := time.ParseDuration(at)
			_ = w.Sleep(ctx, until-w.Now().Sub(0))
			calls := p.Calls()
			if len(calls) != 1 {
				t.Fatalf("at %v: %d calls", at, len(calls))
			}
			c := calls[0]
			if got := fmt.Sprintf("%v %s since %v: %d bytes at %v, %d events, %d tokens at %v", w.Now(), c.Stage, c.Since, c.Bytes, c.LastByte, c.Events, c.Tokens, c.LastToken); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		_ = call.Wait(ctx)
		if now := w.Now(); now != sim.Instant(10*s) {
			t.Errorf("ended at %v, want 10s", now)
		}
	})
}

// TestLimits lets each limit end a real request, and sees the server notice it.
func TestLimits(t *testing.T) {
	silence := func(d time.Duration) func(w writer) { return func(w writer) { w.wait(d) } }
	for _, tc := range []struct {
		limit  pacer.Limit
		change func(*pacer.Policy)
		play   func(w writer)
		at     time.Duration
	}{
		{pacer.LimitResponseHeader, func(p *pacer.Policy) { p.ResponseHeader = 5 * s }, silence(time.Hour), 5 * s},
		{pacer.LimitFirstToken, func(p *pacer.Policy) { p.FirstToken = 5 * s }, func(w writer) {
			for w.wait(1 * s) {
				w.say(": keepalive\n\n")
			}
		}, 5 * s},
		{pacer.LimitIdle, func(p *pacer.Policy) { p.Idle = 5 * s }, func(w writer) {
			w.content("x")
			w.wait(4 * s)
			w.content("y")
			for w.wait(1 * s) {
				w.say(": keepalive\n\n")
			}
		}, 9 * s},
		{pacer.LimitIdle, func(p *pacer.Policy) { p.Idle, p.IdleBy = 5*s, pacer.IdleByByte }, func(w writer) {
			w.content("x")
			for range 4 {
				w.wait(4 * s)
				w.say(": keepalive\n\n")
			}
			w.wait(time.Hour)
		}, 21 * s},
		{pacer.LimitTotal, func(p *pacer.Policy) { p.Total = 5 * s }, func(w writer) {
			for w.wait(1 * s) {
				w.content("x")
			}
		}, 5 * s},
	} {
		t.Run(string(tc.limit), func(t *testing.T) {
			var left atomic.Int64
			handler := stream(func(w writer) {
				start := time.Now()
				tc.play(w)
				left.Store(int64(time.Since(start)))
			})
			limits := policy()
			tc.change(&limits)
			inBubble(t, handler, pacer.DefaultConfig(), limits, &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
				_, err := p.Chat(ctx, identity("agent", 1), request())
				var limit *pacer.LimitError
				if !errors.As(err, &limit) || limit.Limit != tc.limit || w.Now() != sim.Instant(tc.at) {
					t.Errorf("at %v: %v, want limit %s at %v", w.Now(), err, tc.limit, tc.at)
				}
				synctest.Wait()
				if d := time.Duration(left.Load()); d != tc.at {
					t.Errorf("the server saw the client leave at %v, want %v", d, tc.at)
				}
			})
		})
	}
}

// TestConnections sends calls one after the other, and expects them to share a connection, and then
// more calls than there are connections.
func TestConnections(t *testing.T) {
	handler := stream(func(w writer) {
		w.wait(1 * s)
		w.content("x")
		w.say(done)
		w.wait(500 * time.Millisecond) // the end of the response comes after [DONE]
	})
	transport := &http.Transport{MaxConnsPerHost: 2, MaxIdleConnsPerHost: 9}
	inBubble(t, handler, pacer.DefaultConfig(), policy(), transport, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, net *pipes) {
		for i := range 3 {
			if _, err := p.Chat(ctx, identity("first", i+1), request()); err != nil {
				t.Error(err)
			}
		}
		if n := net.dialed.Load(); n != 1 {
			t.Errorf("three calls took %d connections, want 1", n)
		}
		start := w.Now()
		var agents []*sim.Process
		for i := range 5 {
			agents = append(agents, w.Spawn(ctx, "agent", func(ctx context.Context) {
				if _, err := p.Chat(ctx, identity(fmt.Sprintf("agent-%d", i), 1), request()); err != nil {
					t.Error(err)
				}
			}))
		}
		_ = w.Sleep(ctx, 500*time.Millisecond)
		stages := map[pacer.Stage]int{}
		for _, c := range p.Calls() {
			stages[c.Stage]++
		}
		if stages[pacer.StageConnect] != 3 || stages[pacer.StageHeaders] != 2 {
			t.Errorf("got %v, want 3 that wait for a connection and 2 for headers", stages)
		}
		for _, a := range agents {
			_ = a.Wait(ctx)
		}
		if d := w.Now().Sub(start); d != 4500*time.Millisecond || net.dialed.Load() != 2 {
			t.Errorf("five calls took %v and %d connections, want 4.5s and 2", d, net.dialed.Load())
		}
	})
}

// TestDialLimit: a limit of the dial leaves alone who waits for room in the transport's pool, which
// net/http itself never limits, and ends who waits for the dial.
func TestDialLimit(t *testing.T) {
	handler := stream(func(w writer) {
		w.wait(30 * s)
		w.content("x")
		w.say(done)
	})
	limit := policy()
	limit.Dial = 5 * s
	inBubble(t, handler, pacer.DefaultConfig(), limit, &http.Transport{MaxConnsPerHost: 1, DisableKeepAlives: true}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, net *pipes) {
		var agents []*sim.Process
		for i := range 3 {
			agents = append(agents, w.Spawn(ctx, "agent", func(ctx context.Context) {
				if _, err := p.Chat(ctx, identity("agent", i+1), request()); err != nil {
					t.Errorf("call %d, which waits for the pool for up to 60 s: %v", i+1, err)
				}
			}))
		}
		for _, a := range agents {
			_ = a.Wait(ctx)
		}
		net.slow = 9 * s
		_, err := p.Chat(ctx, identity("agent", 4), request())
		var hit *pacer.LimitError
		if !errors.As(err, &hit) || hit.Limit != pacer.LimitDial {
			t.Errorf("a dial of 9 s: %v, want the limit dial", err)
		}
	})
}

// A server that never ends its response after [DONE] holds nobody up for long.
func TestNoEndAfterDone(t *testing.T) {
	handler := stream(func(w writer) {
		w.content("x")
		w.say(done)
		w.wait(time.Hour)
	})
	inBubble(t, handler, pacer.DefaultConfig(), policy(), &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		if _, err := p.Chat(ctx, identity("agent", 1), request()); err != nil {
			t.Error(err)
		}
		if now := w.Now(); now != sim.Instant(1*s) {
			t.Errorf("ended at %v, want 1s", now)
		}
	})
}

// TestCancel cancels a call while it waits for headers and while it streams.
func TestCancel(t *testing.T) {
	for _, at := range []time.Duration{1 * s, 3 * s} {
		handler := stream(func(w writer) {
			w.wait(2 * s)
			w.content("x")
			w.wait(time.Hour)
		})
		inBubble(t, handler, pacer.DefaultConfig(), policy(), &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
			why := errors.New("why")
			callCtx, release := sim.WithTimeout(ctx, w, at, why)
			defer release()
			if _, err := p.Chat(callCtx, identity("agent", 1), request()); err != why || w.Now() != sim.Instant(at) {
				t.Errorf("at %v: %v, want the cause at %v", w.Now(), err, at)
			}
			if calls := p.Calls(); len(calls) != 0 || w.Objects()[0].InUse != 0 {
				t.Errorf("left over: %+v, %+v", calls, w.Objects())
			}
		})
	}
}

// TestDump looks at the stack of a call that waits: Chat, and below it the network, on one
// goroutine.
func TestDump(t *testing.T) {
	handler := stream(func(w writer) {
		w.wait(2 * s)
		w.content("x")
		w.wait(2 * s)
		w.say(done)
	})
	inBubble(t, handler, pacer.DefaultConfig(), policy(), &http.Transport{}, func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, _ *pipes) {
		call := w.Spawn(ctx, "agent", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("agent", 1), request()) })
		for _, stage := range []pacer.Stage{pacer.StageHeaders, pacer.StageStream} {
			_ = w.Sleep(ctx, 1*s)
			if c := p.Calls()[0]; c.Stage != stage {
				t.Fatalf("in stage %s, want %s", c.Stage, stage)
			}
			buf := make([]byte, 1<<20)
			found := false
			for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
				if strings.Contains(g, "pacer.(*Pacer).Chat(") {
					found = true
					if !strings.Contains(g, "\nnet/http.") || !strings.Contains(g, "go-openai.(") {
						t.Errorf("in stage %s, neither net/http nor go-openai is below Chat:\n%s", stage, g)
					}
				}
			}
			if !found {
				t.Errorf("in stage %s, no goroutine is in Chat", stage)
			}
			_ = w.Sleep(ctx, 1*s)
		}
		_ = call.Wait(ctx)
	})
}
