package serving_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// Ten ways to hang SGLang's servers that do not need a GPU: what their operator sees of each, in the
// gauges and in the router's log, and what the client does.

// gauges checks several of them.
func (p *play) gauges(want map[string]float64) {
	p.t.Helper()
	for _, g := range p.s.Gauges() {
		if n, ok := want[g.Name]; ok && g.Value != n {
			p.t.Errorf("at %v: %s is %v, want %v", p.w.Now(), g.Name, g.Value, n)
		}
	}
}

// lines counts lines of the router's log.
func (p *play) lines(with string) int { return strings.Count(p.log.String(), with) }

const (
	startedLine  = "started processing request"
	finishedLine = "finished processing request"
	failedLine   = "request failed with server error"
)

// asShipped undoes what the tests' setup makes of gauges and aborts.
func asShipped(c *serving.Config) {
	d := serving.Default()
	c.Gauges, c.Abort = d.Gauges, d.Abort
	c.Router.QueuedMax = 0
}

// TestRecipe1: decode's memory is full, so that the head of its prealloc queue does not fit. Prefill's
// bootstrap queue grows, and after 300 s its requests fail in a burst; the router tries each of them
// five times, unless so many fail that its breaker opens.
func TestRecipe1(t *testing.T) {
	t.Run("without breaker", func(t *testing.T) { recipe1(t, 0, 500, 1500*time.Second) })
	t.Run("with breaker", func(t *testing.T) { recipe1(t, 10, 503, 600*time.Second) })
}

func recipe1(t *testing.T, breaker, status int, after time.Duration) {
	su := setup{
		cfg: func(c *serving.Config) {
			asShipped(c)
			c.Gauges.Exact = true
			c.Router.Retry.Jitter, c.Router.Breaker.Failures = 0, breaker
		},
		faults: []fault.Fault{{ID: "full", Where: fault.Decode, What: fault.StarveKV, KVTokens: 3_999_000, From: time.Second}},
	}
	su.run(t, 1, func(p *play) {
		p.sleep(2 * time.Second)
		var wholes, streams [10]served
		var all []*sim.Process
		for i := range wholes {
			all = append(all, p.async(whole(fmt.Sprint("w", i), 5000, 100), &wholes[i]), p.async(streamed(fmt.Sprint("s", i), 5000, 100), &streams[i]))
		}
		p.until(60 * time.Second)
		p.gauges(map[string]float64{serving.GaugeDecodePrealloc: 20, serving.GaugePrefillBootstrap: 20, serving.GaugePrefillRunning: 0, serving.GaugeDecodeRunning: 0})
		if usage := p.gauge(serving.GaugeDecodeKV); usage < 0.99 {
			t.Errorf("decode's usage is %v, want nearly 1", usage)
		}
		p.until(303 * time.Second)
		p.gauges(map[string]float64{serving.GaugeBootstrapFailed: 20, serving.GaugeRouterRetries: 10})
		for _, a := range all {
			p.must(a.Wait(p.ctx))
		}
		for i := range wholes {
			err := wholes[i].err
			if statusOf(err) != status || status == 500 && !strings.Contains(err.Error(), "timed out after 300.0s in KVPoll.Bootstrapping") {
				t.Errorf("without stream: %v, want status %d", err, status)
			}
			if took := time.Duration(wholes[i].endAt) - 2*time.Second; took.Truncate(time.Second) != after {
				t.Errorf("without stream: after %v, want %v", took, after)
			}
			if streams[i].inBand == nil || streams[i].endAt > sim.Instant(320*time.Second) {
				t.Errorf("stream: %+v at %v, want an error event soon after 300 s", streams[i].inBand, streams[i].endAt)
			}
		}
		if p.lines(failedLine) != 10 || p.lines(finishedLine) != 10 {
			t.Errorf("log:\n%s", p.log.String())
		}
	})
}

// TestRecipe2: clients whose patience is shorter than the queue come back, and nobody is ever answered.
func TestRecipe2(t *testing.T) {
	setup{cfg: func(c *serving.Config) { asShipped(c); c.Decode.RunningMax = 4 }}.run(t, 1, func(p *play) {
		answered := 0
		all := make([]*sim.Process, 30)
		for i := range all {
			all[i] = p.w.Spawn(p.ctx, fmt.Sprint(i), func(ctx context.Context) {
				for n := range 20 {
					limited, stop := sim.WithTimeout(ctx, p.w, 60*time.Second, context.DeadlineExceeded)
					if got := p.serve(limited, whole(fmt.Sprint(i, "-", n), 8000, 3500), time.Hour); got.err == nil {
						answered++
					}
					stop()
				}
			})
		}
		for _, c := range all {
			p.must(c.Wait(p.ctx))
		}
		if answered != 0 || p.lines(startedLine) != 600 || p.lines("latency=") != 0 {
			t.Errorf("%d answered; %d started, %d finished", answered, p.lines(startedLine), p.lines("latency="))
		}
		if n := p.gauge(serving.GaugeEngineAborted); n < 500 {
			t.Errorf("%v aborted, want most of 600", n)
		}
		if made := p.gauge(serving.GaugeDecodeTokens); made < 50_000 {
			t.Errorf("decode has made %v tokens, want a lot, all for nobody", made)
		}
	})
}

// TestRecipe3: an abort that prefill is not told of leaves an entry in its inflight queue. When such
// entries have all slots, nothing is admitted any more.
func TestRecipe3(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(a *engine.AbortConfig)
	}{
		{"peer not told", func(a *engine.AbortConfig) { a.PeerNotTold = true }},
		{"pinned", func(a *engine.AbortConfig) { a.PinInflight = true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{cfg: func(c *serving.Config) {
				asShipped(c)
				c.Gauges.Exact = true
				c.Abort.Detect, c.Prefill.RequestsMax = engine.DetectNow, 8
				row.change(&c.Abort)
			}, faults: []fault.Fault{{ID: "slow", Where: fault.Transfer, What: fault.Latency, Delay: 5 * time.Second, To: 30 * time.Second}}}
			su.run(t, 1, func(p *play) {
				for i := range 8 {
					p.sleep(100 * time.Millisecond)
					h := p.s.Submit(streamed(fmt.Sprint(i), 100, 100))
					p.sleep(time.Second)
					h.Cancel()
				}
				p.until(time.Minute)
				var late served
				client := p.async(streamed("late", 100, 100), &late)
				p.until(200 * time.Second)
				stuck := float64(8)
				if row.name == "peer not told" {
					stuck = p.gauge(serving.GaugePrefillInflight) // prefill's own client has left too
				}
				p.gauges(map[string]float64{serving.GaugePrefillInflight: stuck, serving.GaugeDecodeRunning: 0, serving.GaugePrefillRunning: 0})
				p.until(400 * time.Second)
				p.must(client.Wait(p.ctx))
				if row.name == "pinned" && (late.inBand == nil || late.tokens != 0) {
					t.Errorf("the late client got %d tokens, %v", late.tokens, late.err)
				}
			})
		})
	}
}

// TestRecipe4: the decode leg is dead, and the router waits for the prefill leg. Both engines are idle.
func TestRecipe4(t *testing.T) {
	for _, row := range []struct {
		name      string
		bootstrap time.Duration
		at        time.Duration
	}{{"prefill gives up", 300 * time.Second, 300 * time.Second}, {"prefill never does", 0, 1800 * time.Second}} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{cfg: func(c *serving.Config) {
				asShipped(c)
				c.Prefill.BootstrapTimeout, c.Router.Retry.AttemptsMax = row.bootstrap, 1
			}, faults: []fault.Fault{{ID: "f", Where: fault.Bootstrap, What: fault.Hang}}}
			su.run(t, 1, func(p *play) {
				var got served
				client := p.async(whole("r", 1000, 100), &got)
				p.sleep(time.Second)
				p.s.AbortRequests("decode-0", "")
				p.until(250 * time.Second)
				if d := p.s.Snapshot().Decode; d.Prealloc+d.Transfer+d.Running != 0 {
					t.Errorf("decode has %+v", d)
				}
				if v := p.s.Router(); len(v.Waiting) != 1 || v.Waiting[0] != 250*time.Second {
					t.Errorf("requests without headers: %v", v.Waiting)
				}
				p.must(client.Wait(p.ctx))
				if status := statusOf(got.err); status < 500 || got.endAt != sim.Instant(row.at) {
					t.Errorf("%v at %v, want an error at %v", got.err, got.endAt, row.at)
				}
			})
		})
	}
}

func statusOf(err error) int {
	var refused *serving.Refusal
	if errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

// TestRecipe5: while retracted requests wait for memory, decode admits nobody and does not look at its
// transfers. The streams that run go on, new ones get no headers.
func TestRecipe5(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) {
		asShipped(c)
		c.Gauges.Exact = true
		c.Decode.KVTokens, c.Decode.ReserveTokens, c.Decode.ClipTokens = 12_000, 0, 1
		c.Router.Retry.AttemptsMax = 1
	}, model: serving.Model{Output: func(string, int, int) (int, int) { return 6000, 0 }}}
	su.run(t, 1, func(p *play) {
		var first [2]served
		var all []*sim.Process
		for i := range first {
			all = append(all, p.async(streamed(fmt.Sprint(i), 4000, 6000), &first[i]))
		}
		for p.gauge(serving.GaugeDecodeRetracted) == 0 {
			p.sleep(time.Second)
		}
		var late served
		late1 := p.async(streamed("late", 1000, 10), &late)
		p.sleep(30 * time.Second)
		p.gauges(map[string]float64{serving.GaugeDecodeRunning: 1, serving.GaugeDecodePrealloc: 1, serving.GaugePrefillInflight: 0})
		if v := p.s.Snapshot().Decode; v.Retracted != 1 {
			t.Errorf("%d retracted, want 1", v.Retracted)
		}
		if strings.Count(p.log.String(), `"late"`) != 1 {
			t.Error("the late request has headers")
		}
		for _, a := range append(all, late1) {
			p.must(a.Wait(p.ctx))
		}
		if first[0].err != nil || first[1].err != nil || first[0].tokens+first[1].tokens != 12_000 || late.err != nil {
			t.Errorf("%d and %d tokens; %v, %v, late: %v", first[0].tokens, first[1].tokens, first[0].err, first[1].err, late.err)
		}
		p.sleep(time.Second)
		p.atRest()
	})
}
