package engine_test

import (
	"testing"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// TestCachedTokens: what is cached of a prompt is not computed again, but is there for what is: it takes
// memory, and attention has it to look at.
func TestCachedTokens(t *testing.T) {
	for _, mode := range []engine.Mode{engine.PD, engine.Unified} {
		for _, row := range []struct {
			cached int
			takes  time.Duration
		}{
			{0, 1000*time.Millisecond + 1000*500*time.Microsecond},
			{600, 400*time.Millisecond + 400*800*time.Microsecond},
			{999, time.Millisecond + 999*time.Microsecond + 500*time.Nanosecond},
		} {
			p := newPlay(t, func(c *engine.Config) {
				c.Mode = mode
				c.Prefill.ChunkTokens, c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 2000, 0, time.Millisecond, time.Microsecond
			})
			r := p.prepare("a", 1000, 10)
			r.job.CachedTokens = row.cached
			r.send()
			p.until(time.Minute)
			l := &r.legs[0]
			if mode == engine.Unified {
				l = &r.legs[1]
			}
			if got := l.Time(engine.StagePrefill); got != row.takes {
				t.Errorf("%s: with %d tokens cached it takes %v, want %v", mode, row.cached, got, row.takes)
			}
			p.end()
			p.empty()
		}
	}
}
