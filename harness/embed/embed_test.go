package embed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/repro/diagnose"
)

// server answers requests in memory: a token every second.
type server struct {
	tokens int           // of an answer
	mute   int           // after so many tokens a stream goes quiet for good, each 3 tokens later than the one before; 0: it does not
	asked  *atomic.Int64 // requests so far; needed for mute
	status int           // other than 0: what every request is answered with
}

// RoundTrip implements http.RoundTripper.
func (s server) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}, Request: req}
	if s.status != 0 {
		resp.StatusCode, resp.Header = s.status, http.Header{"Content-Type": {"application/json"}}
		resp.Body = io.NopCloser(strings.NewReader(`{"error":{"message":"Request queue is full"}}`))
		return resp, nil
	}
	out, in := io.Pipe()
	resp.Body = out
	mute := 0
	if s.mute > 0 {
		mute = s.mute + 3*int(s.asked.Add(1)-1)
	}
	go func() {
		for i := range s.tokens {
			time.Sleep(time.Second)
			if mute > 0 && i == mute {
				<-req.Context().Done()
				in.CloseWithError(req.Context().Err())
				return
			}
			fmt.Fprintf(in, "data: {\"choices\":[{\"delta\":{\"content\": \"word %d\"}}]}\n\n", i)
		}
		fmt.Fprint(in, "data: [DONE]\n\n")
		in.Close()
	}()
	return resp, nil
}

// crew is a program with agents, as they are written.
type crew struct {
	agents, rounds int
	leak           bool // the slot is not given back when a call fails
}

func (c crew) run(ctx context.Context, dog *embed.Watchdog, base http.RoundTripper) {
	client := &http.Client{Transport: dog.Transport(base)}
	var wg sync.WaitGroup
	for i := range c.agents {
		wg.Go(func() {
			ctx, agent := dog.Agent(ctx, fmt.Sprintf("agent-%02d", i+1), fmt.Sprintf("task-%02d", i+1))
			var err error
			defer func() { agent.End(err) }()
			for round := range c.rounds {
				agent.Round(round + 1)
				if err = c.round(ctx, dog, client); err != nil && !c.leak {
					return
				}
				if err == nil {
					agent.Step()
				}
			}
		})
	}
	wg.Wait()
}

func (c crew) round(ctx context.Context, dog *embed.Watchdog, client *http.Client) error {
	release, err := dog.Acquire(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://servers/v1/chat/completions", strings.NewReader(strings.Repeat("word ", 2000)))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		release()
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		if !c.leak {
			release()
		}
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	release()
	return err
}

// watched runs a crew for an hour in a bubble, and returns what the watchdog told of its stalls.
func watched(t *testing.T, o embed.Options, c crew, base http.RoundTripper) (stalls []embed.Stall, report *harness.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.OnStall = func(s embed.Stall) { stalls = append(stalls, s) }
		if o.Judge == nil {
			o.Judge = func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) }
		}
		dog, err := embed.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c.run(ctx, dog, base)
		if report, err = dog.Close(); err != nil {
			t.Error(err)
		}
	})
	return stalls, report
}

// TestVerdicts runs programs that hang, each in its own way, and one that does not.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		crew    crew
		servers server
		slots   int
		want    string // outcome, layer, cause of the latest capture of the first stall; empty: there is none
	}{
		"healthy":       {crew{8, 3, false}, server{tokens: 20}, 16, ""},
		"starvation":    {crew{12, 2, false}, server{tokens: 250}, 4, "starved pacer starvation"},
		"silent stream": {crew{6, 2, false}, server{tokens: 40, mute: 20, asked: new(atomic.Int64)}, 6, "wedged stream silent-stream"},
		"slot leak":     {crew{6, 4, true}, server{status: http.StatusServiceUnavailable}, 4, "wedged pacer slot-leak"},
	} {
		t.Run(name, func(t *testing.T) {
			stalls, report := watched(t, embed.Options{Name: "crew", Slots: c.slots}, c.crew, c.servers)
			if c.want == "" {
				if len(stalls) > 0 {
					t.Errorf("a stall: %+v", stalls[0].Verdict)
				}
				if n := c.crew.agents; report.Totals.AgentsDone != n || report.Totals.CallsCompleted != n*c.crew.rounds || report.Totals.TokensReceived != n*c.crew.rounds*c.servers.tokens {
					t.Errorf("totals %+v", report.Totals)
				}
				return
			}
			if len(stalls) == 0 {
				t.Fatalf("no stall; totals %+v", report.Totals)
			}
			var last embed.Stall
			for _, s := range stalls {
				if s.Evidence.Episode == 1 {
					last = s
				}
			}
			v := last.Verdict.(diagnose.Verdict)
			if got := fmt.Sprintf("%s %s %s", v.Outcome, v.Layer, v.Cause); got != c.want {
				t.Errorf("found %s, want %s\n%s", got, c.want, v.Summary)
			}
		})
	}
}

var errTask = errors.New("it went wrong")
