package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// change changes a fault of the run, or removes it if it has no kind any more.
func (p *play) change(f fault.Fault) {
	p.w.Lock()
	defer p.w.Unlock()
	if f.What == "" {
		p.s.Faults().Remove(f.ID)
		return
	}
	p.must(p.s.Faults().Put(f))
}

// failing has the prefill leg of what is not streamed fail with a status from now on; 0: no more.
func (p *play) failing(status int) {
	if status == 0 {
		p.change(fault.Fault{ID: "prefill-status"})
		return
	}
	p.change(prefillStatus(status, 0))
}

// prefill0 returns what the router knows of its first prefill engine.
func (p *play) prefill0() serving.WorkerView { return p.s.Router().Workers[0] }

// isBreaker checks the state of the first prefill engine's breaker.
func (p *play) isBreaker(when string, want serving.BreakerState) {
	p.t.Helper()
	open := 0.0
	if want == serving.BreakerOpen {
		open = 1
	}
	if v := p.prefill0(); v.Breaker != want || p.gauge(serving.GaugeOpenBreakers) != open {
		p.t.Errorf("%s, at %v: breaker %s, %v open; want %s", when, p.w.Now(), v.Breaker, p.gauge(serving.GaugeOpenBreakers), want)
	}
}

// fails sends n requests one after the other and checks their status; 200: they are answered.
func (p *play) fails(n, want int) {
	p.t.Helper()
	for range n {
		got := p.whole(fmt.Sprint("r", p.w.Now()))
		status := refused(got.err).Status
		if got.err == nil {
			status = 200
		}
		if status != want {
			p.t.Errorf("at %v: %v, want status %d", p.w.Now(), got.err, want)
		}
	}
}

// TestBreaker goes through all states of a circuit breaker.
func TestBreaker(t *testing.T) {
	inBothWorlds(t, setup{cfg: attempts(1), faults: []fault.Fault{prefillStatus(500, 0)}}, 1, func(p *play) {
		p.fails(9, 500)
		p.isBreaker("nine failures", serving.BreakerClosed)
		p.fails(1, 500)
		p.isBreaker("ten", serving.BreakerOpen)
		opened := p.w.Now()

		// The engine is well again, but nobody asks it.
		p.failing(0)
		e := refused(p.whole("none").err)
		if want := "No available servers: No available prefill workers (all circuits open or unhealthy)"; e.Status != 503 || !e.Nested || e.Empty ||
			e.Type != "Service Unavailable" || e.Code != "server_selection_failed" || e.ErrorCode != e.Code || e.Message != want {
			t.Errorf("got %+v", e)
		}
		p.sleep(opened.Add(time.Minute).Sub(p.w.Now()) - 1)
		p.fails(1, 503)
		p.isBreaker("just before a minute", serving.BreakerOpen)
		p.sleep(1)
		p.isBreaker("a minute after", serving.BreakerHalfOpen)
		p.fails(2, 200)
		p.isBreaker("two successes", serving.BreakerHalfOpen)
		p.fails(1, 200)
		p.isBreaker("three", serving.BreakerClosed)

		p.failing(500)
		p.fails(10, 500)
		p.sleep(time.Minute)
		p.isBreaker("open again, and a minute later", serving.BreakerHalfOpen)
		p.fails(1, 500)
		p.isBreaker("one failure", serving.BreakerOpen)
		p.fails(1, 503)

		v := p.prefill0()
		if v.Successes != 3 || v.Failures != 21 || v.Errors != 21 {
			t.Errorf("%d successes, %d failures, %d errors; want 3, 21, 21", v.Successes, v.Failures, v.Errors)
		}
		const closed, open, half = serving.BreakerClosed, serving.BreakerOpen, serving.BreakerHalfOpen
		if n := v.Transitions; n[closed][open] != 2 || n[open][half] != 2 || n[half][closed] != 1 || n[half][open] != 1 {
			t.Errorf("transitions %v", n)
		}
		p.atRestBut(serving.GaugeOpenBreakers)
	})
}

// atRestBut is atRest once a gauge is 0, which is within two minutes.
func (p *play) atRestBut(gauge string) {
	p.t.Helper()
	if p.gauge(gauge) == 0 {
		p.t.Errorf("at %v: %s is 0", p.w.Now(), gauge)
	}
	p.sleep(2 * time.Minute)
	p.atRest()
}

// TestBreakerCounts checks what is a failure for a breaker.
func TestBreakerCounts(t *testing.T) {
	su := setup{cfg: attempts(1), faults: []fault.Fault{prefillStatus(500, 0)}}
	for _, row := range []struct {
		name string
		do   func(p *play) // after nine failures
		want serving.BreakerState
	}{
		{"nothing else", func(*play) {}, serving.BreakerOpen},
		{"a success in between", func(p *play) { p.failing(0); p.fails(1, 200) }, serving.BreakerClosed},
		{"an error of the client's is a success", func(p *play) { p.failing(400); p.fails(1, 400) }, serving.BreakerClosed},
		{"so is too many requests", func(p *play) { p.failing(429); p.fails(1, 429) }, serving.BreakerClosed},
		{"a client that leaves is neither", func(p *play) {
			p.failing(0)
			h := p.s.Submit(serving.Request{ID: "left", Prompt: serving.Prompt{Tokens: 100}})
			h.Cancel()
		}, serving.BreakerOpen},
		{"nor is one that is refused before", func(p *play) {
			p.s.Submit(serving.Request{ID: "long", Prompt: serving.Prompt{Tokens: 300_000}})
		}, serving.BreakerOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			su.run(t, 1, func(p *play) {
				p.fails(9, 500)
				row.do(p)
				p.failing(500)
				p.fails(1, 500)
				p.isBreaker("a tenth failure", row.want)
			})
		})
	}
}

// TestBreakerByRetries checks that the attempts of few clients are enough to open a breaker, and that the
// 503 that comes of it is worth an attempt as well.
func TestBreakerByRetries(t *testing.T) {
	setup{faults: []fault.Fault{prefillStatus(500, 0)}}.run(t, 1, func(p *play) {
		p.fails(2, 500)
		p.isBreaker("two clients with five attempts each", serving.BreakerOpen)
		before := p.w.Now()
		p.fails(1, 503)
		if took := p.w.Now().Sub(before); took < 325*time.Millisecond {
			t.Errorf("refused after %v, want five attempts", took)
		}
		if v := p.s.Router(); v.Exhausted != 3 || v.Workers[0].Selections != 10 || len(v.Upstream) != 1 {
			t.Errorf("exhausted %d, prefill chosen %d times, upstream %+v", v.Exhausted, v.Workers[0].Selections, v.Upstream)
		}
	})
}

// TestBreakerHalfOpen checks that a half-open breaker lets everybody pass.
func TestBreakerHalfOpen(t *testing.T) {
	setup{cfg: attempts(1), faults: []fault.Fault{prefillStatus(500, 0)}}.run(t, 1, func(p *play) {
		p.fails(10, 500)
		p.failing(0)
		p.sleep(time.Minute)
		for i := range 20 {
			p.s.Submit(serving.Request{ID: fmt.Sprint("h", i), Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10})
		}
		if v := p.s.Router(); v.Connections != 20 || v.Queued != 0 {
			t.Errorf("%d passed on, want 20", v.Connections-v.Queued)
		}
		p.sleep(time.Minute)
		p.isBreaker("twenty successes", serving.BreakerClosed)
	})
}

// TestBreakerOfOne checks that the others are chosen while the breaker of one worker is open, and that a
// conversation of the hashing policies comes back to it.
func TestBreakerOfOne(t *testing.T) {
	su := setup{
		cfg:    pairs(serving.ConsistentHashing, serving.RoundRobin, ""),
		faults: []fault.Fault{{ID: "prefill-status", Where: fault.Prefill, What: fault.Status, StatusCode: 500, Worker: "prefill-1"}},
	}
	su.run(t, 1, func(p *play) {
		p.fails(60, 200) // by retries
		v := p.s.Router()
		if w := v.Workers[1]; w.Breaker != serving.BreakerOpen || w.Failures != 10 {
			t.Errorf("prefill-1: %+v", w)
		}
		for _, i := range []int{0, 2} {
			if w := v.Workers[i]; w.Breaker != serving.BreakerClosed || w.Selections < 25 {
				t.Errorf("%s: %+v", w.Name, w)
			}
		}
	})
}

// TestNoBreaker checks that without a breaker nothing is ever taken out of service.
func TestNoBreaker(t *testing.T) {
	su := setup{
		cfg:    func(c *serving.Config) { c.Router.Breaker.Failures = 0; c.Router.Retry.AttemptsMax = 1 },
		faults: []fault.Fault{prefillStatus(500, 0)},
	}
	su.run(t, 1, func(p *play) {
		p.fails(50, 500)
		p.isBreaker("no breaker", serving.BreakerClosed)
		if now := p.w.Now(); now > sim.Instant(time.Minute) {
			t.Errorf("it took until %v", now)
		}
	})
}
