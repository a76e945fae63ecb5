package serving_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestRecords checks what is told of requests at their ends, whichever they are.
func TestRecords(t *testing.T) {
	const ms = time.Millisecond
	full := func(c *serving.Config) {
		even(c)
		c.Transfer.Latency = 50 * ms
		c.Router.Retry.AttemptsMax = 1
		c.Model.ContextTokensMax = 100_000
	}
	su := setup{cfg: full, faults: []fault.Fault{
		{ID: "drop", Where: fault.Router, What: fault.Drop, Only: 4},
		{ID: "cut", Where: fault.Stream, What: fault.Cut, AfterTokens: 5, Only: 4},
		{ID: "fail", Where: fault.Prefill, What: fault.Status, StatusCode: 500, Only: 5},
	}}
	var got []string
	su.run(t, 1, func(p *play) {
		p.s.OnEnd(func(r *serving.Record) {
			instant := func(at sim.Instant) string {
				if at == sim.Never {
					return "-"
				}
				return at.Sub(r.Arrived).String()
			}
			got = append(got, fmt.Sprintf("%s %s %d %q attempts %d %s %s: %d tokens, dispatched %s headers %s first %s ended %s; queue %v, prefill %v inflight %v transfer %v decode %v",
				r.ID, r.Outcome, r.Status, r.ErrorCode, r.Attempts, r.Prefill, r.Decode, r.OutputTokens,
				instant(r.Dispatched), instant(r.Headers), instant(r.FirstToken), instant(r.Ended),
				r.QueueTime(), r.Times.Prefill, r.Times.Inflight, r.Times.Transfer, r.Times.DecodeLoop))
		})
		ask := func(q serving.Request, patience time.Duration) {
			ctx, stop := sim.WithTimeout(p.ctx, p.w, patience, context.DeadlineExceeded)
			defer stop()
			p.serve(ctx, q, time.Hour)
			p.sleep(time.Second)
		}
		ask(streamed("stream", 100, 51), time.Hour)
		ask(whole("whole", 100, 51), time.Hour)
		ask(streamed("left", 100, 51), 350*ms)
		ask(streamed("dropped", 100, 51), time.Second)
		ask(streamed("too-long", 100_000, 51), time.Hour)
		ask(streamed("cut", 100, 51), time.Hour)
		ask(whole("failed", 100, 51), time.Hour)
	})
	want := []string{
		`stream completed 200 "" attempts 1 prefill-0 decode-0: 51 tokens, dispatched 0s headers 150ms first 150ms ended 1.15s; queue 0s, prefill 100ms inflight 50ms transfer 150ms decode 1s`,
		`whole completed 200 "" attempts 1 prefill-0 decode-0: 51 tokens, dispatched 0s headers 1.15s first 150ms ended 1.15s; queue 0s, prefill 100ms inflight 50ms transfer 150ms decode 1s`,
		`left left 200 "" attempts 1 prefill-0 decode-0: 11 tokens, dispatched 0s headers 150ms first 150ms ended 350ms; queue 0s, prefill 100ms inflight 50ms transfer 150ms decode 200ms`,
		`too-long failed 400 "" attempts 0  : 0 tokens, dispatched - headers 0s first - ended 0s; queue 0s, prefill 0s inflight 0s transfer 0s decode 0s`,
		`cut failed 200 "" attempts 1 prefill-0 decode-0: 5 tokens, dispatched 0s headers 150ms first 150ms ended 230ms; queue 0s, prefill 100ms inflight 50ms transfer 150ms decode 80ms`,
		`failed failed 500 "prefill_internal_error" attempts 1 prefill-0 decode-0: 0 tokens, dispatched 0s headers 0s first - ended 0s; queue 0s, prefill 0s inflight 0s transfer 0s decode 0s`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// TestRouterLogForms shows the other forms of the router's log.
func TestRouterLogForms(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(c *serving.RouterConfig)
	}{
		{"text-latency", func(c *serving.RouterConfig) { c.LogLatency = serving.LatencyText }},
		{"json", func(c *serving.RouterConfig) { c.LogJSON = true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			su := setup{
				cfg:    func(c *serving.Config) { row.change(&c.Router) },
				faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 429, Only: 2}},
			}
			p := su.run(t, 1, func(p *play) {
				for _, id := range []string{"agent-07-c012-a1", `"quoted"`} {
					p.serve(p.ctx, streamed(id, 1000, 10), time.Hour)
				}
			})
			golden(t, "router-"+row.name+".log", p.log.String())
			for line := range strings.Lines(p.log.String()) {
				if row.name == "json" && !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
		})
	}
}

// TestEngineLogs checks that the engines' logs go where they are to go.
func TestEngineLogs(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	var prefill, decode bytes.Buffer
	s, err := serving.New(w, serving.Default(), serving.Model{}, nil, serving.Logs{Engine: func(worker string) io.Writer {
		if worker == "prefill-0" {
			return &prefill
		}
		return &decode
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		h := s.Submit(streamed("r", 1000, 100))
		if err := h.WaitHeaders(ctx); err != nil {
			t.Error(err)
		}
		if err := h.Wait(ctx, sim.Never); err != nil {
			t.Error(err)
		}
	})
	if err != nil || !strings.Contains(prefill.String(), "Prefill batch, #new-seq: 1, #new-token: 1000") || strings.Count(decode.String(), "Decode batch, #running-req: 1") != 2 || s.LogErr() != nil {
		t.Errorf("%v\n%s%s", err, prefill.String(), decode.String())
	}
}
