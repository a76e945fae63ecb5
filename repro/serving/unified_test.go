package serving_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// narrow makes n engines that run one request each and let one wait.
func narrow(n int) func(c *serving.Config) {
	return func(c *serving.Config) {
		unified(n)(c)
		even(c)
		c.Decode.RunningMax, c.Decode.QueuedMax = 1, 1
		c.Router.Policy = serving.RoundRobin
	}
}

// fill has each of n engines run a request and let one wait, for about a minute each.
func (p *play) fill(n int) {
	for range n {
		p.s.Submit(streamed("running", 100, 3000))
	}
	p.sleep(time.Second)
	for range n {
		p.s.Submit(streamed("waiting", 100, 3000))
	}
}

// TestUnifiedFull checks how engines that do all refuse when their queues are full: their own flat answer
// of status 503 without stream, and status 200 with an event in it otherwise.
func TestUnifiedFull(t *testing.T) {
	inBothWorlds(t, setup{cfg: narrow(1)}, 1, func(p *play) {
		p.fill(1)
		e := refused(p.serve(p.ctx, whole("whole", 100, 10), 0).err)
		if want := (serving.Refusal{Status: 503, Message: "The request queue is full.", Type: "503"}); e != want {
			t.Errorf("got %+v, want %+v", e, want)
		}
		a := p.chat(p.ctx, "stream", prompt(100, 10))
		if status(a.err) != 503 || a.headers != a.start {
			t.Errorf("headers after %v, then %v; want an event with status 503 at once", a.headers.Sub(a.start), a.err)
		}
		v := p.s.Router()
		if w := v.Workers[0]; len(v.Workers) != 1 || w.Kind != engine.KindUnified || w.Failures != 1 || w.Errors != 1 {
			t.Errorf("workers %+v", v.Workers)
		}
		p.sleep(10 * time.Minute)
		p.atRest()
	})
}

// TestUnifiedRetry checks that the router tries another engine when one has a full queue.
func TestUnifiedRetry(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) { narrow(2)(c); c.Router.Retry.AttemptsMax = 5 }}
	su.run(t, 1, func(p *play) {
		p.s.Submit(streamed("short", 100, 10)) // to the first
		p.s.Submit(streamed("running", 100, 3000))
		p.sleep(time.Second)
		p.s.Submit(streamed("short", 100, 10))
		p.s.Submit(streamed("waiting", 100, 3000))
		p.sleep(time.Second)
		p.serve(p.ctx, whole("first", 100, 10), 0)
		var rec serving.Record
		p.s.OnEnd(func(r *serving.Record) { rec = *r })
		p.must(p.serve(p.ctx, whole("r", 100, 10), 0).err) // the second's turn
		if rec.Attempts != 2 || rec.Prefill != "" || rec.Decode != p.s.Router().Workers[0].Name {
			t.Errorf("record %+v", rec)
		}
	})
}

// TestUnifiedNone checks the answer when the breakers of all engines are open: those that fail are full,
// and to be full is to fail.
func TestUnifiedNone(t *testing.T) {
	setup{cfg: narrow(2)}.run(t, 1, func(p *play) {
		p.fill(2)
		for i := range 20 {
			if e := refused(p.serve(p.ctx, whole(fmt.Sprint("r", i), 100, 10), 0).err); e.ErrorCode != "" || e.Status != 503 {
				t.Errorf("request %d: %+v", i, e)
			}
		}
		e := refused(p.serve(p.ctx, whole("none", 100, 10), 0).err)
		if e.Status != 503 || e.Message != "No available workers (all circuits open or unhealthy)" {
			t.Errorf("got %+v", e)
		}
		want := []serving.ResponseCount{{Status: 200, Count: 2}, {Status: 503, Count: 20}, {Status: 503, ErrorCode: "no_available_workers", Count: 1}}
		if v := p.s.Router(); !slices.Equal(v.Responses, want) || v.Workers[0].Breaker != serving.BreakerOpen || v.Workers[1].Breaker != serving.BreakerOpen {
			t.Errorf("responses %+v, want %+v; %+v", v.Responses, want, v.Workers)
		}
	})
}
