//go:build integration

package clients

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

const seed = 1

// The length of answers, in tokens.
const (
	outputTokens    = 40
	reasoningTokens = 16
)

// instant returns servers that take no time, so that it is never a matter of speed how much a client
// has seen.
func instant() serving.Config {
	c := serving.Default()
	c.Router.QueuedMax = 0
	c.Prefill.RequestsMax, c.Decode.RequestsMax, c.Decode.RunningMax = 0, 0, 4096
	c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 0, 0, 0
	c.Transfer.Latency, c.Transfer.PerToken = 0, 0
	c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 0, 0, 0
	c.Model.OutputTokens, c.Model.ReasoningTokens = outputTokens, reasoningTokens
	return c
}

// served are servers that run.
type served struct {
	stack *serving.Stack
	api   *api.Server
	url   string // base URL of the API
}

// serve starts servers that end with the test.
func serve(t *testing.T, cfg serving.Config, faults []fault.Fault) *served {
	t.Helper()
	w := sim.NewWall(sim.WallOptions{Seed: seed})
	set, err := fault.NewSet(w, faults)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := serving.New(w, cfg, serving.Model{}, set, serving.Logs{Router: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	server, err := api.New(w, stack, api.Config{MetricsAddress: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &served{stack, server, url}
}

// hold sends a request of the agent whom a fault keeps at the router, and waits until it is there. It
// ends with the test.
func (s *served) hold(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/chat/completions",
		strings.NewReader(`{"model":"simulated","messages":[{"role":"user","content":"Hold."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Wedge-Agent", holder)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			t.Errorf("seed %d: the holder has an answer of status %d", seed, resp.StatusCode)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	for deadline := time.Now().Add(bound); s.gauge(t, "router_in_flight") == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("seed %d: the holder is not at the router within %v", seed, bound)
		}
	}
}

func (s *served) gauge(t *testing.T, name string) float64 {
	for _, g := range s.stack.Gauges() {
		if g.Name == name {
			return g.Value
		}
	}
	t.Fatalf("no gauge %q", name)
	return 0
}

// metrics returns the URLs of all /metrics by name.
func (s *served) metrics() map[string]string {
	a := s.api.Addresses()
	all := map[string]string{"all": a.Router, "router": a.Metrics}
	for _, w := range a.Workers {
		all[w.Name] = w.URL
	}
	return all
}

// moduleVersion returns the version of a module that this one requires.
func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", path).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", path, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}
