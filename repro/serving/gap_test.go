package serving_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// TestGapMax compares the longest silence that a stream tells of with what is seen by looking all the time,
// on small servers on which requests come and go, are retracted, and whose engines stand still now and then.
func TestGapMax(t *testing.T) {
	long := 0
	for seed := range uint64(16) {
		su := setup{
			cfg: func(c *serving.Config) {
				c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 40*time.Millisecond, 5*time.Millisecond, 10*time.Microsecond
				c.Decode.KVTokens, c.Decode.RunningMax, c.Decode.ReserveTokens, c.Decode.ClipTokens = 2500, 4, 1, 1
				c.Prefill.PerToken = 2 * time.Millisecond
				if seed%2 == 1 {
					c.Mode = engine.Unified
				}
			},
			faults: []fault.Fault{{ID: "slow", Where: fault.Decode, What: fault.Slow, Factor: 5, Probability: 0.1}},
		}
		su.run(t, seed, func(p *play) {
			var all []*sim.Process
			for i := range 6 {
				own := p.w.Stream("client", "script").At(i)
				all = append(all, p.w.Spawn(p.ctx, fmt.Sprintf("client-%d", i), func(ctx context.Context) {
					for n := range 3 {
						p.must(p.w.Sleep(ctx, time.Duration(own.IntN(int(3*time.Second)))))
						if p.lookForGap(ctx, fmt.Sprintf("c%d-%d", i, n), 1+own.IntN(900), 2+own.IntN(120)) > time.Second {
							long++
						}
					}
				}))
			}
			for _, c := range all {
				p.must(c.Wait(p.ctx))
			}
		})
	}
	if long < 10 {
		t.Errorf("%d silences of more than a second: the scripts show too little", long)
	}
}

// lookForGap reads a stream to its end, and returns the longest silence between two tokens.
func (p *play) lookForGap(ctx context.Context, id string, promptTokens, outputTokens int) time.Duration {
	st, err := p.client.Open(ctx, &pacer.Attempt{ID: id}, prompt(promptTokens, outputTokens))
	if err != nil {
		p.must(err)
		return 0
	}
	reader := p.w.Spawn(ctx, "reader", func(context.Context) {
		for err == nil {
			_, err = st.Recv()
		}
	})
	var seen sim.Instant
	var gap time.Duration
	for tokens := 0; tokens < outputTokens && err == nil; {
		p.w.Lock()
		pr := st.Progress()
		p.w.Unlock()
		if pr.Tokens > tokens {
			if pr.Tokens > tokens+1 {
				p.t.Fatalf("%s: %d tokens at once: look more often", id, pr.Tokens-tokens)
			}
			if tokens > 0 {
				gap = max(gap, pr.LastToken.Sub(seen))
			}
			tokens, seen = pr.Tokens, pr.LastToken
			if pr.GapMax != gap {
				p.t.Fatalf("%s at %v: it tells of %v, seen was %v", id, p.w.Now(), pr.GapMax, gap)
			}
		}
		p.must(p.w.Sleep(ctx, 10*time.Millisecond))
	}
	p.must(reader.Wait(ctx))
	p.must(st.Close())
	return gap
}
