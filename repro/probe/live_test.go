package probe_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
	"example.com/wedge/repro/serving"
)

// scale of the servers in these tests: half a minute is half a second.
const scale = 60

// serveLogged is serve with the router's log in a file.
func serveLogged(t *testing.T, log string) (router, prefill, decode string) {
	t.Helper()
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return serveWith(t, serving.Logs{Router: file}, nil)
}

// serve starts simulated servers and returns their URL and those of the engines.
func serve(t *testing.T, faults []string, set ...string) (router, prefill, decode string) {
	t.Helper()
	return serveWith(t, serving.Logs{}, faults, set...)
}

func serveWith(t *testing.T, logs serving.Logs, faults []string, set ...string) (router, prefill, decode string) {
	t.Helper()
	s := repro.Default()
	s.Name = "probe"
	for _, text := range faults {
		if err := s.AddFaults(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range set {
		path, value, _ := strings.Cut(one, "=")
		if err := s.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	served, err := repro.Serve(s, repro.ServeOptions{Scale: scale, PlainModel: true, Logs: logs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	for _, w := range served.Front.Addresses().Workers {
		switch w.Name {
		case "prefill-0":
			prefill = w.URL
		case "decode-0":
			decode = w.URL
		}
	}
	return strings.TrimSuffix(served.BaseURL, "/v1"), prefill, decode
}

// options are those of a probe in these tests.
func options(t *testing.T, targets ...string) probe.Options {
	t.Helper()
	o := probe.DefaultOptions()
	o.Scale = scale
	o.Say = func(line string) { t.Log(line) }
	for _, text := range targets {
		target, err := probe.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Targets = append(o.Targets, target)
	}
	return o
}

func run(t *testing.T, o probe.Options) *probe.Report {
	t.Helper()
	r, err := probe.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Part.Finding, r.Verdict.Outcome, r.Verdict.Layer, r.Verdict.Cause)
	t.Log(r.Verdict.Summary)
	for _, note := range r.Part.Notes {
		t.Log("note:", note)
	}
	return r
}

// until waits until a client has so many requests out, as its goroutines show.
func until(t *testing.T, url string, enough func(dump string) bool) {
	t.Helper()
	for range 600 {
		if enough(body(t, url+"/debug/pprof/goroutine?debug=2")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the client never got that far")
}

// waiting says of a dump whether so many calls wait for response headers, and so many read their answers.
func waiting(headers, answers int) func(dump string) bool {
	return func(dump string) bool {
		return strings.Count(dump, "net/http.(*persistConn).roundTrip(") == headers && strings.Count(dump, "net/http.(*body).Read(") == answers
	}
}

func body(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The picture of I-3: thirty calls wait for their response headers, the router has two requests, and
// the engines are idle, with a gauge of prefill that stands where it stood.
func TestHeldBeforeTheRouter(t *testing.T) {
	router, prefill, decode := serve(t, []string{"{id: frozen, where: metrics, what: freeze, worker: prefill-0, from: 2s}"})
	proxy := holdAfter(t, router, 2)
	client := clientPlan{BaseURL: proxy.url, Clients: 30, MaxTokens: 100_000}.start(t)
	until(t, client, waiting(28, 2))
	r := run(t, options(t, router, prefill, decode, client))
	if r.Part.Finding != probe.FoundHeld {
		t.Errorf("found %s, want %s", r.Part.Finding, probe.FoundHeld)
	}
	if r.Verdict.Outcome != diagnose.Wedged || r.Verdict.Layer != diagnose.LayerConnection {
		t.Errorf("%s in layer %s, want wedged in layer connection", r.Verdict.Outcome, r.Verdict.Layer)
	}
	for _, want := range []string{"28 calls of the client wait for response headers", "the router has 2 requests", "was answered in"} {
		if !strings.Contains(r.Verdict.Summary, want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
	if s := r.Part.Sides; s.Held != 28 || s.Still < 28 {
		t.Errorf("%d held, %d still, want 28 or more", s.Held, s.Still)
	}
}

// The same without the router's metrics: its log has a started line of two requests and no more.
func TestHeldByTheLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "router.log")
	router, prefill, decode := serveLogged(t, log)
	proxy := holdAfter(t, router, 2)
	client := clientPlan{BaseURL: proxy.url, Clients: 10, MaxTokens: 100_000}.start(t)
	until(t, client, waiting(8, 2))
	o := options(t, "prefill="+prefill, "decode="+decode, client)
	o.RouterLog = log
	r := run(t, o)
	if r.Part.Finding != probe.FoundHeld || !r.Verdict.Outcome.Hang() {
		t.Errorf("found %s, %s, want %s", r.Part.Finding, r.Verdict.Outcome, probe.FoundHeld)
	}
	if !strings.Contains(r.Verdict.Summary, "the router's log shows as started and not finished 0 requests") {
		t.Error("the summary does not say what the log shows")
	}
	if r.Part.Reply != nil || r.Part.NoReply == "" {
		t.Error("a request was sent past the router")
	}
}
