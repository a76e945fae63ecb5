package serving_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// limited has the router pass so many at once, and lets no other limit be in the way.
func limited(l serving.LimitConfig) func(c *serving.Config) {
	return func(c *serving.Config) {
		even(c)
		c.Router.QueuedMax, c.Router.Limit = 0, l
		c.Router.RequestTimeout, c.Model.OutputTokens = 0, 200_000
	}
}

// submit submits n requests at once whose answers take about the given time.
func (p *play) submit(n int, answer time.Duration) (all []*serving.Handle) {
	for i := range n {
		all = append(all, p.s.Submit(serving.Request{
			ID: fmt.Sprint("s", i), Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: int(answer / (20 * time.Millisecond)), Stream: true,
		}))
	}
	return all
}

// TestLimiterRefills checks that the limiter is a bucket of tokens, which time fills: it limits the
// rate, not how many are at the engines at once.
func TestLimiterRefills(t *testing.T) {
	for _, row := range []struct {
		perSecond float64
		passed    []int // just after 0, 0.5, 1, 1.5 s...
	}{
		{0, []int{4, 6, 8, 10, 12}},
		{1, []int{4, 4, 5, 5, 6}},
		{0.4, []int{4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6}},
		{1e-15, []int{4, 4}},
	} {
		t.Run(fmt.Sprint(row.perSecond), func(t *testing.T) {
			su := setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 4, PerSecond: row.perSecond, QueueMax: 100})}
			inBothWorlds(t, su, 1, func(p *play) {
				p.submit(20, time.Hour)
				for i, want := range row.passed {
					p.sleep(sim.Instant(time.Duration(i)*time.Second/2 + time.Millisecond).Sub(p.w.Now()))
					v := p.s.Router()
					if passed := v.Connections - v.Queued; passed != want || v.RateAllowed != int64(want) || v.RateRejected != 0 {
						t.Errorf("at %v: %d passed, %d allowed, %d rejected; want %d", p.w.Now(), passed, v.RateAllowed, v.RateRejected, want)
					}
				}
			})
		})
	}
}

// TestLimiterGivesBack checks that a token comes back when its request has been answered, or has been
// left, and goes to who has waited longest.
func TestLimiterGivesBack(t *testing.T) {
	su := setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 2, PerSecond: 1e-6, QueueMax: 100})}
	inBothWorlds(t, su, 1, func(p *play) {
		var order []string
		p.s.OnEnd(func(rec *serving.Record) { order = append(order, fmt.Sprint(rec.ID, " ", rec.Dispatched != sim.Never)) })
		all := p.submit(5, time.Hour)
		wait := func(why string, waiting int) {
			t.Helper()
			if v := p.s.Router(); v.Queued != waiting {
				t.Errorf("%s: %d wait, want %d", why, v.Queued, waiting)
			}
		}
		wait("two tokens", 3)
		p.sleep(time.Second)
		all[3].Cancel()
		wait("a waiting one leaves", 2)
		all[0].Cancel()
		wait("one with a token leaves", 1)
		p.sleep(time.Second)
		all[1].Cancel()
		wait("so does the other", 0)
		all[2].Cancel()
		all[4].Cancel()
		if want := []string{"s3 false", "s0 true", "s1 true", "s2 true", "s4 true"}; !slices.Equal(order, want) {
			t.Errorf("ended %q, want %q", order, want)
		}
		p.atRest()
		p.must(p.chat(p.ctx, "after", prompt(100, 10)).err)
	})
}

// TestLimiterIdle checks that the bucket does not overflow.
func TestLimiterIdle(t *testing.T) {
	setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 3, QueueMax: 100})}.run(t, 1, func(p *play) {
		p.must(p.chat(p.ctx, "r", prompt(100, 10)).err)
		p.sleep(time.Hour)
		p.submit(10, time.Hour)
		if v := p.s.Router(); v.Queued != 7 {
			t.Errorf("%d wait, want 7", v.Queued)
		}
	})
}

// TestLimiterFull checks the answer when the queue is full: status 429, and nothing else.
func TestLimiterFull(t *testing.T) {
	su := setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 2, PerSecond: 1e-6, QueueMax: 3, QueueTimeout: time.Minute})}
	inBothWorlds(t, su, 1, func(p *play) {
		all := p.submit(8, time.Hour)
		for _, h := range all[5:] {
			if e := refused(h.WaitHeaders(p.ctx)); e != (serving.Refusal{Status: 429, Empty: true}) {
				t.Errorf("got %+v, want 429 and nothing else", e)
			}
		}
		a := p.chat(p.ctx, "more", prompt(100, 10))
		var e *pacer.StatusError
		if !errors.As(a.err, &e) || *e != (pacer.StatusError{Status: 429, Message: "Too Many Requests"}) || a.took() != 0 {
			t.Errorf("the client gets %v after %v", a.err, a.took())
		}
		v := p.s.Router()
		if v.RateAllowed != 2 || v.RateRejected != 4 || v.Connections != 5 || len(v.Backoffs) != 0 {
			t.Errorf("%d allowed, %d rejected, %d connections, backoffs %+v; want 2, 4, 5, none", v.RateAllowed, v.RateRejected, v.Connections, v.Backoffs)
		}
		if want := []serving.ResponseCount{{Status: 429, Count: 4}}; !slices.Equal(v.Responses, want) {
			t.Errorf("responses %+v, want %+v", v.Responses, want)
		}
	})
}

// TestLimiterTimeout checks the answer after too long a wait: status 408, and nothing else.
func TestLimiterTimeout(t *testing.T) {
	su := setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 1, PerSecond: 1e-6, QueueMax: 3, QueueTimeout: time.Minute})}
	inBothWorlds(t, su, 1, func(p *play) {
		first := p.submit(2, time.Hour)
		p.sleep(30 * time.Second)
		later := p.s.Submit(serving.Request{ID: "later", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10, Stream: true})
		if e := refused(first[1].WaitHeaders(p.ctx)); e != (serving.Refusal{Status: 408, Empty: true}) || p.w.Now() != sim.Instant(time.Minute) {
			t.Errorf("at %v: got %+v, want 408 and nothing else", p.w.Now(), e)
		}
		p.sleep(29 * time.Second)
		if v := p.s.Router(); v.RateRejected != 1 || v.Queued != 1 {
			t.Errorf("%d rejected, %d wait, want 1, 1", v.RateRejected, v.Queued)
		}
		first[0].Cancel() // just in time
		p.must(later.WaitHeaders(p.ctx))
		later.Cancel()
		p.sleep(time.Second)
		p.atRest()
	})
}

// TestLimiterTokenOnce checks that attempts of a request take no more tokens.
func TestLimiterTokenOnce(t *testing.T) {
	su := setup{cfg: limited(serving.LimitConfig{ConcurrentMax: 1, PerSecond: 1e-6, QueueMax: 3, QueueTimeout: time.Minute})}
	su.faults = append(su.faults, prefillStatus(500, 4))
	su.run(t, 1, func(p *play) {
		p.must(p.whole("r").err)
		if v := p.s.Router(); v.RateAllowed != 1 || len(v.Backoffs) != 4 {
			t.Errorf("%d allowed, backoffs %+v; want 1 and 4", v.RateAllowed, v.Backoffs)
		}
		p.must(p.whole("s").err)
	})
}

// TestQueuedMax checks the limit of the incident: the engines' own answer, flat and with a body.
func TestQueuedMax(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) { even(c); c.Router.QueuedMax = 4 }}
	inBothWorlds(t, su, 1, func(p *play) {
		all := p.submit(5, 10*time.Second)
		want := serving.Refusal{Status: 503, Message: "The request queue is full.", Type: "503"}
		if e := refused(all[4].WaitHeaders(p.ctx)); e != want {
			t.Errorf("got %+v, want %+v", e, want)
		}
		if v := p.s.Router(); v.Connections != 4 || len(v.Backoffs) != 0 || v.RateRejected != 0 {
			t.Errorf("%+v", v)
		}
		ctx, stop := sim.WithTimeout(p.ctx, p.w, time.Hour, context.DeadlineExceeded)
		defer stop()
		for _, h := range all[:4] {
			p.must(h.Wait(ctx, sim.Never))
		}
		p.atRest()
		p.must(p.chat(p.ctx, "after", prompt(100, 10)).err)
	})
}
