package embed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
)

// TestStages: over a real connection, each stage of a request shows while it lasts.
func TestStages(t *testing.T) {
	step := make(chan struct{})
	ids := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Get("X-Request-Id")
		flush := w.(http.Flusher)
		<-step
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		flush.Flush()
		<-step
		fmt.Fprint(w, ": keepalive\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		flush.Flush()
		<-step
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer srv.Close()
	dog, err := embed.Start(embed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, agent := dog.Agent(t.Context(), "a", "t")
	defer agent.End(nil)
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, strings.NewReader("{}"))
	client := &http.Client{Transport: dog.Transport(nil)}
	answer := make(chan *http.Response, 1)
	go func() {
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
		}
		answer <- resp
	}()
	if id := <-ids; id != "a-c001-a1" {
		t.Errorf("X-Request-Id %q", id)
	}
	// in waits until one call is in the stage; the server waits meanwhile.
	in := func(stage pacer.Stage) {
		t.Helper()
		for dog.Progress().ByStage[stage] != 1 {
			if t.Context().Err() != nil {
				t.Fatal("never in stage " + stage.String())
			}
		}
	}
	in(pacer.StageHeaders)
	step <- struct{}{}
	resp := <-answer
	in(pacer.StageFirstToken)
	step <- struct{}{}
	go func() { _, _ = io.Copy(io.Discard, resp.Body); _ = resp.Body.Close(); close(answer) }()
	in(pacer.StageStream)
	step <- struct{}{}
	<-answer
	p := dog.Progress()
	if p.Calls != 0 || p.Totals.CallsCompleted != 1 || p.Totals.Steps != 1 {
		t.Errorf("at the end: %+v", p)
	}
	agent.End(nil)
	report, err := dog.Close()
	if err != nil || report.Totals.TokensReceived != 1 || report.Totals.AgentsDone != 1 {
		t.Errorf("report %+v, %v", report.Totals, err)
	}
}

// TestOutcomes: how attempts and calls are counted.
func TestOutcomes(t *testing.T) {
	plain := func(status int, header http.Header, body io.ReadCloser) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			if header == nil {
				header = http.Header{}
			}
			return &http.Response{StatusCode: status, Header: header, Body: body, Request: r}, nil
		}
	}
	sse := http.Header{"Content-Type": {"text/event-stream"}}
	text := func(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
	for _, c := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		read   int64 // bytes of the body; -1: all
		want   func(t harness.Totals) bool
	}{
		{"JSON", plain(200, nil, text(`{"choices":[]}`)), -1, func(t harness.Totals) bool { return t.AttemptsOK == 1 && t.CallsCompleted == 1 }},
		{"JSON, closed when it was understood", plain(200, nil, text(`{"choices":[]}`+"\n")), 5, func(t harness.Totals) bool { return t.AttemptsOK == 1 }},
		{"no body", plain(204, nil, http.NoBody), -1, func(t harness.Totals) bool { return t.AttemptsOK == 1 }},
		{"a full queue", plain(503, http.Header{"Retry-After": {"7"}}, text(`{"error":{"message":"Request queue is full"}}`)), -1, func(t harness.Totals) bool {
			return t.Attempts503 == 1 && t.Attempts503Full == 1 && t.RetryAfters == 1 && t.RetryAfterMax == 7*time.Second && t.CallsFailed == 1
		}},
		{"429, body not read", plain(429, nil, text("slow down")), 0, func(t harness.Totals) bool { return t.Attempts429 == 1 && t.CallsRefused == 1 }},
		{"a stream that is left", plain(200, sse, text("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\nmore")), 47, func(t harness.Totals) bool {
			return t.AttemptsOK == 0 && t.CallsFailed == 1 && t.TokensWasted == 1
		}},
		{"a stream without content or end", plain(200, sse, text(": nothing\n\n")), -1, func(t harness.Totals) bool { return t.AttemptsNetwork == 1 }},
		{"no connection", func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, -1, func(t harness.Totals) bool { return t.AttemptsNetwork == 1 }},
		{"a time limit", func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }, -1, func(t harness.Totals) bool { return t.AttemptsTimeout == 1 }},
		{"the caller leaves", func(*http.Request) (*http.Response, error) { return nil, context.Canceled }, -1, func(t harness.Totals) bool { return t.CallsFailed == 1 && t.AttemptsNetwork == 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dog, err := embed.Start(embed.Options{})
			if err != nil {
				t.Fatal(err)
			}
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://servers/v1/models", nil)
			resp, err := dog.Transport(roundTripper(c.answer)).RoundTrip(req)
			if err == nil {
				if c.read < 0 {
					_, _ = io.Copy(io.Discard, resp.Body)
				} else {
					_, _ = io.CopyN(io.Discard, resp.Body, c.read)
				}
				_ = resp.Body.Close()
			}
			report, err := dog.Close()
			if err != nil {
				t.Fatal(err)
			}
			if tot := report.Totals; !c.want(tot) || tot.Attempts != 1 || tot.CallsCompleted+tot.CallsFailed != 1 {
				t.Errorf("%+v", tot)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRetries: requests that follow each other for one slot are attempts of one call.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, _ := embed.Start(embed.Options{Slots: 1})
		ctx, agent := dog.Agent(t.Context(), "a", "t")
		release, err := dog.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://servers/", nil)
			resp, _ := dog.Transport(server{status: 503}).RoundTrip(req)
			_, _ = io.Copy(io.Discard, resp.Body)
			dog.Waiting(ctx, pacer.StageBackoff)
		}
		if p := dog.Progress(); p.Calls != 1 || p.ByStage[pacer.StageBackoff] != 1 || p.Totals.Attempts != 3 {
			t.Errorf("%+v", p)
		}
		release()
		release()
		agent.End(errTask)
		agent.End(nil)
		agent.Step()
		report, _ := dog.Close()
		if tot := report.Totals; tot.CallsFailed != 1 || tot.Backoffs != 3 || tot.AgentsFailed != 1 || tot.AgentsDone != 0 {
			t.Errorf("%+v", tot)
		}
	})
}

// TestLockOverCall: a lock of the program's own that is held during a call, as its evidence shows it
// on disk.
func TestLockOverCall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evidence")
	synctest.Test(t, func(t *testing.T) {
		dog, err := embed.Start(embed.Options{Name: "locks", Dir: dir, Secrets: []string{"sk-very-secret"}, Judge: func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) }})
		if err != nil {
			t.Fatal(err)
		}
		lock := dog.Semaphore("workspace", 1)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // all are done by then: no call is left
		defer cancel()
		for i := range 5 {
			go func() {
				ctx, agent := dog.Agent(ctx, "agent", fmt.Sprint("sk-very-secret ", i))
				defer agent.End(nil)
				unlock, err := lock.Acquire(ctx)
				if err != nil {
					return
				}
				defer unlock()
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://servers/", nil)
				resp, _ := dog.Transport(server{tokens: 200}).RoundTrip(req)
				_, _ = io.Copy(io.Discard, resp.Body)
			}()
		}
		<-ctx.Done()
		synctest.Wait()
		if _, err := dog.Close(); err != nil {
			t.Error(err)
		}
	})
	ev, err := harness.ReadEvidence(os.DirFS(dir), "stalls/01", 0)
	if err != nil {
		t.Fatal(err)
	}
	if v := diagnose.Diagnose(ev, nil); v.Cause != diagnose.CauseLockOverCall {
		t.Errorf("%s: %s", v.Cause, v.Summary)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil || !strings.Contains(string(whole), string(diagnose.CauseLockOverCall)) {
		t.Errorf("the verdict of the whole is %s, error %v", whole, err)
	}
	for _, name := range []string{"verdict.json", "goroutines.txt", "calls.json"} {
		text, err := os.ReadFile(filepath.Join(dir, "stalls/01", name))
		if err != nil || len(text) == 0 {
			t.Error(name, err)
		}
		if strings.Contains(string(text), "sk-very-secret") {
			t.Errorf("%s has the secret", name)
		}
	}
}

// TestTools: a tool that never returns, and a parent that waits for its child meanwhile.
func TestTools(t *testing.T) {
	var last diagnose.Verdict
	synctest.Test(t, func(t *testing.T) {
		dog, _ := embed.Start(embed.Options{
			Judge:   func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
			OnStall: func(s embed.Stall) { last = s.Verdict.(diagnose.Verdict) },
		})
		ctx, parent := dog.Agent(t.Context(), "parent", "t")
		for range 3 {
			returned := parent.Tool("save")
			time.Sleep(time.Second)
			returned()
			returned()
			parent.Step()
		}
		_, child := dog.Agent(ctx, "child", "t")
		parent.Await(child.Name())
		child.Tool("save")
		time.Sleep(10 * time.Minute)
		child.End(nil)
		parent.End(nil)
		if _, err := dog.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := fmt.Sprint(last.Outcome, " ", last.Layer, " ", last.Cause); got != "wedged tool tool-hang" {
		t.Errorf("%s: %s", got, last.Summary)
	}
}

// TestCloseWhileWaiting: whoever waits for a slot is told.
func TestCloseWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, _ := embed.Start(embed.Options{Slots: 1})
		if _, err := dog.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		waits := make(chan error)
		go func() { _, err := dog.Acquire(t.Context()); waits <- err }()
		synctest.Wait()
		if _, err := dog.Close(); err != nil {
			t.Error(err)
		}
		if err := <-waits; err == nil {
			t.Error("a slot of a watchdog that is closed")
		}
		if _, err := dog.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadOptions(t *testing.T) {
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]embed.Options{
		"Slots: found -1":                       {Slots: -1},
		"Watchdog.stall_after: found -1s":       {Watchdog: harness.Watchdog{StallAfter: -time.Second}},
		"Watchdog.captures[0]: found 2, want 1": {Watchdog: harness.Watchdog{Captures: []int{2}}},
		taken:                                   {Dir: taken},
		filepath.Join(taken, "x") + "/y":        {Dir: filepath.Join(taken, "x") + "/y"},
	} {
		if _, err := embed.Start(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, found %v", want, err)
		}
	}
}

// TestNobody: marks on a nil agent, as of a context that has none, are ignored.
func TestNobody(t *testing.T) {
	var a *embed.Agent
	a.Step()
	a.Round(1)
	a.Tool("x")()
	a.Await("y")()
	a.End(nil)
	if a.Name() != "" {
		t.Error(a.Name())
	}
}

// TestVerdictWithoutStall: a bundle has a verdict also if nothing stalled, and OnStall is not told.
func TestVerdictWithoutStall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evidence")
	synctest.Test(t, func(t *testing.T) {
		dog, err := embed.Start(embed.Options{
			Dir:     dir,
			Judge:   func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
			OnStall: func(s embed.Stall) { t.Errorf("stall %d", s.Evidence.Episode) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, agent := dog.Agent(t.Context(), "agent", "task")
		agent.Step()
		agent.End(nil)
		if _, err := dog.Close(); err != nil {
			t.Error(err)
		}
	})
	text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil || !strings.Contains(string(text), `"outcome": "completed"`) && !strings.Contains(string(text), `"outcome":"completed"`) {
		t.Errorf("verdict %s, error %v", text, err)
	}
}
