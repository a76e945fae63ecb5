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
	"example.com/wedge/repro/serving/engine"
)

// unified makes n engines that do all, and a router that tries once.
func unified(n int) func(c *serving.Config) {
	return func(c *serving.Config) {
		c.Mode, c.Decode.Workers = engine.Unified, n
		c.Router.QueuedMax, c.Router.Retry.AttemptsMax = 0, 1
	}
}

// whole is a request without stream.
func whole(id string, promptTokens, outputTokens int) serving.Request {
	return serving.Request{ID: id, Prompt: serving.Prompt{Tokens: promptTokens}, OutputTokensMax: outputTokens}
}

// streamed is a request with one.
func streamed(id string, promptTokens, outputTokens int) serving.Request {
	q := whole(id, promptTokens, outputTokens)
	q.Stream = true
	return q
}

// async serves a request on a process of its own.
func (p *play) async(q serving.Request, out *served) *sim.Process {
	return p.w.Spawn(p.ctx, q.ID, func(ctx context.Context) { *out = p.serve(ctx, q, time.Hour) })
}

// until waits for an instant.
func (p *play) until(at time.Duration) { p.sleep(at - time.Duration(p.w.Now())) }

// TestLegs checks for which of its two legs the router waits, when one of them fails.
func TestLegs(t *testing.T) {
	prefillFails := []fault.Fault{{ID: "f", Where: fault.Prefill, What: fault.Status, StatusCode: 500}}
	mispaired := []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Mispair}}
	const s = time.Second
	for _, row := range []struct {
		name   string
		legs   serving.Legs
		stream bool
		faults []fault.Fault
		abort  bool // the decode leg, after a second
		status int  // 0: a stream with an error event
		code   string
		at     time.Duration
	}{
		{"prefill fails", serving.PrefillFirst, false, prefillFails, false, 500, "prefill_internal_error", 0},
		{"prefill fails, joined", serving.Join, false, prefillFails, false, 500, "prefill_internal_error", 8 * s},
		{"prefill fails in a stream", serving.PrefillFirst, true, prefillFails, false, 0, "", 8 * s},
		{"decode fails first", serving.PrefillFirst, false, mispaired, true, 500, "prefill_internal_error", 300 * s},
		{"decode fails first in a stream", serving.PrefillFirst, true, mispaired, true, 0, "", 300 * s},
		{"a pair that never meets", serving.PrefillFirst, false, mispaired, false, 500, "prefill_internal_error", 300 * s},
		{"a pair that never meets, in a stream", serving.PrefillFirst, true, mispaired, false, 502, "decode_server_error", 1800 * s},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{faults: row.faults, cfg: func(c *serving.Config) {
				c.Router.Legs, c.Router.Retry.AttemptsMax = row.legs, 1
			}}
			su.run(t, 1, func(p *play) {
				q := whole("r", 100, 10)
				q.Stream = row.stream
				var got served
				client := p.async(q, &got)
				if row.abort {
					p.sleep(s)
					if n := p.s.AbortRequests("decode-0", ""); n != 1 {
						t.Errorf("%d requests aborted at decode", n)
					}
				}
				p.must(client.Wait(p.ctx))
				var refused *serving.Refusal
				errors.As(got.err, &refused)
				switch {
				case row.status == 0 && got.inBand == nil:
					t.Errorf("got %v, want an event in the stream", got.err)
				case row.status != 0 && (refused == nil || refused.Status != row.status || refused.ErrorCode != row.code):
					t.Errorf("got %+v, want %d %s", got.err, row.status, row.code)
				}
				if at := time.Duration(got.endAt); at.Truncate(s) != row.at {
					t.Errorf("ended at %v, want %v", at, row.at)
				}
				p.atRest()
			})
		})
	}
}

// TestAbortRequests: the engines' ids are their own. The router's id of a request finds nothing there.
func TestAbortRequests(t *testing.T) {
	setup{}.run(t, 1, func(p *play) {
		h := p.s.Submit(streamed("agent-01-c001-a1", 100, 1000))
		defer h.Cancel()
		p.must(h.WaitHeaders(p.ctx))
		id := h.ResponseID()
		for _, w := range []struct {
			worker, prefix string
			n              int
		}{{"decode-0", "agent-01", 0}, {"prefill-0", id[:8], 0}, {"decode-9", id, 0}, {"decode-0", id[:8], 1}} {
			if n := p.s.AbortRequests(w.worker, w.prefix); n != w.n {
				t.Errorf("%s, %q: %d aborted, want %d", w.worker, w.prefix, n, w.n)
			}
		}
		part, _, err := h.Take()
		if err != nil || part.Error == nil || !strings.Contains(part.Error.Message, "Aborted by AbortReq.") {
			t.Errorf("got %+v, %v", part, err)
		}
		p.sleep(time.Second)
		p.atRest()
	})
}
