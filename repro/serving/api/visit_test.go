package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/api"
)

// diary writes down what an observer is told.
type diary struct {
	mu    sync.Mutex
	lines []string
	ended chan struct{} // one for each end
	wrote chan struct{} // one for each write, as long as there is room
}

func newDiary() *diary { return &diary{ended: make(chan struct{}, 64), wrote: make(chan struct{}, 64)} }

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) Arrived(v *api.Visit) {
	d.add("arrived %s of %q stream %t retry %d", v.ID, v.Agent, v.Stream, v.Retry)
}
func (d *diary) Answered(_ *api.Visit, _ sim.Instant, status int) { d.add("answered %d", status) }
func (d *diary) Wrote(_ *api.Visit, _ sim.Instant, tokens, bytes int) {
	if tokens > 0 {
		d.add("wrote %d", tokens)
	}
	select {
	case d.wrote <- struct{}{}:
	default:
	}
}
func (d *diary) Ended(_ *api.Visit, _ sim.Instant, how api.End, message string) {
	d.add("ended: %s %s", how, message)
	d.ended <- struct{}{}
}
func (d *diary) Elsewhere(_ sim.Instant, method, path string, status int, message string) {
	d.add("elsewhere %s %s %d %s", method, path, status, message)
}

func (d *diary) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, "; ")
}

// TestObserver: what somebody who watches the front is told of each end.
func TestObserver(t *testing.T) {
	hello := fmt.Sprintf(sayHello, true)
	for _, c := range []struct {
		name   string
		faults []fault.Fault
		path   string
		body   string
		want   string
	}{
		{"complete", nil, chatPath, hello, "answered 200; wrote"},
		{"whole", nil, chatPath, fmt.Sprintf(sayHello, false), "answered 200; wrote 40; ended: complete"},
		{"refused", []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 429}}, chatPath, hello, "answered 429; ended: error status"},
		{"cut", []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Cut, AfterTokens: 5}}, chatPath, hello, "ended: cut off by the server"},
		{"reset", []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Reset, AfterTokens: 5}}, chatPath, hello, "ended: cut off by the server"},
		{"no path", nil, "/v1/responses", `{}`, "elsewhere POST /v1/responses 404 Not Found"},
		{"no good", nil, chatPath, `{`, "elsewhere POST /v1/chat/completions 400 The request body is not valid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDiary()
			p := setup{faults: c.faults, api: api.Config{Observer: d}}.start(t)
			_, _, _ = readAll(p.send("POST", c.path, c.body)) // what the client sees is told elsewhere
			if !strings.HasPrefix(c.want, "elsewhere") {
				<-d.ended
			}
			if got := d.text(); !strings.Contains(got, c.want) {
				t.Errorf("seed %d: told %s, want %s", seed, got, c.want)
			}
			if c.name == "complete" && !strings.HasSuffix(d.text(), "ended: complete ") {
				t.Errorf("seed %d: told %s", seed, d.text())
			}
		})
	}
}

// TestObserverLeft: a client that leaves in the midst of an answer.
func TestObserverLeft(t *testing.T) {
	d := newDiary()
	p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Silence, AfterTokens: 5}}, api: api.Config{Observer: d}}.start(t)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+chatPath, strings.NewReader(fmt.Sprintf(sayHello, true)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", "agent-07-c001")
	req.Header.Set("X-Stainless-Retry-Count", "2")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-d.wrote
	leave()
	_ = resp.Body.Close()
	<-d.ended
	const want = `arrived agent-07-c001 of "agent-07" stream true retry 2; answered 200; `
	if got := d.text(); !strings.HasPrefix(got, want) || !strings.Contains(got, "ended: left by the client") {
		t.Errorf("seed %d: told %s, want %s … ended: left by the client", seed, got, want)
	}
}

// TestAnyModel: a harness with a model of its own is served if it may have any.
func TestAnyModel(t *testing.T) {
	body := strings.Replace(fmt.Sprintf(sayHello, false), `"simulated"`, `"gpt-x"`, 1)
	for name, c := range map[string]struct {
		any    bool
		status int
	}{"only its own": {false, http.StatusNotFound}, "any": {true, http.StatusOK}} {
		t.Run(name, func(t *testing.T) {
			p := setup{api: api.Config{AnyModel: c.any}}.start(t)
			if status, text := p.body(p.exchange("POST", chatPath, body)); status != c.status {
				t.Errorf("seed %d: status %d, %s", seed, status, text)
			}
		})
	}
}
