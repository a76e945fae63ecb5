package probe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// moving serves a metrics page that is another one each time it is asked for, and answers the one
// request.
func moving(t *testing.T, page func(n int) string) string {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := map[string]string{"/health": "OK", "/v1/models": modelsPage, "/v1/chat/completions": chatPage}[r.URL.Path]
		switch {
		case r.URL.Path == "/metrics":
			text = page(int(asked.Add(1) - 1))
		case !ok:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// errorsPage is a router that has had n requests, of which so many ended with the status.
func errorsPage(arrived, wrong int, status string) string {
	return routerPage + fmt.Sprintf(`# TYPE smg_http_requests_total counter
smg_http_requests_total{method="POST",path="/v1/chat/completions"} %d
# TYPE smg_http_responses_total counter
smg_http_responses_total{status_code="200"} %d
smg_http_responses_total{status_code="%s"} %d
`, arrived, arrived-wrong, status, wrong)
}

// Calls that come and go are not healthy if they all fail.
func TestMostRequestsFail(t *testing.T) {
	for _, x := range []struct {
		name    string
		page    func(n int) string
		finding probe.Finding
		layer   diagnose.Layer
		text    string
	}{
		{"all with 404", func(n int) string { return errorsPage(10*n, 10*n, "404") }, probe.FoundFailing, diagnose.LayerHarness, "of 30 requests that arrived"},
		{"most with 500", func(n int) string { return errorsPage(10*n, 6*n, "500") }, probe.FoundFailing, diagnose.LayerRouter, "answered 18 with an error, most with an HTTP status of 500 or more"},
		{"some with 404", func(n int) string { return errorsPage(10*n, 2*n, "404") }, probe.FoundHealthy, diagnose.LayerNone, "nothing wrong found"},
		{"two of two", func(n int) string { return errorsPage(min(2, n), min(2, n), "400") }, probe.FoundHealthy, diagnose.LayerNone, "nothing wrong found"},
		{"full", func(n int) string { return errorsPage(10*n, 10*n, "503") }, probe.FoundRefused, diagnose.LayerRouter, "refused 30 of 30"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := run(t, quick(t, moving(t, x.page)))
			if r.Part.Finding != x.finding || r.Verdict.Layer != x.layer || !strings.Contains(r.Part.Headline, x.text) {
				t.Errorf("found %s, layer %s: %s; want %s, %s, with %q", r.Part.Finding, r.Verdict.Layer, r.Part.Headline, x.finding, x.layer, x.text)
			}
		})
	}
}

// The hypotheses do not contradict what the counts of both sides decide.
func TestCauseIsAmongTheHypotheses(t *testing.T) {
	r := run(t, quick(t, moving(t, func(n int) string { return errorsPage(10*n, 10*n, "503") })))
	first := r.Verdict.Hypotheses[0]
	if first.Cause != r.Verdict.Cause || first.Status != diagnose.Supported || len(first.For) != 1 {
		t.Errorf("cause %s, first hypothesis %+v", r.Verdict.Cause, first)
	}
	if n := len(slices.DeleteFunc(slices.Clone(r.Verdict.Hypotheses), func(h diagnose.Hypothesis) bool { return h.Cause != r.Verdict.Cause })); n != 1 {
		t.Errorf("%d hypotheses of the cause, want 1", n)
	}
}

// frozenPage is the decode engine's page, with a batch and a number of tokens.
func frozenPage(running, tokens int) string {
	return fmt.Sprintf(`# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="decode"} %d
# TYPE sglang:realtime_tokens_total counter
sglang:realtime_tokens_total{engine_type="decode",mode="decode"} %d
`, running, tokens)
}

func inFlightPage(n int) string {
	return strings.Replace(routerPage, "active 0", fmt.Sprintf("active %d", n), 1)
}

// Gauges that cannot be of the window are no evidence, and the report says so.
func TestFrozenGauges(t *testing.T) {
	for _, x := range []struct {
		name     string
		inFlight int
		decode   func(n int) string
		finding  probe.Finding
		note     string // empty: none
	}{
		{"0, and tokens are made", 4, func(n int) string { return frozenPage(0, 100*n) }, "", "decode_running reads 0 in all of 4 readings, but decode_tokens_total rose by 300"},
		{"19, and nobody asks", 0, func(int) string { return frozenPage(19, 4000) }, probe.FoundIdle, "decode_running reads 19 in all of 4 readings, but the router has no request"},
		{"4, and tokens are made", 4, func(n int) string { return frozenPage(4, 100*n) }, probe.FoundSlow, ""},
		{"0, and nobody asks", 0, func(int) string { return frozenPage(0, 4000) }, probe.FoundIdle, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := quick(t, moving(t, func(int) string { return inFlightPage(x.inFlight) }), moving(t, x.decode))
			o.For, o.Every, o.Scale, o.Limit = 30*time.Second, 10*time.Second, 100, 10*time.Minute
			r := run(t, o)
			if x.finding != "" && r.Part.Finding != x.finding {
				t.Errorf("found %s, want %s: %s", r.Part.Finding, x.finding, r.Part.Headline)
			}
			if got := strings.Join(r.Part.Notes, "\n"); x.note == "" && strings.Contains(got, "frozen") || !strings.Contains(got, x.note) {
				t.Errorf("notes %q, want %q", got, x.note)
			}
			for _, s := range r.Evidence.Samples {
				has := slices.ContainsFunc(s.Gauges, func(g harness.Gauge) bool { return g.Name == harness.GaugeDecodeRunning })
				if has == (x.note != "") {
					t.Errorf("decode_running is in the evidence: %v", has)
				}
			}
			if _, shown := r.Part.Readings[0].Gauges[harness.GaugeDecodeRunning]; !shown {
				t.Error("decode_running is not in the readings")
			}
		})
	}
}

// Somebody who interrupts the probe before a second reading is told so, and not that all is idle.
func TestInterruptedAtOnce(t *testing.T) {
	o := quick(t, moving(t, func(int) string { return routerPage }))
	ctx, cancel := context.WithCancel(context.Background())
	o.Say = func(line string) {
		if strings.HasPrefix(line, "router ") {
			cancel()
		}
	}
	r, err := probe.Run(ctx, o)
	if err != nil || r.Part.Finding != probe.FoundUnclear {
		t.Errorf("found %v, error %v, want %s", r, err, probe.FoundUnclear)
	}
}

// A URL's query could have a key in it, which would be printed.
func TestNoQuery(t *testing.T) {
	for _, text := range []string{"http://host?key=sk-secret", "client=http://host/debug/pprof/goroutine?debug=2&key=sk-secret", "http://host#sk-secret", "http://host?debug=sk-secret", "http://host?"} {
		if _, err := probe.ParseTarget(text); err == nil || !strings.Contains(err.Error(), "a query or a fragment") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if _, err := probe.ParseTarget("client=http://host/debug/pprof/goroutine?debug=2"); err != nil {
		t.Error(err)
	}
}
