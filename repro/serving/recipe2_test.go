package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestRecipe6: streams whose clients have left go on, and slow the others down.
func TestRecipe6(t *testing.T) {
	took := func(zombies bool) (seconds float64) {
		setup{cfg: func(c *serving.Config) { asShipped(c); c.Abort.ZombieDecode = zombies }}.run(t, 1, func(p *play) {
			for i := range 40 {
				h := p.s.Submit(streamed(fmt.Sprint("left-", i), 100, 0))
				p.must(h.WaitHeaders(p.ctx))
				h.Cancel()
			}
			p.sleep(10 * time.Second)
			var got served
			start := p.w.Now()
			client := p.async(streamed("r", 100, 1000), &got)
			p.sleep(10 * time.Second)
			want := 1.0
			if zombies {
				want = 41
			}
			p.gauges(map[string]float64{serving.GaugeRouterInFlight: 1, serving.GaugeDecodeRunning: want})
			p.must(client.Wait(p.ctx))
			p.must(got.err)
			seconds = got.endAt.Sub(start).Seconds()
		})
		return seconds
	}
	if with, without := took(true), took(false); with < 2.5*without {
		t.Errorf("%vs with zombies, %vs without: want much more", with, without)
	}
}

// TestRecipe7: while one long prompt after the other is computed in chunks that take longer than the
// router's health check waits, the engine counts as unhealthy, and new requests get 503 although
// nothing is broken.
func TestRecipe7(t *testing.T) {
	setup{cfg: func(c *serving.Config) { asShipped(c); c.Prefill.ChunkTokens = 131_072 }}.run(t, 1, func(p *play) {
		var long [9]served
		var all []*sim.Process
		for i := range long {
			all = append(all, p.async(streamed(fmt.Sprint("long-", i), 120_000, 1000), &long[i]))
		}
		p.until(190 * time.Second)
		p.gauges(map[string]float64{serving.GaugeUnhealthyWorkers: 1})
		got := p.serve(p.ctx, whole("new", 100, 10), time.Hour)
		if statusOf(got.err) != 503 || got.endAt.Sub(sim.Instant(190*time.Second)) > time.Second {
			t.Errorf("a new request: %v at %v, want 503 at once", got.err, got.endAt)
		}
		for _, a := range all {
			p.must(a.Wait(p.ctx))
		}
		for i := range long {
			p.must(long[i].err)
		}
		// A chunk may have room for the beginning of the next prompt, so it is not the same for each.
		if last := long[len(long)-1].headersAt.Sub(long[0].headersAt); last < time.Duration(len(long)-1)*20*time.Second {
			t.Errorf("the last of %d long prompts has its first token %v after the first one's, want more than 20 s for each", len(long), last)
		}
		p.sleep(3 * time.Minute)
		p.gauges(map[string]float64{serving.GaugeUnhealthyWorkers: 0})
	})
}

// TestRecipe8: an error in a stream of status 200 shows nowhere at the router.
func TestRecipe8(t *testing.T) {
	su := setup{cfg: asShipped, faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Error, StatusCode: 500}}}
	su.run(t, 1, func(p *play) {
		for i := range 20 {
			if got := p.serve(p.ctx, streamed(fmt.Sprint(i), 100, 100), time.Hour); got.inBand == nil || got.tokens != 0 || got.finish != "" {
				t.Errorf("%+v", got)
			}
		}
		if p.lines("status_code=200") != 20 || p.lines(failedLine) != 0 {
			t.Errorf("log:\n%s", p.log.String())
		}
		p.gauges(map[string]float64{serving.GaugeRouterRetries: 0, serving.GaugeOpenBreakers: 0, serving.GaugeUnhealthyWorkers: 0})
		if v := p.s.Router(); len(v.Responses) != 1 || v.Responses[0].Status != 200 {
			t.Errorf("responses %+v", v.Responses)
		}
	})
}

// TestRecipe9: the log's latency has no unit. It is in microseconds, and of a stream it is the time to
// the first token.
func TestRecipe9(t *testing.T) {
	setup{cfg: asShipped}.run(t, 1, func(p *play) {
		stream := p.serve(p.ctx, streamed("stream", 30_000, 100), time.Hour)
		whole := p.serve(p.ctx, whole("whole", 30_000, 100), time.Hour)
		p.must(stream.err)
		p.must(whole.err)
		for _, want := range []string{
			fmt.Sprintf(`"stream" status_code=200 latency=%d}`, time.Duration(stream.headersAt).Microseconds()),
			fmt.Sprintf(`"whole" status_code=200 latency=%d}`, whole.endAt.Sub(stream.endAt).Microseconds()),
		} {
			if p.lines(want) != 1 {
				t.Errorf("no %q in\n%s", want, p.log.String())
			}
		}
	})
}

// TestRecipe10: a node in which something is stuck while nothing runs shows its last good values for
// ever, and says that it is healthy.
func TestRecipe10(t *testing.T) {
	su := setup{cfg: asShipped, faults: []fault.Fault{{ID: "f", Where: fault.Transfer, What: fault.Hang, Only: 9}}}
	su.run(t, 1, func(p *play) {
		var got [9]served
		var all []*sim.Process
		for i := range got {
			all = append(all, p.async(streamed(fmt.Sprint(i), 1000, 300), &got[i]))
		}
		for _, a := range all[:8] {
			p.must(a.Wait(p.ctx))
		}
		shown := p.s.Gauges()
		p.sleep(20 * time.Minute)
		truth := p.s.Snapshot()
		if truth.Decode.Running != 0 || truth.Decode.Transfer != 1 || truth.Prefill.Inflight != 1 {
			t.Errorf("in truth %+v, %+v", truth.Prefill, truth.Decode)
		}
		for i, g := range p.s.Gauges() {
			if g != shown[i] {
				t.Errorf("%s goes from %v to %v", g.Name, shown[i].Value, g.Value)
			}
		}
		if n := p.gauge(serving.GaugeDecodeRunning); n == 0 {
			t.Error("decode shows that nothing runs, want what ran long ago")
		}
		p.gauges(map[string]float64{serving.GaugeUnhealthyWorkers: 0, serving.GaugeRouterInFlight: 1})
		if p.lines(finishedLine) != 8 {
			t.Errorf("%d have finished", p.lines(finishedLine))
		}
	})
}
