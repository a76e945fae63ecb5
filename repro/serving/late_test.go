package serving_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// lateWorld is a virtual world whose timers are late, as those of a busy machine are.
type lateWorld struct {
	sim.World
	draw sim.Stream
}

func (w *lateWorld) AfterFunc(d time.Duration, f func()) *sim.Timer {
	return w.World.AfterFunc(d, func() {
		w.World.AfterFunc(time.Duration(w.draw.IntN(int(300*time.Millisecond))), f)
	})
}

// TestLateTimers checks that late timers shift nothing within the servers: their log is the same to
// the millisecond as with timers that are on time.
func TestLateTimers(t *testing.T) {
	for seed := range uint64(50) {
		play := func(w sim.World) string {
			draw := sim.NewStream(seed, "late", "schedule")
			su := setup{
				cfg: func(c *serving.Config) {
					smallServers(&draw)(c)
					c.Router.LogMilliseconds = true
				},
				model: serving.Model{Output: func(_ string, _, promptTokens int) (int, int) { return 1 + promptTokens%150, 0 }},
			}
			p := su.in(t, w, func(p *play) {
				for i := range 30 {
					at, stay := time.Duration(draw.IntN(int(10*time.Second))), time.Duration(draw.IntN(int(40*time.Second)))
					q := serving.Request{ID: fmt.Sprint(i), Prompt: serving.Prompt{Tokens: 1 + draw.IntN(2000)}, Stream: true}
					p.w.Spawn(p.ctx, "client", func(ctx context.Context) {
						p.must(p.w.Sleep(ctx, at))
						h := p.s.Submit(q)
						p.must(p.w.Sleep(ctx, stay))
						h.Cancel()
					})
				}
				p.sleep(2 * time.Minute)
				p.atRest()
			})
			return p.log.String()
		}
		onTime := play(sim.NewVirtual(sim.VirtualOptions{Seed: seed}))
		late := play(&lateWorld{World: sim.NewVirtual(sim.VirtualOptions{Seed: seed}), draw: sim.NewStream(seed, "late", "timers")})
		if onTime != late {
			t.Fatalf("seed %d: with late timers the log is\n%s\nwant\n%s", seed, late, onTime)
		}
	}
}
