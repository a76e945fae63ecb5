package engine_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving/engine"
)

// round makes a unified engine of round numbers: a step of 20 ms, and a chunk of 1 ms a token.
func round(change func(c *engine.Config)) func(c *engine.Config) {
	return func(c *engine.Config) {
		c.Mode = engine.Unified
		c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair, c.Prefill.ChunkTokens = 0, time.Millisecond, 0, 100
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 20*time.Millisecond, 0, 0
		if change != nil {
			change(c)
		}
	}
}

// TestUnified: one engine does both. The batch stands still while a chunk is computed, or with mixed
// chunks makes a step with each.
func TestUnified(t *testing.T) {
	for _, c := range []struct {
		mixed  bool
		tokens []int // of a, at the instants below
		first  string
		end    string
	}{
		// a is computed until 50 ms. b comes at 95 ms, and its first chunk begins at 110, with the end of a step.
		{false, []int{1, 3, 4, 4, 4, 5, 12}, "360ms b D first token", "2.28s a D ended"},
		{true, []int{1, 3, 4, 4, 5, 6, 12}, "420ms b D first token", "2.28s a D ended"},
	} {
		p := newPlay(t, round(func(cfg *engine.Config) { cfg.Decode.Mixed = c.mixed }))
		a := p.ask("a", 50, 100)
		var got []int
		for _, at := range []int{60, 90, 95, 110, 209, 310, 385, 520} {
			p.until(time.Duration(at) * time.Millisecond)
			if at == 95 {
				b := p.ask("b", 250, 10)
				p.is("b", b.where(), "prefill_wait")
				continue
			}
			got = append(got, a.made())
		}
		p.is(fmt.Sprint("tokens, mixed ", c.mixed), got, c.tokens)
		p.end()
		p.empty()
		p.is("lines", len(p.told), 4)
		p.is("b", p.told[1], c.first)
		p.is("a", p.told[3], c.end)
	}
}

// TestQueueLimit: the request that finds the queue full fails with 503; an engine of a pair has no limit.
func TestQueueLimit(t *testing.T) {
	p := newPlay(t, round(func(c *engine.Config) { c.Decode.QueuedMax, c.Decode.RunningMax = 2, 1 }))
	a := p.ask("a", 10, 10)
	p.ask("b", 10, 10)
	p.ask("c", 10, 10)
	d := p.ask("d", 10, 10)
	p.want("0s d D failed 503 SERVICE_UNAVAILABLE")
	p.is("message", d.legs[1].Failure().Message, "The request queue is full.")
	p.is("a", a.where(), "prefill")
	p.end()
	p.empty()

	p = newPlay(t, func(c *engine.Config) { c.Decode.QueuedMax = 1 })
	for range 5 {
		p.ask("a", 10, 10)
	}
	p.want()
}

// TestUnifiedAborts: a client that leaves in each stage of a unified engine.
func TestUnifiedAborts(t *testing.T) {
	for _, c := range []struct {
		at          time.Duration
		where, then string
		end         time.Duration
	}{
		{0, "prefill_wait", "aborted", 0}, // b waits for the chunk under way
		{60 * time.Millisecond, "prefill", "aborted", 150 * time.Millisecond},
		{500 * time.Millisecond, "decode", "aborted", 520 * time.Millisecond},
	} {
		p := newPlay(t, round(nil))
		p.ask("a", 50, 200)
		b := p.ask("b", 250, 1000)
		p.until(c.at)
		p.is("b", b.where(), c.where)
		b.leave()
		p.until(2 * time.Second)
		stage, at := b.legs[1].Stage()
		p.is("b", stage, c.then)
		p.is("end of b", time.Duration(at), c.end)
		p.end()
		p.empty()
	}
}

// TestUnifiedHang: a chunk that hangs stops the batch as well, until the one has left that hangs.
func TestUnifiedHang(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		p := newPlay(t, round(func(c *engine.Config) { c.Decode.Mixed = mixed }),
			fault.Fault{Where: fault.Prefill, What: fault.Hang, Only: 2})
		a := p.ask("a", 50, 100)
		p.until(time.Second)
		b := p.ask("b", 250, 10)
		p.until(2 * time.Second)
		made := a.made()
		p.until(time.Hour)
		p.is("tokens of a", a.made(), made)
		ok, after := p.Unified()[0].Healthy()
		p.is("health", fmt.Sprint(ok, after), "false 20s")
		a.leave()
		p.until(2 * time.Hour)
		p.is("a", a.where(), "decode")
		b.leave()
		p.end()
		p.empty()
		p.is("end", time.Duration(p.Now()) < 2*time.Hour+time.Second, true)
	}
}

// TestHealthy: /health answers when a rank has done what it is at.
func TestHealthy(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Prefill.PerToken = 3 * time.Millisecond })
	health := func(w *engine.Worker) string { ok, after := w.Healthy(); return fmt.Sprint(ok, " ", after) }
	p.is("idle", health(p.Prefills()[0]), "true 0s")
	p.ask("a", 1000, 100)
	p.is("in a chunk", health(p.Prefills()[0]), "true 3.0305s")
	p.until(3 * time.Second)
	p.is("in a chunk", health(p.Prefills()[0]), "true 30.5ms")
	p.end()
	p.ask("b", 7000, 100)
	p.is("in a long chunk", health(p.Prefills()[0]), "false 20s")
	p.is("decode idle", health(p.Decodes()[0]), "true 0s")
	p.until(time.Duration(p.Now()) + 22*time.Second)
	ok, after := p.Decodes()[0].Healthy()
	p.is("decode in a step", ok && after > 0 && after < 25*time.Millisecond, true)

	stuck := newPlay(t, nil, fault.Fault{Where: fault.Transfer, What: fault.Hang})
	stuck.ask("a", 1000, 100)
	stuck.until(time.Hour)
	stuck.is("stuck", health(stuck.Prefills()[0])+health(stuck.Decodes()[0]), "true 0strue 0s")
}
