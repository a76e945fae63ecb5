package serving_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// TestFates: a client leaves an answer of 100 tokens, of which the first comes after 100 ms and the others
// every 20 ms, so that the last comes after 2.08 s. What would have become of it?
func TestFates(t *testing.T) {
	const ms = time.Millisecond
	healthy := func(left time.Duration) serving.Fate { return serving.Fate{Left: left} }
	dead := func(since time.Duration) serving.Fate {
		return serving.Fate{Kind: serving.FateDead, Since: sim.Instant(since)}
	}
	failing, later := serving.Fate{Kind: serving.FateFailing}, healthy(-1)
	for _, row := range []struct {
		f     fault.Fault
		leave time.Duration
		want  serving.Fate
	}{
		{fault.Fault{Where: fault.Metrics, What: fault.Freeze}, 50 * ms, later}, // no fault; its prompt is being computed
		{fault.Fault{Where: fault.Metrics, What: fault.Freeze}, 1000 * ms, healthy(1080 * ms)},
		{fault.Fault{Where: fault.Router, What: fault.Latency, Delay: time.Second}, 500 * ms, later},
		{fault.Fault{Where: fault.Router, What: fault.Drop}, 500 * ms, dead(0)},
		{fault.Fault{Where: fault.Router, What: fault.LoseReply}, 500 * ms, dead(0)},
		{fault.Fault{Where: fault.Bootstrap, What: fault.Hang}, 500 * ms, dead(0)},
		{fault.Fault{Where: fault.Prefill, What: fault.Hang}, 500 * ms, dead(0)},
		{fault.Fault{Where: fault.Prefill, What: fault.Latency, Delay: time.Second}, 500 * ms, later},
		{fault.Fault{Where: fault.Inflight, What: fault.Hang}, 500 * ms, dead(100 * ms)},
		{fault.Fault{Where: fault.Transfer, What: fault.Hang}, 500 * ms, dead(100 * ms)},
		{fault.Fault{Where: fault.Decode, What: fault.Hang}, 500 * ms, dead(100 * ms)},
		{fault.Fault{Where: fault.Decode, What: fault.Drop}, 500 * ms, dead(100 * ms)},
		{fault.Fault{Where: fault.Decode, What: fault.Slow, Factor: 2}, 500 * ms, healthy(3560 * ms)},
		{fault.Fault{Where: fault.Stream, What: fault.Reasoning, Delay: 10 * time.Second}, 500 * ms, healthy(1580 * ms)},
		{fault.Fault{Where: fault.Stream, What: fault.Silence, AfterTokens: 51}, 500 * ms, failing}, // it is not silent yet
		{fault.Fault{Where: fault.Stream, What: fault.Silence, AfterTokens: 51}, 1500 * ms, dead(1100 * ms)},
		{fault.Fault{Where: fault.Stream, What: fault.Silence, AfterTokens: 51}, time.Minute, dead(1100 * ms)},
		{fault.Fault{Where: fault.Stream, What: fault.Comments, AfterTokens: 51, Every: time.Second}, 5000 * ms, dead(1100 * ms)},
		{fault.Fault{Where: fault.Stream, What: fault.Reset, AfterTokens: 51}, 500 * ms, failing},
		{fault.Fault{Where: fault.Stream, What: fault.Malformed, AfterTokens: 51}, 500 * ms, failing},
		{fault.Fault{Where: fault.Connection, What: fault.Buffer}, 500 * ms, healthy(1580 * ms)},
	} {
		row.f.ID = "f"
		su := setup{cfg: even, faults: []fault.Fault{row.f}, model: serving.Model{Output: func(string, int, int) (int, int) { return 100, 40 }}}
		su.run(t, 1, func(p *play) {
			var got []serving.Fate
			p.s.Watch(serving.Witness{Left: func(id string, f serving.Fate) {
				if id != "r1" {
					t.Errorf("told of %q", id)
				}
				got = append(got, f)
			}})
			p.leave("r1", row.leave)
			if len(got) != 1 || got[0] != row.want {
				t.Errorf("%s at %s, left after %v: %+v, want %+v", row.f.What, row.f.Where, row.leave, got, row.want)
			}
		})
	}
}

// leave sends a request and leaves it after a while.
func (p *play) leave(id string, after time.Duration) {
	ctx, stop := sim.WithTimeout(p.ctx, p.w, after, context.DeadlineExceeded)
	defer stop()
	st, err := p.client.Open(ctx, &pacer.Attempt{ID: id, Of: pacer.Identity{Agent: id}}, prompt(10, 0))
	for err == nil {
		_, err = st.Recv()
	}
	if st != nil {
		p.must(st.Close())
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		p.t.Errorf("%s ended before it was left: %v", id, err)
	}
}

// TestFatesComeTrue plays random scripts with faults on small servers, has a seer say all the time what will
// become of each request, and then lets it come. Clients do not leave before all is over.
func TestFatesComeTrue(t *testing.T) {
	var said [3]int         // by kind
	var finished, inAll int // of those that were healthy and in the running batch
	early := 0              // dead ones that ended with an error before a limit of 300 s can have fired
	for seed := range uint64(60) {
		ends, seen := foretell(t, seed)
		for _, s := range seen {
			end := ends[s.id]
			long := end.at > s.fate.Since.Add(4*time.Minute) // a limit of the servers' own has made room
			said[s.fate.Kind]++
			switch {
			case s.fate.Kind == serving.FateDead && end.how == "complete" && !long:
				t.Errorf("seed %d: %s was dead at %v since %v, and was completed at %v", seed, s.id, s.at, s.fate.Since, end.at)
			case s.fate.Kind == serving.FateDead && end.how != "" && !long:
				early++
			case s.fate.Kind == serving.FateDead && s.fate.Since > s.at:
				t.Errorf("seed %d: %s was dead at %v since %v", seed, s.id, s.at, s.fate.Since)
			case s.fate.Kind == serving.FateFailing && end.how == "complete":
				t.Errorf("seed %d: %s was failing at %v, and was completed", seed, s.id, s.at)
			case s.fate.Kind == serving.FateHealthy && s.fate.Left >= 0:
				inAll++
				if end.how == "complete" {
					finished++
				}
			}
		}
	}
	t.Logf("healthy, failing and dead: %v; of %d healthy ones in the batch %d were completed", said, inAll, finished)
	if said[serving.FateHealthy] < 1000 || said[serving.FateFailing] < 100 || said[serving.FateDead] < 1000 {
		t.Errorf("the scripts show too little: %v", said)
	}
	if early > 0 {
		t.Errorf("%d dead requests ended soon, with an error", early)
	}
	if finished*100 < inAll*99 { // memory may run out, and never be free again
		t.Errorf("%d of %d healthy requests were completed", finished, inAll)
	}
}

// seen is what was said of a request.
type seen struct {
	id   string
	at   sim.Instant
	fate serving.Fate
}

// ending is how and when a request ended.
type ending struct {
	how string
	at  sim.Instant
}

// foretell plays a script, and returns how the requests ended that did, and what was said of all.
func foretell(t *testing.T, seed uint64) (ends map[string]ending, said []seen) {
	draw := sim.NewStream(seed, "fate", "script")
	small := smallServers(&draw)
	su := setup{cfg: func(c *serving.Config) {
		small(c)
		c.Router.RequestTimeout = 0
		if seed%3 == 0 {
			c.Mode = engine.Unified
		}
		c.Decode.Recompute = seed%6 == 0
	}}
	for i, f := range everyFault() {
		if f.Where != fault.Connection && draw.IntN(6) == 0 {
			f.ID, f.Probability = fmt.Sprint(i), 0.15
			su.faults = append(su.faults, f)
		}
	}
	ends = map[string]ending{}
	su.run(t, seed, func(p *play) {
		ctx, stop := p.w.WithCancel(p.ctx)
		for i := range 12 {
			own := p.w.Stream("client", "script").At(i)
			p.w.Spawn(ctx, fmt.Sprintf("client-%d", i), func(ctx context.Context) {
				for n := range 4 {
					if p.w.Sleep(ctx, time.Duration(own.IntN(int(3*time.Second)))) != nil {
						return
					}
					id := fmt.Sprintf("c%d-%d", i, n)
					a := p.chat(ctx, id, prompt(1+own.IntN(2000), 1+own.IntN(200)))
					if sim.Cause(ctx) != nil {
						return
					}
					end := ending{"complete", p.w.Now()}
					if a.err != nil {
						end.how = a.err.Error()
					}
					ends[id] = end
				}
			})
		}
		for range 200 {
			p.sleep(time.Second)
			now := p.w.Now()
			p.client.Fates(func(id string, f serving.Fate) { said = append(said, seen{id, now, f}) })
		}
		p.sleep(2 * time.Hour)
		stop(nil)
	})
	return ends, said
}
