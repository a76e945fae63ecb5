package serving_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// once has the router try once, and wait for the legs of a request in the given way.
func once(legs serving.Legs) func(c *serving.Config) {
	return func(c *serving.Config) {
		even(c)
		c.Router.Legs, c.Router.Retry.AttemptsMax = legs, 1
	}
}

// endsAt checks how and when a request has ended.
func (p *play) endsAt(got served, want serving.Refusal, at time.Duration) {
	p.t.Helper()
	e := refused(got.err)
	if e.Status != want.Status || e.Code != want.Code || !strings.Contains(e.Message, want.Message) || got.endAt != sim.Instant(at) {
		p.t.Errorf("ended at %v with %+v (%v); want %d %s %q at %v", got.endAt, e, got.err, want.Status, want.Code, want.Message, at)
	}
}

// TestAttemptTimeout checks the error of a call that has taken too long to get headers: the time counts
// from the start of each attempt, and the worker that did not answer has failed.
func TestAttemptTimeout(t *testing.T) {
	short := func(attemptsMax int) func(c *serving.Config) {
		return func(c *serving.Config) {
			once(serving.PrefillFirst)(c)
			c.Router.RequestTimeout, c.Router.Retry = 10*time.Second, serving.RetryConfig{AttemptsMax: attemptsMax, Factor: 1}
		}
	}
	hang := func(where fault.Where) []fault.Fault {
		return []fault.Fault{{ID: "f", Where: where, What: fault.Hang}}
	}
	for _, row := range []struct {
		name     string
		attempts int
		faults   []fault.Fault
		want     serving.Refusal
		at       time.Duration
		failed   [2]int64 // attempts, as the breakers of prefill and decode see it
	}{
		{"decode", 1, nil, serving.Refusal{Status: 502, Code: "decode_server_error"}, 10 * time.Second, [2]int64{0, 1}},
		{"prefill", 1, hang(fault.Prefill), serving.Refusal{Status: 502, Code: "prefill_server_error"}, 10 * time.Second, [2]int64{1, 0}},
		{"three attempts", 3, hang(fault.Prefill), serving.Refusal{Status: 502, Code: "prefill_server_error"}, 30 * time.Second, [2]int64{3, 0}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBothWorlds(t, setup{cfg: short(row.attempts), faults: row.faults}, 1, func(p *play) {
				got := p.serve(p.ctx, serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 3000}, 0)
				p.endsAt(got, row.want, row.at)
				if w := p.s.Router().Workers; w[0].Failures != row.failed[0] || w[1].Failures != row.failed[1] {
					t.Errorf("failures %d and %d, want %v", w[0].Failures, w[1].Failures, row.failed)
				}
				p.atRest()
			})
		})
	}
}

// TestMispair checks that legs which have been sent to workers that do not know of each other wait for
// the whole bootstrap timeout, with one prefill engine and with several, while others pass.
func TestMispair(t *testing.T) {
	for _, workers := range []int{1, 3} {
		su := setup{
			cfg: func(c *serving.Config) {
				once(serving.PrefillFirst)(c)
				c.Prefill.Workers, c.Decode.Workers, c.Router.Policy = workers, workers, serving.RoundRobin
			},
			faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Mispair, Only: 1}},
		}
		inBothWorlds(t, su, 1, func(p *play) {
			h := p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10})
			p.must(p.chat(p.ctx, "other", prompt(100, 10)).err)
			if p.gauge(serving.GaugePrefillBootstrap) != 1 || p.gauge(serving.GaugeDecodePrealloc) != 1 {
				t.Errorf("%v in bootstrap, %v in prealloc, want 1 and 1", p.gauge(serving.GaugePrefillBootstrap), p.gauge(serving.GaugeDecodePrealloc))
			}
			err := h.WaitHeaders(p.ctx)
			p.endsAt(served{err: err, endAt: p.w.Now()}, serving.Refusal{Status: 500, Code: "prefill_internal_error", Message: "Bootstrapping"}, 300*time.Second)
			p.atRest()
		})
	}
}

// TestLoseReply checks that a lost reply costs the engines all their work, and that its client waits until
// it gives up; the router has long forgotten it.
func TestLoseReply(t *testing.T) {
	for _, stream := range []bool{true, false} {
		su := setup{cfg: even, faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.LoseReply}}}
		inBothWorlds(t, su, 1, func(p *play) {
			p.log.Reset()
			var rec serving.Record
			p.s.OnEnd(func(r *serving.Record) { rec = *r })
			ctx, stop := sim.WithTimeout(p.ctx, p.w, time.Hour, context.DeadlineExceeded)
			defer stop()
			got := p.serve(ctx, serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 50, Stream: stream}, 0)
			if !errors.Is(got.err, context.DeadlineExceeded) || got.endAt != sim.Instant(time.Hour) {
				t.Errorf("ended with %v at %v", got.err, got.endAt)
			}
			if rec.Outcome != serving.Failed || rec.Status != 0 || rec.OutputTokens != 50 || rec.Ended > sim.Instant(2*time.Second) {
				t.Errorf("record %+v", rec)
			}
			if strings.Contains(p.log.String(), "smg::response") {
				t.Errorf("the log knows of an answer:\n%s", p.log.String())
			}
			p.atRest()
		})
	}
}
