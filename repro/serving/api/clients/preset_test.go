//go:build integration

package clients

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/pacer/preset"
)

// stricter lists the episodes that wedge's pacer takes for a failure, and openai-go for an answer: the
// pacer wants a finish reason.
var stricter = map[string]bool{"stream-cut": true}

// otherClock is the episode in which the servers' clock is not the client's: openai-go counts the date in
// Retry-After from its own, so that it is long past and nothing; the pacer from the answer's Date, so that
// it is the 600 s that the server means, which are too many to wait.
const otherClock = "status-503-retry-date"

// TestIntegrationPreset holds the preset openai-go-3 against the client that it imitates, at the same
// servers: in each episode of a streamed chat the pacer makes as many requests as the client, and fails
// where it fails.
func TestIntegrationPreset(t *testing.T) {
	policy, err := preset.Get("openai-go-3")
	if err != nil {
		t.Fatal(err)
	}
	real := official(t)
	for _, e := range episodes() {
		if e.call != callStream {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			want := real.run(t, e.serve(t), e.call, e.patience())[0]
			got := runPreset(t, policy.Policy, e.serve(t), e.patience())
			if e.name == otherClock {
				want.Requests = 1
			}
			if got.Requests != want.Requests {
				t.Errorf("seed %d: preset openai-go-3 makes %d requests, %s %d", seed, got.Requests, real.name, want.Requests)
			}
			failed := want.Error != nil || want.Waits || stricter[e.name]
			if (got.Error != nil || got.Waits) != failed || got.Waits != want.Waits {
				t.Errorf("seed %d: the preset's error is %v, waits %v; %s has %v, waits %v", seed, got.Error, got.Waits, real.name, want.Error, want.Waits)
			}
		})
	}
}

// runPreset makes a streamed chat through a pacer with a policy.
func runPreset(t *testing.T, policy pacer.Policy, baseURL string, patience time.Duration) turn {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := sim.NewWall(sim.WallOptions{Seed: seed})
	transport := newCounting(t)
	backend, err := httpbackend.New(w, httpbackend.Config{BaseURL: baseURL, APIKey: "none", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pacer.New(w, pacer.DefaultConfig(), policy, backend, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out turn
	_ = w.Run(ctx, func(ctx context.Context) { // its error is that patience is over, if it is
		_, err := p.Chat(ctx, pacer.Identity{}, sayGoOpenAI(saying))
		switch {
		case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			out.Waits = true
		case err != nil:
			out.Error = &problem{Class: err.Error()}
		}
	})
	out.Requests = transport.taken()
	return out
}
