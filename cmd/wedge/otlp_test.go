package main

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// otlpReceiver counts the spans that it gets by name up to the first space, and the points of histograms of calls.
type otlpReceiver struct {
	mu    sync.Mutex
	spans map[string]int
	calls uint64
	model string // of the latest call
	key   string // what came as api-key
}

func (o *otlpReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	text, err := io.ReadAll(body)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.key = r.Header.Get("api-key")
	var traces collectortrace.ExportTraceServiceRequest
	var metrics collectormetrics.ExportMetricsServiceRequest
	if r.URL.Path == "/v1/traces" && err == nil {
		err = proto.Unmarshal(text, &traces)
	} else if err == nil {
		err = proto.Unmarshal(text, &metrics)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, of := range traces.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				name, of, _ := strings.Cut(s.Name, " ")
				o.spans[name]++
				if name == "chat" {
					o.model = of
				}
			}
		}
	}
	for _, of := range metrics.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name == "gen_ai.client.operation.duration" {
					o.calls = m.GetHistogram().DataPoints[0].Count
				}
			}
		}
	}
}

// TestOTLP: each command that offers --otlp sends spans and metrics, and tells nothing of it.
func TestOTLP(t *testing.T) {
	for _, args := range [][]string{
		{"repro", "healthy", "--set", "fleet.agents=4"},
		{"soak", "healthy", "--for", "10m", "--set", "fleet.agents=4"},
		{"repro", "healthy", "--clock", "wall", "--scale", "600", "--set", "fleet.agents=4", "--set", "workflow.rounds=1"},
		{"soak", "healthy", "--clock", "wall", "--scale", "600", "--for", "3m", "--set", "fleet.agents=4"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			o := &otlpReceiver{spans: map[string]int{}}
			server := httptest.NewServer(o)
			defer server.Close()
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2hunter2")
			out, errs, code := wedge(t, append(args, "-q", "--no-report", "--out", "b", "--otlp", server.URL)...)
			if code != exitOK || errs != "" {
				t.Fatalf("exit code %d:\n%s", code, errs)
			}
			if o.spans["invoke_workflow"] != 1 || o.spans["invoke_agent"] < 4 || o.spans["chat"] < 4 || o.spans["execute_tool"] < 4 || o.calls == 0 || o.model != "simulated" {
				t.Errorf("received %v of model %q, and %d calls by the metric", o.spans, o.model, o.calls)
			}
			if o.key != "hunter2hunter2" {
				t.Errorf("api-key was %q", o.key)
			}
			if strings.Contains(out, "hunter2") {
				t.Error("the key is in what was printed")
			}
			err := filepath.WalkDir("b", func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.Contains(readFile(t, path), "hunter2") {
					t.Errorf("the key is in %s", path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOTLPNobodyThere: the run is as it would be without, but for one line.
func TestOTLPNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	for _, args := range [][]string{{"repro", "starvation"}, {"soak", "starvation", "--for", "1h"}} {
		args = append(args, "-q", "--no-report", "--out", "b")
		want, _, code := wedge(t, args...)
		got, errs, withCode := wedge(t, append(args, "--otlp", url)...)
		if withCode != code || args[0] == "repro" && got != want {
			t.Errorf("exit code %d, want %d; it prints\n%s\nwant\n%s", withCode, code, got, want)
		}
		if strings.Count(errs, "--otlp") != 1 || !strings.Contains(errs, "connection refused; the run goes on\n") {
			t.Errorf("standard error:\n%s", errs)
		}
	}
}

func TestOTLPBadInput(t *testing.T) {
	for url, want := range map[string]string{
		"":                                "found nothing, want one such as http://127.0.0.1:4318",
		"127.0.0.1:4318":                  "found no URL",
		"http://me:hunter2@127.0.0.1":     "found a user or password in the URL (not shown)",
		"http://127.0.0.1/?token=hunter2": "found a query or fragment in the URL (not shown)",
	} {
		for _, args := range [][]string{{"repro", "healthy"}, {"soak", "healthy", "--for", "10m"}} {
			_, errs, code := wedge(t, append(args, "--otlp", url)...)
			if code != exitUsage || !strings.HasPrefix(errs, "wedge: --otlp: "+want) || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "hunter2") {
				t.Errorf("%v --otlp %s: exit code %d, standard error %q", args, url, code, errs)
			}
			if left := leftBehind(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}
