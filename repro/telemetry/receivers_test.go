package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/wedge/repro"
)

func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ text, traces, want string }{
		{"http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces", ""},
		{"https://collector.example", "https://collector.example/v1/traces", ""},
		{"http://[::1]:4318/", "http://[::1]:4318/v1/traces", ""},
		{"https://h/otlp/", "https://h/otlp/v1/traces", ""},
		{"https://h/otlp/v1/traces", "https://h/otlp/v1/traces", ""},
		{"http://h/v1/metrics", "http://h/v1/traces", ""},
		{"", "", "found nothing, want one such as http://127.0.0.1:4318"},
		{"127.0.0.1:4318", "", "found no URL, want one such as http://127.0.0.1:4318"},
		{"localhost:4317", "", "found a URL that does not begin with http:// or https://"},
		{"grpc://h:4317", "", "gRPC is not spoken"},
		{"http://", "", "found a URL without a host"},
		{"http://:4318", "", "found a URL without a host"},
		{"http://h:0", "", "found port 0, want one from 1 to 65535"},
		{"http://h:99999", "", "found port 99999, want one from 1 to 65535"},
		{"http://user:hunter22@h", "", "found a user or password in the URL (not shown)"},
		{"http://h/?api_key=hunter22", "", "found a query or fragment in the URL (not shown)"},
		{"http://h/#hunter22", "", "found a query or fragment in the URL (not shown)"},
		{"http://user:hunter22%zz@h", "", "found no URL"},
	} {
		to, err := parseEndpoint(c.text)
		switch {
		case c.want == "" && (err != nil || to.traces != c.traces):
			t.Errorf("%q: %q, %v", c.text, to.traces, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter")):
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	to := receive(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20hunter22,x-tenant=a")
	_, stats := sent(t, to, "healthy", repro.Options{}, "fleet.agents=2")
	if stats.Err != nil || to.headers.Get("Authorization") != "Bearer hunter22" || to.headers.Get("X-Tenant") != "a" {
		t.Errorf("%+v, headers %v", stats, to.headers)
	}
	for _, bad := range []string{"Authorization: Bearer hunter22", "a=b,hunter22", "a=hunter22%zz", "=hunter22", "hunt er22=a"} {
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", bad)
		_, err := New(Options{Endpoint: to.URL})
		if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_HEADERS") || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

// warnings collects what an exporter says.
type warnings struct {
	mu    sync.Mutex
	lines []string
}

func (w *warnings) say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// TestNobodyThere: a receiver that does not answer, or refuses, is told of in one line, and the run takes place.
// TestNothingIsRepeated: a receiver that repeats what it got, or sends it elsewhere, makes no secret known.
func TestNothingIsRepeated(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20hunter22,x-key=hunter33")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s went elsewhere, with %v", r.URL.Path, r.Header)
	}))
	defer elsewhere.Close()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"repeats", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "no such token: hunter22, ", r.Header)
		}, "no such token: [redacted]"},
		{"redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/?hunter44", http.StatusTemporaryRedirect)
		}, "which is not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := httptest.NewServer(c.answer)
			defer to.Close()
			var said []string
			e, err := New(Options{Endpoint: to.URL + "/hunter55", Wait: true, Warn: func(line string) { said = append(said, line) }})
			if err != nil {
				t.Fatal(err)
			}
			s, err := repro.Lookup("healthy")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := repro.Run(t.Context(), s, repro.Options{JournalTee: e, Out: filepath.Join(t.TempDir(), "bundle")}); err != nil {
				t.Fatal(err)
			}
			stats := e.Close()
			text := strings.Join(said, "\n")
			if len(said) != 1 || !strings.Contains(text, c.want) || strings.Contains(text+stats.Err.Error(), "hunter") {
				t.Errorf("said %q, %v; want %q", said, stats.Err, c.want)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no\nsuch key", http.StatusUnauthorized) }))
	defer refusing.Close()
	for url, want := range map[string]string{"http://" + closed.Addr().String(): "connection refused", refusing.URL: "401"} {
		var said warnings
		e, err := New(Options{Endpoint: url, Wait: true, Warn: said.say})
		if err != nil {
			t.Fatal(err)
		}
		s, err := repro.Lookup("starvation")
		if err != nil {
			t.Fatal(err)
		}
		r, err := repro.Run(context.Background(), s, repro.Options{JournalTee: e})
		if err != nil || r.Report.Totals.AgentsDone != 30 {
			t.Fatalf("the run: %v", err)
		}
		stats := e.Close()
		if stats.Err == nil || stats.Spans != 0 || stats.SpansLost < 1000 {
			t.Errorf("%s: %+v", url, stats)
		}
		if len(said.lines) != 1 || !strings.Contains(said.lines[0], want) || !strings.HasPrefix(said.lines[0], "--otlp: 127.0.0.1:") {
			t.Errorf("%s: it says %q, want one line with %q", url, said.lines, want)
		}
	}
}

// TestSlowReceiver: on the wall nothing waits for a receiver that does not answer; what did not fit is counted, and what
// comes afterwards makes sense again.
func TestSlowReceiver(t *testing.T) {
	to := receive(t)
	release := make(chan struct{})
	to.gate = func() { <-release }
	e, err := New(Options{Endpoint: to.URL, Scenario: "x"})
	if err != nil {
		t.Fatal(err)
	}
	write := func(format string, args ...any) { fmt.Fprintf(e, format+"\n", args...) }
	write(`{"t_s":0.0,"event":"run_start","run":"x-1","agents":1,"workers":1}`)
	const tasks = 4 * linesMax // so many that most cannot be kept: this would hang if they had to be
	for i := range tasks {
		write(`{"t_s":%d.0,"event":"task_start","agent":"a%d","task":"t"}`, i, i)
		write(`{"t_s":%d.5,"event":"agent_end","agent":"a%d","task":"t","ok":true}`, i, i)
	}
	close(release)
	for _, line := range []string{ // these wait for room
		`{"t_s":%d.0,"event":"task_start","agent":"last","task":"t"}`,
		`{"t_s":%d.5,"event":"agent_end","agent":"last","task":"t","ok":true}`,
		`{"t_s":%d.5,"event":"run_end","why":"completed","agents_done":1,"agents_failed":0,"steps":0,"stalls":0}`,
	} {
		e.lines <- fmt.Appendf(nil, line, tasks)
	}
	stats := e.Close()
	if stats.LinesDropped == 0 || stats.Err != nil {
		t.Errorf("%+v", stats)
	}
	names := map[string]int{}
	for _, s := range to.spans {
		names[s.Name]++
	}
	if names["invoke_workflow x"] != 1 || names["invoke_agent last"] != 1 || names["invoke_agent a0"] != 1 {
		t.Errorf("of %d spans: %d of the run, %d of the last task, %d of the first", len(to.spans), names["invoke_workflow x"], names["invoke_agent last"], names["invoke_agent a0"])
	}
}

// TestBrokenOff: what is open when the lines end is sent as open, and the run too.
func TestBrokenOff(t *testing.T) {
	to := receive(t)
	e, err := New(Options{Endpoint: to.URL, Scenario: "x", Server: "https://models.example/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(e, `{"t_s":0.0,"event":"run_start","run":"x-1","agents":1,"workers":1}`+"\n")
	fmt.Fprint(e, `{"t_s":1.0,"event":"task_start","agent":"a","task":"t"}`+"\n")
	fmt.Fprint(e, `{"t_s":2.0,"event":"stage","call":"a-c001","agent":"a","task":"t","round":1,"step":1,"stage":"connect","from":"think","attempt":1}`+"\n")
	fmt.Fprint(e, `{"t_s":4.0,"event":"stage","call":"a-c001","stage":"headers","from":"connect","attempt":1}`+"\n")
	if stats := e.Close(); stats.Spans != 4 || stats.Err != nil {
		t.Errorf("%+v", stats)
	}
	x := treeOf(t, to.spans)
	x.has("run", "", 0, 4)
	x.has("task of a", "run", 1, 4)
	call := attributes(x.has("call a-c001", "task of a", 2, 4).Attributes)
	if call["wedge.open"] != true || call["server.address"] != "models.example" || call["server.port"] != int64(443) || call["gen_ai.request.model"] != "m" {
		t.Errorf("the call has %v", call)
	}
	for _, s := range to.spans {
		if attributes(s.Attributes)["wedge.open"] != true {
			t.Errorf("%s is not said to be open", s.Name)
		}
	}
	if again := e.Close(); again.Spans != 4 {
		t.Errorf("a second Close: %+v", again)
	}
}

func ExampleExporter() {
	var requests sync.Map
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests.Store(r.URL.Path, true) }))
	defer collector.Close()

	e, err := New(Options{Endpoint: collector.URL, Wait: true, Scenario: "healthy", Clock: "virtual"})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := repro.Lookup("healthy")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = repro.Run(context.Background(), s, repro.Options{JournalTee: e})
	stats := e.Close()
	_, asked := requests.Load("/v1/traces")
	fmt.Println(err, asked, stats.Spans > 1000, stats.SpansLost, stats.Err)
	// Output: <nil> true true 0 <nil>
}
