package live

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
)

// evil is a name that a page must not take for markup.
const evil = `<script>alert("x")</script>`

func seconds(s float64) sim.Instant { return sim.Instant(s * float64(time.Second)) }

// stalled is a run in a stall, with everything that a run can have.
func stalled() harness.Progress {
	p := harness.Progress{
		At: seconds(754.5), Agents: 30, Calls: 26, Sent: 8, Stall: 2, StalledFor: 130 * time.Second, Tasks: 41,
		Totals: harness.Totals{
			AgentsDone: 11, AgentsFailed: 1, Steps: 212, CallsCompleted: 204, CallsFailed: 3, Attempts: 231, AttemptsTimeout: 9,
			AttemptsStatus: 4, Backoffs: 13, TokensReceived: 401_200, TokensWasted: 3_100,
		},
		Pacer:    pacer.Occupancy{SlotsMax: 8, SlotsInUse: 8, RequestsPerS: 10, RequestsLeft: 2.5},
		Oldest:   harness.OldestCall{ID: evil + "-c012", Agent: evil, Stage: pacer.StageFirstToken, Started: seconds(540), Since: seconds(560.5)},
		Gauges:   []harness.Gauge{{Name: "router_in_flight", Value: 8}, {Name: "decode_running", Value: 0}, {Name: evil, Value: 0.25}},
		GaugesAt: seconds(754.1),
		LastStall: harness.StallGlimpse{
			Episode: 2, StartedAt: seconds(624.5), DetectedAt: seconds(684.5),
			Verdict: diagnose.Verdict{Outcome: diagnose.Wedged, Layer: "server", Cause: "silent_stream", Summary: "8 streams have said nothing: " + evil},
		},
	}
	p.ByStage[pacer.StageSlot], p.ByStage[pacer.StageFirstToken], p.ByStage[pacer.StageStream] = 18, 5, 3
	p.AgentsByStage = p.ByStage
	p.AgentsByStage[pacer.StageThink], p.AgentsByStage[pacer.StageTool] = 3, 1
	return p
}

// at returns what asks for a progress that is always the same.
func at(p harness.Progress) func() harness.Progress { return func() harness.Progress { return p } }

// viewOf returns a view that has looked at a progress once.
func viewOf(t *testing.T, p harness.Progress) *View {
	t.Helper()
	v := NewView(Run{Command: "run", Scenario: evil, Seed: 3, Clock: "wall", Scale: 60, Model: "m", Tasks: 40, Evidence: "out"})
	t.Cleanup(v.Stop)
	news, forget := v.Watch()
	defer forget()
	v.Attach(at(p), func() []Fact { return []Fact{{Name: "p95(call) < 120s", Value: evil, Bad: true}} })
	<-news
	return v
}

// serve serves a view until the test ends.
func serve(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// get asks for a path, with headers in pairs; "Host" stands for the host.
func get(t *testing.T, s *Server, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(s.URL(), "/")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// event reads the next event of a stream.
func event(t *testing.T, from *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("no further event: %v", err)
		}
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); key {
		case "event":
			name = value
		case "data":
			data = value
		case "":
			return name, data
		}
	}
}

// counted is what a meter might have counted.
func counted() (series.Cumulative, bool) {
	one := series.Buckets{Bounds: []float64{1, 2}, Counts: []uint64{3, 1, 2}, Sum: 40, N: 6}
	return series.Cumulative{
		Tasks: series.Tasks{Begun: 41, Done: 11, Failed: 1}, Calls: series.Calls{OK: 204, Failed: 3},
		Attempts: series.Attempts{Begun: 231, OK: 204, Timeout: 9, Status: 4}, Tokens: series.Tokens{Received: 401_200, Wasted: 3_100},
		Steps: 212, Stalls: series.Stalls{Begun: 2, S: 210.5}, StageS: series.StageSeconds{Slot: 12.5},
		Timeouts: []series.Count{{Name: "idle", N: 9}}, Statuses: []series.Count{{Name: "503", N: 4}},
		Call: one, CallFailed: one, TTFT: one, InterToken: one, SlotWait: one, RateWait: one, Backoff: one, Task: one,
		TaskFailed: one, Tool: one, InputTokens: one, OutputTokens: one,
	}, true
}
