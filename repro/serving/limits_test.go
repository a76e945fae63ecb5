package serving_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestNoWorkers checks the answer when no circuit is closed: it comes at once, and is itself tried again.
func TestNoWorkers(t *testing.T) {
	su := setup{
		cfg: func(c *serving.Config) {
			c.Router.Breaker.Failures = 1
			c.Router.Retry.AttemptsMax, c.Router.Retry.Jitter = 3, 0
		},
		faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Status, StatusCode: 500, Times: 1}},
	}
	su.run(t, 1, func(p *play) {
		got := p.serve(p.ctx, whole("r", 100, 10), time.Hour)
		want := serving.Refusal{
			Status: 503, Type: "Service Unavailable", Code: "server_selection_failed", ErrorCode: "server_selection_failed", Nested: true,
			Message: "No available servers: No available prefill workers (all circuits open or unhealthy)",
		}
		var refused *serving.Refusal
		if !errors.As(got.err, &refused) || *refused != want {
			t.Errorf("got %+v, want %+v", refused, want)
		}
		if v := p.s.Router(); len(v.Responses) != 1 || v.Responses[0] != (serving.ResponseCount{Status: 503, ErrorCode: "server_selection_failed", Count: 1}) {
			t.Errorf("responses %+v", v.Responses)
		}
		if n := p.gauge(serving.GaugeOpenBreakers); n != 1 {
			t.Errorf("%v breakers are open, want 1", n)
		}
		p.restsBut(serving.GaugeOpenBreakers)
	})
}

// TestLimiter is the timeline of a bucket of two tokens with a queue of two.
func TestLimiter(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) {
		unified(1)(c)
		even(c)
		c.Router.Limit = serving.LimitConfig{ConcurrentMax: 2, PerSecond: 0.05, QueueMax: 2, QueueTimeout: 15 * time.Second}
	}}
	su.run(t, 1, func(p *play) {
		var got [6]served
		var all []*sim.Process
		for i := range got {
			tokens := 200 // 4 s
			if i < 2 {
				tokens = 500 // 10 s
			}
			all = append(all, p.async(whole(fmt.Sprint(i), 10, tokens), &got[i]))
			p.sleep(time.Millisecond)
			if i == 3 {
				if n := p.gauge(serving.GaugeRouterQueued); n != 2 {
					t.Errorf("%v wait, want 2", n)
				}
			}
		}
		for _, a := range all {
			p.must(a.Wait(p.ctx))
		}
		var statuses []int
		for i := range got {
			var refused *serving.Refusal
			status := 200
			if errors.As(got[i].err, &refused) {
				status = refused.Status
				if !refused.Empty {
					t.Errorf("status %d has a body", status)
				}
			}
			statuses = append(statuses, status)
		}
		// Two run for 10 s; the next two wait until then; the last two find the queue full.
		if s := fmt.Sprint(statuses); s != "[200 200 200 200 429 429]" {
			t.Errorf("statuses %s", s)
		}
		if at := got[2].endAt.Seconds(); at < 14 || at > 14.5 {
			t.Errorf("the third ends at %vs, want a little after 14s", at)
		}
		v := p.s.Router()
		if v.RateAllowed != 4 || v.RateRejected != 2 {
			t.Errorf("%d allowed, %d rejected", v.RateAllowed, v.RateRejected)
		}
		p.sleep(40 * time.Second) // both tokens are back
		p.atRest()
	})
}

// TestLimiterTimeout has requests wait for a token in vain, and time bring tokens.
func TestLimiterTimeout(t *testing.T) {
	limit := serving.LimitConfig{ConcurrentMax: 1, PerSecond: 0.1, QueueMax: 9, QueueTimeout: 15 * time.Second}
	setup{cfg: func(c *serving.Config) { unified(1)(c); c.Router.Limit = limit }}.run(t, 1, func(p *play) {
		var got [3]served
		var all []*sim.Process
		for i := range got {
			all = append(all, p.async(whole(fmt.Sprint(i), 10, 4000), &got[i])) // more than 80 s
		}
		for _, a := range all {
			p.must(a.Wait(p.ctx))
		}
		var refused *serving.Refusal
		if got[0].err != nil || got[1].err != nil || !errors.As(got[2].err, &refused) || refused.Status != 408 || got[2].endAt != sim.Instant(15*time.Second) {
			t.Errorf("%v, %v, %v at %v; want the third to get 408 after 15s, when a new token is due every 10s", got[0].err, got[1].err, got[2].err, got[2].endAt)
		}
	})
}

// TestHealthChecks has an engine whose loop is blocked: three checks later it is unhealthy, and two
// after it has recovered it is healthy again. A world without requests has no timers.
func TestHealthChecks(t *testing.T) {
	su := setup{cfg: unified(2), faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Hang, Worker: "engine-0", Times: 1}}}
	su.run(t, 1, func(p *play) {
		ctx, stop := sim.WithTimeout(p.ctx, p.w, 290*time.Second, context.DeadlineExceeded)
		defer stop()
		var stuck served
		waiter := p.w.Spawn(ctx, "stuck", func(ctx context.Context) { stuck = p.serve(ctx, streamed("stuck", 100, 10), time.Hour) })
		for _, step := range []struct {
			at        time.Duration
			unhealthy float64
		}{{179 * time.Second, 0}, {181 * time.Second, 1}, {359 * time.Second, 1}, {361 * time.Second, 0}} {
			p.until(step.at)
			if n := p.gauge(serving.GaugeUnhealthyWorkers); n != step.unhealthy {
				t.Errorf("at %v: %v unhealthy, want %v", step.at, n, step.unhealthy)
			}
			if step.unhealthy == 1 {
				if got := p.serve(p.ctx, whole("other", 10, 1), time.Hour); got.err != nil {
					t.Errorf("at %v: %v", step.at, got.err)
				}
			}
		}
		p.must(waiter.Wait(p.ctx))
		if w := p.worker("engine-0"); !errors.Is(stuck.err, context.DeadlineExceeded) || w.ChecksLost != 4 || w.ChecksPassed != 2 || w.Selections != 1 {
			t.Errorf("%v, %+v", stuck.err, w)
		}
		p.atRest()
	})
}
