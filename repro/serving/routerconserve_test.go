package serving_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// randomRouter has the router choose among a few engines in a random way, with narrow limits.
func randomRouter(draw *sim.Stream) func(c *serving.Config) {
	policies := []serving.Policy{
		serving.Random, serving.RoundRobin, serving.PowerOfTwo, serving.CacheAware,
		serving.Bucket, serving.Manual, serving.ConsistentHashing, serving.PrefixHash,
	}
	return func(c *serving.Config) {
		smallServers(draw)(c)
		c.Model.OutputTokens, c.Model.ReasoningTokens = 300, 100
		c.Prefill.Workers, c.Decode.Workers = 1+draw.IntN(3), 1+draw.IntN(3)
		if draw.IntN(4) == 0 {
			c.Mode, c.Decode.QueuedMax = engine.Unified, draw.IntN(3)
		}
		c.Prefill.BootstrapTimeout, c.Transfer.WaitingTimeout = 10*time.Second, 10*time.Second
		r := &c.Router
		r.QueuedMax, r.BalanceAbs = draw.IntN(2)*20, draw.IntN(3)
		r.PrefillPolicy, r.DecodePolicy = policies[draw.IntN(len(policies))], policies[draw.IntN(len(policies))]
		r.Limit = serving.LimitConfig{ConcurrentMax: draw.IntN(2) * 6, PerSecond: draw.Float64(), QueueMax: draw.IntN(4), QueueTimeout: 5 * time.Second}
		r.Legs = []serving.Legs{serving.PrefillFirst, serving.Join}[draw.IntN(2)]
		r.DropUpstream = []serving.Drop{serving.DropNow, serving.DropNextToken}[draw.IntN(2)]
		r.RequestTimeout = time.Duration(5+draw.IntN(60)) * time.Second
		r.Retry.AttemptsMax, r.Breaker.Failures, r.Breaker.Open = 1+draw.IntN(5), draw.IntN(4), 10*time.Second
		r.Health.Every, r.Health.Timeout = 10*time.Second, time.Duration(draw.IntN(5000))*time.Millisecond
	}
}

// TestRouterConservation plays random scripts of clients that come and go before a router with several
// engines, and checks that in the end no load, token, call or slot is left, and that all counts agree.
func TestRouterConservation(t *testing.T) {
	var exhausted, retried, opened, rejected, unhealthy int64
	for seed := range uint64(150) {
		hash, v := routerScript(t, seed)
		if again, _ := routerScript(t, seed); again != hash {
			t.Errorf("two runs differ")
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		exhausted, rejected = exhausted+v.Exhausted, rejected+v.RateRejected
		for _, w := range v.Workers {
			retried += w.Retries
			opened += w.Transitions[serving.BreakerClosed][serving.BreakerOpen]
			unhealthy += w.ChecksLost
		}
	}
	if min(exhausted, retried, opened, rejected, unhealthy) < 50 {
		t.Errorf("the scripts test too little: %d exhausted, %d retried, %d breakers opened, %d rejected, %d checks lost", exhausted, retried, opened, rejected, unhealthy)
	}
}

func routerScript(t *testing.T, seed uint64) (hash uint64, v serving.RouterView) {
	draw := sim.NewStream(seed, "router", "script")
	su := setup{cfg: randomRouter(&draw)}
	for i, f := range everyFault() {
		if draw.IntN(8) == 0 {
			f.ID, f.Probability = fmt.Sprint(i), 0.3
			su.faults = append(su.faults, f)
		}
	}
	if draw.IntN(2) == 0 {
		su.faults = append(su.faults, fault.Fault{ID: "long", Where: fault.Prefill, What: fault.Latency, Delay: 45 * time.Second, Times: 1})
	}
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	ended := map[string]bool{}
	p := su.in(t, w, func(p *play) {
		p.s.OnEnd(func(rec *serving.Record) {
			if ended[rec.ID] {
				t.Errorf("%s has ended twice", rec.ID)
			}
			ended[rec.ID] = true
		})
		var all []*sim.Process
		for i := range 40 {
			q := whole(fmt.Sprint("r", i), 1+draw.IntN(2000), 1+draw.IntN(300))
			q.Stream, q.User = draw.IntN(2) == 0, fmt.Sprint("user-", draw.IntN(6))
			comes, patience := time.Duration(draw.IntN(30_000))*time.Millisecond, time.Duration(1+draw.IntN(60_000))*time.Millisecond
			all = append(all, p.w.Spawn(p.ctx, q.ID, func(ctx context.Context) {
				p.must(p.w.Sleep(ctx, comes))
				limited, stop := sim.WithTimeout(ctx, p.w, patience, context.DeadlineExceeded)
				defer stop()
				h := p.s.Submit(q)
				defer h.Cancel()
				if h.WaitHeaders(limited) == nil {
					_ = h.Wait(limited, sim.Never) // it leaves, or does not
				}
			}))
		}
		for _, a := range all {
			p.must(a.Wait(p.ctx))
		}
		p.sleep(3 * time.Minute)
		v = p.s.Router()
		p.atRest()
	})
	checkCounts(p, &v)
	return w.Hash(), v
}

// checkCounts checks what must hold of the router's counts when it is at rest.
func checkCounts(p *play, v *serving.RouterView) {
	p.t.Helper()
	if v.Connections != 0 || v.Queued != 0 || len(v.Waiting) != 0 {
		p.t.Errorf("%d connections, %d queued, %d waiting", v.Connections, v.Queued, len(v.Waiting))
	}
	responses, retries := int64(0), int64(0)
	for _, r := range v.Responses {
		responses += r.Count
	}
	if lines := int64(strings.Count(p.log.String(), "smg::response")); lines != responses {
		p.t.Errorf("%d responses, %d in the log", responses, lines)
	}
	if n := strings.Count(p.log.String(), "smg::request"); n != 40 {
		p.t.Errorf("%d requests in the log", n)
	}
	upstream, answers := int64(0), int64(0)
	for _, r := range v.Upstream {
		upstream += r.Count
	}
	for _, w := range v.Workers {
		retries += w.Retries
		answers += w.Successes + w.Failures
		if w.Active != 0 || w.Successes+w.Failures > w.Selections {
			p.t.Errorf("%+v", w)
		}
	}
	waits := int64(0)
	for _, b := range v.Backoffs {
		waits += b.Count
	}
	if answers > upstream || retries > 2*waits {
		p.t.Errorf("%d answers counted by breakers, %d in all; %d retries after %d waits", answers, upstream, retries, waits)
	}
}
