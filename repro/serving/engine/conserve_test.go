package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// everyFault is one of each that engines know.
func everyFault() []fault.Fault {
	return []fault.Fault{
		{Where: fault.Bootstrap, What: fault.Hang},
		{Where: fault.Prefill, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Prefill, What: fault.Hang},
		{Where: fault.Prefill, What: fault.Status, StatusCode: 500},
		{Where: fault.Inflight, What: fault.Hang},
		{Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: 5 * time.Second},
		{Where: fault.Transfer, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Transfer, What: fault.Hang},
		{Where: fault.Transfer, What: fault.Status, StatusCode: 500},
		{Where: fault.Decode, What: fault.Hang},
		{Where: fault.Decode, What: fault.Drop},
		{Where: fault.Decode, What: fault.Slow, Factor: 5},
		{Where: fault.Decode, What: fault.IgnoreAbort},
		{Where: fault.Decode, What: fault.Serialize, From: 5 * time.Second, To: 9 * time.Second},
		{Where: fault.Decode, What: fault.StarveKV, KVTokens: 2000, From: 20 * time.Second, To: 60 * time.Second},
		{Where: fault.Decode, What: fault.Throttle, Factor: 3, From: 10 * time.Second, To: 30 * time.Second},
		{Where: fault.Prefill, What: fault.Throttle, Factor: 10, From: 15 * time.Second, To: 25 * time.Second},
		{Where: fault.Metrics, What: fault.Freeze, From: 30 * time.Second},
	}
}

// script is a random configuration with random faults.
func script(draw *sim.Stream) (change func(c *engine.Config), faults []fault.Fault) {
	for i, f := range everyFault() {
		if draw.IntN(4) == 0 {
			f.ID = fmt.Sprint("f", i)
			if f.What != fault.Serialize && f.What != fault.StarveKV && f.What != fault.Throttle && f.What != fault.Freeze {
				f.Probability = 0.2
			}
			faults = append(faults, f)
		}
	}
	return func(c *engine.Config) {
		d, a := &c.Decode, &c.Abort
		if draw.IntN(3) == 0 {
			c.Mode = engine.Unified
			d.Mixed, d.Recompute = draw.IntN(2) == 0, draw.IntN(3) > 0
			d.QueuedMax = draw.IntN(10)
		}
		c.Prefill.Workers, d.Workers = 1+draw.IntN(2), 1+draw.IntN(2)
		c.Prefill.Ranks, d.Ranks = 1+draw.IntN(2), 1+draw.IntN(2)
		d.RunningMax, d.RequestsMax = 1+draw.IntN(8), draw.IntN(16)
		c.Prefill.RequestsMax = draw.IntN(16)
		d.KVTokens, c.Prefill.KVTokens = 3_000+draw.IntN(1+draw.IntN(20_000)), 3_000+draw.IntN(20_000)
		d.ReserveTokens = draw.IntN(2) * draw.IntN(600)
		c.Prefill.ChunkTokens = 100 + draw.IntN(4000)
		c.Gauges.EverySteps = draw.IntN(50)
		c.Gauges.IdleEvery = time.Duration(draw.IntN(2)) * time.Second
		c.Gauges.Exact = draw.IntN(2) == 0
		*a = engine.AbortConfig{
			Detect: []engine.Detection{engine.DetectNow, engine.DetectPoll, engine.DetectNextToken, engine.DetectNever}[draw.IntN(4)],
			Poll:   time.Duration(draw.IntN(5)) * time.Second, Lag: time.Duration(draw.IntN(3)) * time.Second,
			PinInflight: draw.IntN(4) == 0, PinReleaseAfter: time.Minute,
			PromptToEnd: draw.IntN(4) == 0, ZombieDecode: draw.IntN(4) == 0, BootstrapDeaf: draw.IntN(4) == 0, PeerNotTold: draw.IntN(4) == 0,
			DropDead: draw.IntN(3) == 0,
		}
	}, faults
}

// TestConservation plays random scripts of requests that come, leave and meet faults on small engines,
// and checks what must hold whatever happens: nothing is negative nor beyond its limit, tokens never
// grow fewer, each owner is told of one end at most, and when all is over nothing is held and every leg
// is gone. Two runs of one seed are identical.
func TestConservation(t *testing.T) {
	ends := map[engine.Stage]int{}
	retracted := int64(0)
	for seed := range uint64(500) {
		told, r := conserve(t, seed, ends)
		again, _ := conserve(t, seed, map[engine.Stage]int{})
		if told != again {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		retracted += r
	}
	t.Log(ends, retracted)
	for stage, least := range map[engine.Stage]int{engine.StageDone: 10_000, engine.StageFailed: 1000, engine.StageAborted: 2000} {
		if ends[stage] < least {
			t.Errorf("%d legs ended %v: the scripts test too little", ends[stage], stage)
		}
	}
	if retracted < 300 {
		t.Errorf("%d retractions: the scripts test too little", retracted)
	}
}

func conserve(t *testing.T, seed uint64, ends map[engine.Stage]int) (told string, retracted int64) {
	draw := sim.NewStream(seed, "engine", "conservation")
	change, faults := script(&draw)
	p := newPlay(t, change, faults...)
	var all []*pair
	for i := range 40 {
		p.until(time.Duration(p.Now()) + time.Duration(draw.IntN(3000))*time.Millisecond)
		r := p.prepare(fmt.Sprint("r", i), 1+draw.IntN(2900), 1+draw.IntN(900))
		r.job.Stream = draw.IntN(3) > 0
		r.job.CachedTokens = draw.IntN(2) * draw.IntN(r.job.PromptTokens)
		if draw.IntN(3) == 0 {
			r.job.Deadline = p.Now().Add(time.Duration(draw.IntN(20)) * time.Second)
		}
		if len(p.Unified()) == 0 { // the workers as a router would, now and then with a mistake
			r.legs[1].PeerAt = p.Prefills()[draw.IntN(len(p.Prefills()))]
			r.legs[0].PeerAt = p.Decodes()[draw.IntN(len(p.Decodes()))]
			if draw.IntN(20) == 0 {
				r.legs[1].PeerAt = nil
			}
		}
		all = append(all, r)
		p.submit(r, draw.IntN(2) == 0)
		if draw.IntN(3) == 0 {
			all[draw.IntN(len(all))].leave()
		}
		if draw.IntN(60) == 0 {
			w := p.Workers()[draw.IntN(len(p.Workers()))]
			w.AbortMatching(fmt.Sprint("r", draw.IntN(4)))
		}
		p.check()
	}
	p.until(20 * time.Minute)
	for _, r := range all {
		r.leave()
	}
	p.until(40 * time.Minute)
	for range 40 { // what nobody has noticed, and what has been deaf until it could go on
		for _, w := range p.Workers() {
			w.AbortMatching("")
		}
		p.until(time.Duration(p.Now()) + 10*time.Minute)
	}
	p.empty()
	p.checkEnds(all, ends)
	return strings.Join(p.told, "\n"), p.load().RetractedSum
}

// submit sends a pair's legs to where they are to be, in either order.
func (p *play) submit(r *pair, decodeFirst bool) {
	if u := p.Unified(); len(u) > 0 {
		u[0].Submit(&r.legs[1])
		return
	}
	w := r.legs[1].PeerAt
	if w == nil {
		w = p.Prefills()[0]
	}
	if decodeFirst {
		r.legs[0].PeerAt.Submit(&r.legs[1])
		w.Submit(&r.legs[0])
		return
	}
	w.Submit(&r.legs[0])
	r.legs[0].PeerAt.Submit(&r.legs[1])
}

// check looks at each rank.
func (p *play) check() {
	p.t.Helper()
	c := p.Config()
	for _, w := range p.Workers() {
		for i := range w.Ranks() {
			v := w.Load(i)
			starved := w.Kind != engine.KindPrefill && v.DecodeKVTokens > c.Decode.KVTokens
			for _, n := range []int{v.Bootstrap, v.PrefillWait, v.Prefilling, v.Inflight - v.Pinned, v.Prealloc, v.Transfer, v.DecodeWait,
				v.Running - v.Zombies, v.Retracted, v.PrefillSlots, v.DecodeSlots, v.PrefillKVTokens, v.DecodeKVTokens, v.PendingTokens} {
				if n < 0 || starved || v.PrefillKVTokens > c.Prefill.KVTokens || v.Running > c.Decode.RunningMax ||
					c.Decode.RequestsMax > 0 && v.DecodeSlots > c.Decode.RequestsMax || c.Prefill.RequestsMax > 0 && v.PrefillSlots > c.Prefill.RequestsMax {
					p.t.Fatalf("at %v: %s has %+v", time.Duration(p.Now()), w.Name, v)
				}
			}
			w.Published(i)
			w.Healthy()
		}
	}
}

// checkEnds checks what has become of each leg, and what was told of it.
func (p *play) checkEnds(all []*pair, ends map[engine.Stage]int) {
	p.t.Helper()
	told := map[string]int{}
	for _, line := range p.told {
		_, line, _ = strings.Cut(line, " ")
		if what := line[strings.LastIndex(line, " ")+1:]; what == "ended" || strings.Contains(line, "failed") {
			told[strings.Join(strings.Fields(line)[:2], " ")]++
		}
	}
	for _, r := range all {
		for i := range r.legs {
			l := &r.legs[i]
			w, _ := l.Worker()
			if w == nil {
				continue
			}
			stage, _ := l.Stage()
			ends[stage]++
			if !l.Gone() {
				p.t.Errorf("%s is not gone, but %v", r.side(l), stage)
			}
			n := told[r.side(l)]
			if n > 1 || n == 0 && (stage == engine.StageDone || stage == engine.StageFailed) && l.Failure() != nil {
				p.t.Errorf("%s is %v: told %d times of its end", r.side(l), stage, n)
			}
			if made, _ := l.Made(p.Now()); stage == engine.StageDone && w.Kind != engine.KindPrefill && made != r.job.OutputTokens {
				p.t.Errorf("%s is done with %d of %d tokens", r.side(l), made, r.job.OutputTokens)
			}
		}
	}
}
