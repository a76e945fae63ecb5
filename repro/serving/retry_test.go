package serving_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// prefillStatus has the prefill leg of requests fail, at most so often (0: always). The router sees it of
// those that are not streamed.
func prefillStatus(status, times int) fault.Fault {
	return fault.Fault{ID: "prefill-status", Where: fault.Prefill, What: fault.Status, StatusCode: status, Times: times}
}

// whole sends a request whose answer is not streamed, and returns when it has it.
func (p *play) whole(id string) served {
	return p.serve(p.ctx, serving.Request{ID: id, Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 10}, 0)
}

// refused returns the refusal that an error is, or a zero one.
func refused(err error) serving.Refusal {
	var e *serving.Refusal
	if errors.As(err, &e) {
		return *e
	}
	return serving.Refusal{}
}

// attempts has the router try so often.
func attempts(n int) func(c *serving.Config) {
	return func(c *serving.Config) { c.Router.Retry.AttemptsMax = n }
}

// TestRetriedStatuses checks which answers of an engine are worth another attempt, and what a client gets
// if none does better.
func TestRetriedStatuses(t *testing.T) {
	for _, row := range []struct {
		status, attempts int
		want             int
		code             string
	}{
		{400, 1, 400, "prefill_bad_request"},
		{404, 1, 404, "prefill_error"},
		{408, 5, 408, "prefill_error"},
		{429, 5, 429, "prefill_error"},
		{500, 5, 500, "prefill_internal_error"},
		{501, 5, 502, "prefill_server_error"},
		{502, 5, 502, "prefill_server_error"},
		{503, 5, 503, "prefill_unavailable"},
		{504, 5, 502, "prefill_server_error"},
	} {
		t.Run(fmt.Sprint(row.status), func(t *testing.T) {
			inBothWorlds(t, setup{faults: []fault.Fault{prefillStatus(row.status, 0)}}, 1, func(p *play) {
				var tried int
				p.s.OnEnd(func(rec *serving.Record) { tried = rec.Attempts })
				e := refused(p.whole("r").err)
				if e.Status != row.want || e.Code != row.code || e.ErrorCode != row.code || !e.Nested || e.Type != http.StatusText(row.want) {
					t.Errorf("got %+v", e)
				}
				if tried != row.attempts {
					t.Errorf("%d attempts, want %d", tried, row.attempts)
				}
				v := p.s.Router()
				exhausted := int64(0)
				if row.attempts == 5 {
					exhausted = 1
				}
				if v.Exhausted != exhausted || len(v.Backoffs) != row.attempts-1 || p.gauge(serving.GaugeRouterRetries) != float64(row.attempts-1) {
					t.Errorf("exhausted %d, backoffs %+v, %v retries", v.Exhausted, v.Backoffs, p.gauge(serving.GaugeRouterRetries))
				}
				if want := []serving.ResponseCount{{Status: row.status, Count: int64(row.attempts)}}; !slices.Equal(v.Upstream, want) {
					t.Errorf("upstream %+v, want %+v", v.Upstream, want)
				}
				if want := []serving.ResponseCount{{Status: row.want, ErrorCode: row.code, Count: 1}}; !slices.Equal(v.Responses, want) {
					t.Errorf("responses %+v, want %+v", v.Responses, want)
				}
				p.atRest()
			})
		})
	}
}

// TestBackoff checks how long the router waits before its attempts: 50 ms and then half as much again each
// time, give or take a fifth.
func TestBackoff(t *testing.T) {
	setup{
		faults: []fault.Fault{prefillStatus(500, 0)},
		cfg:    func(c *serving.Config) { even(c); c.Router.Breaker.Failures = 0; c.Prefill.ChunkBase = 0 },
	}.run(t, 1, func(p *play) {
		const n = 40
		sums := map[time.Duration]bool{}
		for i := range n {
			start := p.w.Now()
			p.whole(fmt.Sprint("r", i))
			sums[p.w.Now().Sub(start)] = true
		}
		if len(sums) != n {
			t.Errorf("%d different waits of %d requests", len(sums), n)
		}
		for i, b := range p.s.Router().Backoffs {
			want := []float64{50, 75, 112.5, 168.75}[i]
			mean := b.Sum.Seconds() * 1000 / float64(b.Count)
			if b.Attempt != i+1 || b.Count != n || mean < 0.93*want || mean > 1.07*want {
				t.Errorf("retry %d: %+v, mean %.1f ms, want %d of %v ms", i+1, b, mean, n, want)
			}
		}
		for sum := range sums {
			if sum < 325*time.Millisecond || sum > 488*time.Millisecond {
				t.Errorf("waited %v in all, want 406.25ms ± 20 %%", sum)
			}
		}
	})
}

// TestBackoffLimit checks that waits do not grow beyond their limit, and that without jitter they are exact.
func TestBackoffLimit(t *testing.T) {
	setup{
		faults: []fault.Fault{prefillStatus(500, 0)},
		cfg: func(c *serving.Config) {
			c.Router.Retry = serving.RetryConfig{AttemptsMax: 6, Backoff: time.Second, Factor: 3, BackoffMax: 5 * time.Second}
		},
	}.run(t, 1, func(p *play) {
		p.whole("r")
		for i, b := range p.s.Router().Backoffs {
			if want := []time.Duration{1, 3, 5, 5, 5}[i] * time.Second; b.Sum != want {
				t.Errorf("wait %d is %v, want %v", i+1, b.Sum, want)
			}
		}
	})
}

// TestRetrySucceeds checks a request whose third attempt is answered: the pairs are others each time, and
// the log has the latency of all attempts in one line.
func TestRetrySucceeds(t *testing.T) {
	su := setup{cfg: pairs(serving.RoundRobin, "", ""), faults: []fault.Fault{prefillStatus(503, 2)}}
	p := su.run(t, 1, func(p *play) {
		var rec serving.Record
		p.s.OnEnd(func(r *serving.Record) { rec = *r })
		got := p.whole("r")
		p.must(got.err)
		if rec.Attempts != 3 || rec.Prefill != "prefill-2" || rec.Decode != "decode-2" || rec.Outcome != serving.Completed || rec.Status != 200 || rec.ErrorCode != "" {
			t.Errorf("record %+v", rec)
		}
		v := p.s.Router()
		for i, w := range v.Workers {
			retries := min(int64(i%3), 1)
			if w.Selections != 1 || w.Retries != retries {
				t.Errorf("%s: chosen %d times, %d of them retries, want 1 and %d", w.Name, w.Selections, w.Retries, retries)
			}
		}
		if want := []serving.ResponseCount{{Status: 200, Count: 2}, {Status: 503, Count: 2}}; !slices.Equal(v.Upstream, want) {
			t.Errorf("upstream %+v, want %+v", v.Upstream, want)
		}
		if v.Exhausted != 0 || v.Connections != 0 {
			t.Errorf("exhausted %d, %d connections", v.Exhausted, v.Connections)
		}
		p.atRest()
	})
	if log := p.log.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, fmt.Sprintf("status_code=200 latency=%d}", lastLatency(p))) {
		t.Errorf("log\n%s", log)
	}
}

// lastLatency is the latency in microseconds in the last line of the log.
func lastLatency(p *play) (us int64) {
	_, text, _ := strings.Cut(p.log.String(), "latency=")
	if _, err := fmt.Sscanf(text, "%d", &us); err != nil || us < 100_000 {
		p.t.Errorf("latency %d us, error %v; want that of three attempts", us, err)
	}
	return us
}

// TestRetryRooms checks that each attempt has a room of its own.
func TestRetryRooms(t *testing.T) {
	rooms := map[string]bool{}
	for n := 1; n <= 5; n++ {
		su := setup{cfg: attempts(n), faults: []fault.Fault{{ID: "t", Where: fault.Transfer, What: fault.Status, StatusCode: 500}}}
		su.run(t, 1, func(p *play) {
			e := refused(p.whole("r").err)
			_, room, ok := strings.Cut(e.Message, "bootstrap_room=")
			if room, _, _ = strings.Cut(room, " "); !ok || rooms[room] {
				t.Errorf("attempt %d: %q has no room, or one of another attempt", n, e.Message)
			}
			rooms[room] = true
		})
	}
}

// TestStreamFailureIsNoFailure is recipe 8: the leg of a stream fails with an event in a body of status
// 200. The router does not see it: no retry, no failure for the breaker, nothing in its log.
func TestStreamFailureIsNoFailure(t *testing.T) {
	p := setup{faults: []fault.Fault{prefillStatus(500, 0)}}.run(t, 1, func(p *play) {
		for i := range 20 {
			a := p.chat(p.ctx, fmt.Sprint("r", i), prompt(100, 10))
			if status(a.err) != 500 || a.content != "" || a.headers == 0 {
				t.Fatalf("headers at %v, then %v; want 200, then an event with 500", a.headers, a.err)
			}
		}
		v := p.s.Router()
		if len(v.Backoffs) != 0 || v.Workers[0].Failures != 0 || v.Workers[0].Breaker != serving.BreakerClosed {
			t.Errorf("backoffs %+v, prefill %+v", v.Backoffs, v.Workers[0])
		}
		p.atRest()
	})
	if n := strings.Count(p.log.String(), "status_code=200"); n != 20 {
		t.Errorf("%d answers of status 200 in the log, want 20", n)
	}
}

// TestLeavesInBackoff checks that a client that leaves between two attempts ends them.
func TestLeavesInBackoff(t *testing.T) {
	su := setup{
		faults: []fault.Fault{prefillStatus(500, 0)},
		cfg:    func(c *serving.Config) { c.Router.Retry.Backoff = time.Minute; c.Router.Retry.BackoffMax = time.Minute },
	}
	inBothWorlds(t, su, 1, func(p *play) {
		h := p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100}})
		p.sleep(10 * time.Second)
		if v := p.s.Router(); v.Connections != 1 || v.Queued != 1 || len(v.Waiting) != 1 || v.Waiting[0] != 10*time.Second {
			t.Errorf("in backoff: %+v", v)
		}
		h.Cancel()
		p.sleep(time.Hour)
		if v := p.s.Router(); v.Connections != 0 || v.Queued != 0 || v.Workers[0].Selections != 1 {
			t.Errorf("after it has left: %+v", v)
		}
		if now := p.w.Now(); now != sim.Instant(time.Hour+10*time.Second) {
			t.Errorf("it is %v", now)
		}
		p.atRest()
	})
}
