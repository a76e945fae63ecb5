package api_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const seed = 1

// setup is what a test needs of a server; the zero value is the default one without faults, on a
// clock that goes a thousand times as fast as the machine's.
type setup struct {
	scale  float64
	stack  func(c *serving.Config) // changes the default; nil: no change
	api    api.Config
	faults []fault.Fault
}

// play is a server that listens.
type play struct {
	t     testing.TB
	w     *sim.Wall
	stack *serving.Stack
	api   *api.Server
	url   string // of the API, without /v1
	log   bytes.Buffer
	other *api.Server // see twin
}

// start makes a server, and ends the test with its end: nothing may be left of it.
func (su setup) start(t testing.TB) *play {
	t.Helper()
	if su.scale == 0 {
		su.scale = 1000
	}
	p := &play{t: t, w: sim.NewWall(sim.WallOptions{Seed: seed, Scale: su.scale})}
	cfg := serving.Default()
	cfg.Model.OutputTokens, cfg.Model.ReasoningTokens = 40, 16
	cfg.Gauges.Exact = true // so that a test can wait for what it has brought about
	if su.stack != nil {
		su.stack(&cfg)
	}
	faults, err := fault.NewSet(p.w, su.faults)
	if err == nil {
		p.stack, err = serving.New(p.w, cfg, serving.Model{}, faults, serving.Logs{Router: &p.log})
	}
	if err == nil {
		p.api, err = api.New(p.w, p.stack, su.api)
	}
	if err == nil {
		p.url, err = p.api.Listen("")
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	p.url = strings.TrimSuffix(p.url, "/v1")
	t.Cleanup(func() {
		if err := p.api.Close(); err != nil {
			t.Error(err)
		}
		p.atRest()
		nothingLeft(t)
	})
	return p
}

// eventually waits until something holds that others bring about.
func (p *play) eventually(what string, holds func() bool) {
	p.t.Helper()
	eventually(p.t, what, holds)
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatalf("seed %d: not within a minute: %s", seed, what)
		}
		runtime.Gosched()
	}
}

// logText returns the router's log so far.
func (p *play) logText() string {
	p.w.Lock()
	defer p.w.Unlock()
	return p.log.String()
}

// gauge returns the present value of a gauge.
func (p *play) gauge(name string) float64 {
	for _, g := range p.stack.Gauges() {
		if g.Name == name {
			return g.Value
		}
	}
	p.t.Errorf("no gauge %q", name)
	return 0
}

// atRest waits until the servers have nothing left of any request: engines may take a while to notice
// that a client has left.
func (p *play) atRest() {
	p.t.Helper()
	p.eventually("all gauges, slots and memory are 0", func() bool {
		for _, g := range p.stack.Gauges() {
			if !strings.HasSuffix(g.Name, "_total") && g.Value != 0 {
				return false
			}
		}
		v := p.stack.Snapshot()
		return v.Prefill.Requests+v.Prefill.KVTokens+v.Decode.Requests+v.Decode.KVTokens == 0
	})
}

// nothingLeft checks that no goroutine is left that serves anybody. Those that have said that they
// are done may still have a step or two to go.
func nothingLeft(t testing.TB) {
	t.Helper()
	eventually(t, "no goroutine of a server left", func() bool {
		all := stacks()
		return !strings.Contains(all, "wedge/repro/serving/api.(") && !strings.Contains(all, "net/http.(*conn)")
	})
}

// stacks returns those of all goroutines.
func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

// record has a server answer a request without a network.
func record(s *api.Server, method, path, body string) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	s.ServeHTTP(out, httptest.NewRequest(method, path, strings.NewReader(body)))
	return out
}

func nothing(context.Context) {}

// dial returns a connection to the server.
func (p *play) dial() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // so that a test that fails ends
	return conn
}

// statusOf reads an answer and returns its status, or 0 if there is none.
func (p *play) statusOf(conn net.Conn) int {
	p.t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// send sends a request and returns the connection, of which only the answer is left to be read.
func (p *play) send(method, path, body string, headers ...string) net.Conn {
	p.t.Helper()
	conn := p.dial()
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Header.Set("User-Agent", "test")
	if err := req.Write(conn); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// exchange sends a request and returns the raw answer. The connection ends with it.
func (p *play) exchange(method, path, body string, headers ...string) string {
	p.t.Helper()
	answer, err := io.ReadAll(p.send(method, path, body, append(headers, "Connection", "close")...))
	if err != nil {
		p.t.Errorf("seed %d: %s %s: %v after %q", seed, method, path, err, answer)
	}
	return string(answer)
}

// body returns the body of a raw answer, and its status.
func (p *play) body(answer string) (status int, body string) {
	p.t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
	if err != nil {
		p.t.Fatalf("seed %d: %v in %q", seed, err, answer)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Errorf("seed %d: %v in %q", seed, err, answer)
	}
	return resp.StatusCode, string(text)
}

const chatPath = "/v1/chat/completions"

// created matches an instant in an answer, which depends on the machine.
var created = regexp.MustCompile(`"created":\d+`)

// golden compares text with a file in testdata, or rewrites the file. Instants depend on the machine.
func golden(t *testing.T, name, text string) {
	t.Helper()
	text = created.ReplaceAllString(text, `"created":0`)
	text = regexp.MustCompile(`Date: [^\r]*`).ReplaceAllString(text, "Date: DATE")
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("seed %d: differs from %s:\n%s\nwant\n%s", seed, path, text, want)
	}
}
