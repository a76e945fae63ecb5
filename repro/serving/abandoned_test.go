package serving_test

import (
	"context"
	"math"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// abandoned has 16 clients leave their streams in the course of 1,800 s, each three seconds after the
// first token and with 477 s of decode left, and returns how many of the 32 slots they hold on an
// average over that time, by looking each second and by the servers' own tally.
func abandoned(t *testing.T, abort engine.AbortConfig) (slots, tally float64) {
	const (
		clients = 16
		span    = 1800 * time.Second
		stay    = 3 * time.Second
		left    = 477 * time.Second
		step    = 20 * time.Millisecond
	)
	su := setup{cfg: func(c *serving.Config) {
		c.Decode.RunningMax = 32
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = step, 0, 0 // what is left takes the same in any company
		c.Abort = abort
		c.Model.OutputTokens = int((stay + left) / step)
	}}
	su.run(t, 1, func(p *play) {
		draw := p.w.Stream("clients", "arrivals")
		for range clients {
			at := time.Duration(draw.IntN(int(span - left - 10*time.Second)))
			p.w.Spawn(p.ctx, "client", func(ctx context.Context) {
				p.must(p.w.Sleep(ctx, at))
				h := p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 1000}, Stream: true})
				p.must(h.WaitHeaders(ctx))
				p.must(p.w.Sleep(ctx, stay))
				h.Cancel()
			})
		}
		for range span / time.Second {
			p.sleep(time.Second)
			slots += float64(p.s.Snapshot().Decode.Zombies) * time.Second.Seconds() / span.Seconds()
		}
		tally = p.s.Tally().ZombieSlots.Seconds() / span.Seconds()
		p.atRest()
	})
	return slots, tally
}

// TestAbandonedStreams reproduces a report on SGLang (#34894): 16 abandoned streams in 1,800 s held 4.24
// slots of 32.
func TestAbandonedStreams(t *testing.T) {
	for _, row := range []struct {
		name       string
		abort      engine.AbortConfig
		want, give float64 // slots
	}{
		{"never noticed", engine.AbortConfig{Detect: engine.DetectNever}, 4.24, 0.4},
		{"noticed, and the abort lost", engine.AbortConfig{ZombieDecode: true}, 4.24, 0.4},
		{"noticed 2 s later", serving.Default().Abort, 16 * 2 / 1800.0, 0.01},
		{"noticed with the next token", engine.AbortConfig{Detect: engine.DetectNextToken}, 0, 0.01},
		{"noticed at once", engine.AbortConfig{Detect: engine.DetectNow}, 0, 0},
	} {
		got, tally := abandoned(t, row.abort)
		t.Logf("%-28s %5.3f of 32 slots", row.name, got)
		if math.Abs(got-row.want) > row.give {
			t.Errorf("%s: %.3f slots, want %.3f ± %.2f", row.name, got, row.want, row.give)
		}
		if math.Abs(got-tally) > 0.02 {
			t.Errorf("%s: %.3f slots by the tally, %.3f by looking", row.name, tally, got)
		}
	}
}
