package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// chunkUntil has the chunk of the first request end at an instant, but for its own 100 ms.
func chunkUntil(at time.Duration) setup {
	return setup{
		cfg:    func(c *serving.Config) { even(c); c.Router.Retry.AttemptsMax = 1 },
		faults: []fault.Fault{{ID: "long", Where: fault.Prefill, What: fault.Latency, Delay: at - 100*time.Millisecond, Times: 1}},
	}
}

// isHealthy checks what the router takes the first prefill engine for.
func (p *play) isHealthy(when string, want bool) {
	p.t.Helper()
	unhealthy := 1.0
	if want {
		unhealthy = 0
	}
	if v := p.prefill0(); v.Healthy != want || p.gauge(serving.GaugeUnhealthyWorkers) != unhealthy {
		p.t.Errorf("%s, at %v: healthy %v, %v unhealthy; want %v", when, p.w.Now(), v.Healthy, p.gauge(serving.GaugeUnhealthyWorkers), want)
	}
}

// TestHealth goes through a worker's loss of health and its return: it takes a chunk that does not end
// for the time of three checks, and two checks after it.
func TestHealth(t *testing.T) {
	inBothWorlds(t, chunkUntil(400*time.Second), 1, func(p *play) {
		h := p.s.Submit(serving.Request{ID: "long", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10})
		until := func(at time.Duration) { p.sleep(sim.Instant(at).Sub(p.w.Now())) }
		until(179 * time.Second)
		p.isHealthy("two misses", true)
		until(180 * time.Second)
		p.isHealthy("three", false)
		e := refused(p.whole("none").err)
		if e.Status != 503 || e.Code != "server_selection_failed" || !e.Nested {
			t.Errorf("got %+v", e)
		}
		if v := p.s.Router(); v.Connections != 1 || !v.Workers[1].Healthy || v.Workers[0].Breaker != serving.BreakerClosed {
			t.Errorf("nothing in flight is cancelled, and decode is well: %+v", v)
		}
		p.must(h.WaitHeaders(p.ctx))
		if now := p.w.Now(); now < sim.Instant(400*time.Second) || now > sim.Instant(401*time.Second) {
			t.Errorf("answered at %v", now)
		}
		h.Cancel() // it was complete
		until(479 * time.Second)
		p.isHealthy("one hit", false)
		p.fails(1, 503)
		until(480 * time.Second)
		p.isHealthy("two hits", true)
		p.fails(1, 200)
		if v := p.prefill0(); v.ChecksPassed != 2 || v.ChecksLost != 6 {
			t.Errorf("%d checks passed, %d lost, want 2 and 6", v.ChecksPassed, v.ChecksLost)
		}
		p.atRest()
	})
}

// TestHealthOfTheLeft checks that a chunk which nobody waits for any more costs a worker its health too,
// whether somebody looks meanwhile or not.
func TestHealthOfTheLeft(t *testing.T) {
	for _, looks := range []bool{true, false} {
		chunkUntil(400*time.Second).run(t, 1, func(p *play) {
			h := p.s.Submit(serving.Request{ID: "long", Prompt: serving.Prompt{Tokens: 100}})
			p.sleep(10 * time.Second)
			h.Cancel()
			if looks {
				p.until(200 * time.Second)
				p.isHealthy("nobody waits", false)
			}
			p.until(450 * time.Second)
			p.isHealthy("one hit", false)
			p.until(480 * time.Second)
			p.isHealthy("two", true)
			p.atRest()
		})
	}
}

// TestHealthTimeout checks how long an engine may take for its answer. It says itself that it is not well
// after 20 s, however long the router would wait.
func TestHealthTimeout(t *testing.T) {
	for _, row := range []struct {
		timeout, left time.Duration // of the chunk at the check
		lost          int64
	}{
		{5 * time.Second, 5 * time.Second, 0},
		{5 * time.Second, 5*time.Second + 1, 1},
		{30 * time.Second, 20*time.Second - 1, 0},
		{30 * time.Second, 20 * time.Second, 1},
	} {
		t.Run(fmt.Sprint(row.timeout, "-", row.left), func(t *testing.T) {
			su := chunkUntil(time.Minute + row.left)
			cfg := su.cfg
			su.cfg = func(c *serving.Config) { cfg(c); c.Router.Health.Timeout = row.timeout }
			su.run(t, 1, func(p *play) {
				p.s.Submit(serving.Request{ID: "long", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10})
				p.sleep(61 * time.Second)
				if v := p.prefill0(); v.ChecksLost != row.lost || v.ChecksPassed != 1-row.lost {
					t.Errorf("%d checks lost, %d passed, want %d lost of one", v.ChecksLost, v.ChecksPassed, row.lost)
				}
			})
		})
	}
}

// TestHealthAtRest checks that checks go on while there is nothing to do, without anything to wait for.
func TestHealthAtRest(t *testing.T) {
	inBothWorlds(t, setup{}, 1, func(p *play) {
		p.fails(1, 200)
		p.sleep(time.Hour + time.Second)
		for _, w := range p.s.Router().Workers {
			if w.ChecksPassed != 60 || w.ChecksLost != 0 || !w.Healthy {
				t.Errorf("%+v", w)
			}
		}
	})
}

// TestNoHealthChecks checks that with health.every 0 nothing is ever unhealthy.
func TestNoHealthChecks(t *testing.T) {
	su := chunkUntil(time.Hour)
	cfg := su.cfg
	su.cfg = func(c *serving.Config) { cfg(c); c.Router.Health.Every = 0 }
	su.run(t, 1, func(p *play) {
		p.s.Submit(serving.Request{ID: "long", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10})
		p.sleep(30 * time.Minute)
		p.isHealthy("after half an hour", true)
		if v := p.prefill0(); v.ChecksPassed+v.ChecksLost != 0 {
			t.Errorf("%+v", v)
		}
	})
}

// TestStuckQueueIsHealthy checks that an engine whose requests wait for nothing to come takes itself for
// well: it has nothing under way.
func TestStuckQueueIsHealthy(t *testing.T) {
	su := setup{faults: []fault.Fault{{ID: "f", Where: fault.Inflight, What: fault.Hang}}}
	su.run(t, 1, func(p *play) {
		p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, Stream: true})
		p.sleep(10 * time.Minute)
		p.isHealthy("one in flight", true)
		if v := p.prefill0(); v.ChecksLost != 0 {
			t.Errorf("%+v", v)
		}
	})
}

// TestHungChunkIsUnhealthy checks that an engine whose chunk never ends is out of service as long as
// nobody gives up on the request: for ever, if decode does not.
func TestHungChunkIsUnhealthy(t *testing.T) {
	su := setup{
		cfg:    func(c *serving.Config) { c.Transfer.WaitingTimeout = 0 },
		faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Hang, Times: 1}},
	}
	su.run(t, 1, func(p *play) {
		p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, Stream: true})
		p.sleep(20 * time.Minute)
		p.isHealthy("hung", false)
		p.fails(1, 503)
	})
}

// TestHashWithoutOne checks that with consistent_hashing only the conversations of a worker that is out of
// service go elsewhere, to both others.
func TestHashWithoutOne(t *testing.T) {
	su := setup{
		cfg:    pairs(serving.ConsistentHashing, "", serving.RoundRobin),
		faults: []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Hang, Worker: "prefill-1", Times: 1}},
	}
	su.run(t, 1, func(p *play) {
		before, _ := p.places(users(60)...)
		p.sleep(4 * time.Minute)
		if w := p.s.Router().Workers; !w[0].Healthy || w[1].Healthy || !w[2].Healthy {
			t.Fatalf("%+v", w)
		}
		after, _ := p.places(users(60)...)
		var to [3]int
		for i := range before {
			if before[i] != '1' && after[i] != before[i] {
				t.Errorf("user-%d was at %c and is at %c", i, before[i], after[i])
			}
			if before[i] == '1' {
				to[after[i]-'0']++
			}
		}
		if to[0] < 3 || to[1] != 0 || to[2] < 3 {
			t.Errorf("those of prefill-1 are at %v", to)
		}
	})
}
