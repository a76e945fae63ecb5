package engine_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestLife follows one request through both engines.
func TestLife(t *testing.T) {
	p := newPlay(t, nil)
	r := p.ask("a", 1000, 128)
	p.end()
	want := "[prefill ended at 217.5ms decode first token at 217.5ms decode ended at 2.82124384s]"
	if got := fmt.Sprint(r.told); got[:len(want)] != want {
		t.Errorf("%v\nwant %v…", got, want)
	}
	if v := p.load(); held(v) != 0 || v.PrefillTokens != 1000 || v.DecodeTokens != 128 {
		t.Errorf("left over: %+v", v)
	}
}

// TestConservation: whatever comes and goes, in the end nothing is held.
func TestConservation(t *testing.T) {
	for seed := range uint64(300) {
		draw := sim.NewStream(seed, "engine", "conservation")
		unified := draw.IntN(3) == 0
		p := newPlay(t, func(c *engine.Config) {
			if unified {
				c.Mode = engine.Unified
				c.Decode.Mixed = draw.IntN(2) == 0
				c.Decode.Recompute = true
				c.Decode.QueuedMax = draw.IntN(10)
			}
			c.Decode.RunningMax = 1 + draw.IntN(8)
			c.Decode.RequestsMax = 1 + draw.IntN(16)
			c.Prefill.RequestsMax = 1 + draw.IntN(16)
			c.Decode.KVTokens = 3_000 + draw.IntN(20_000)
			c.Prefill.KVTokens = 3_000 + draw.IntN(20_000)
			c.Decode.ReserveTokens = draw.IntN(600)
			c.Prefill.ChunkTokens = 100 + draw.IntN(4000)
			c.Abort.Detect = []engine.Detection{engine.DetectNow, engine.DetectPoll, engine.DetectNextToken, engine.DetectNever}[draw.IntN(4)]
			c.Abort.PromptToEnd = draw.IntN(4) == 0
			c.Abort.ZombieDecode = draw.IntN(4) == 0
			c.Abort.PinInflight = draw.IntN(4) == 0
			c.Abort.PinReleaseAfter = time.Minute
		}, fault.Fault{ID: "starve", Where: fault.Decode, What: fault.StarveKV, KVTokens: 2000, From: 20 * time.Second, To: 60 * time.Second})
		var all []*pair
		for i := range 40 {
			p.until(time.Duration(p.Now()) + time.Duration(draw.IntN(3000))*time.Millisecond)
			all = append(all, p.ask(fmt.Sprint("r", i), 1+draw.IntN(2900), 1+draw.IntN(900)))
			if draw.IntN(3) == 0 {
				all[draw.IntN(len(all))].leave()
			}
			if v := p.load(); v.DecodeKVTokens > p.Config().Decode.KVTokens || v.PrefillKVTokens > p.Config().Prefill.KVTokens {
				t.Fatalf("seed %d: more memory in use than there is: %+v", seed, v)
			}
		}
		p.end()
		if v := p.load(); held(v) != 0 {
			t.Errorf("seed %d: left over: %+v", seed, v)
		}
		for _, r := range all {
			for i := range r.legs {
				if w, _ := r.legs[i].Worker(); w != nil && !r.legs[i].Gone() {
					s, _ := r.legs[i].Stage()
					t.Errorf("seed %d: %s is not gone: stage %d, told %v", seed, r.name, s, r.told)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}
