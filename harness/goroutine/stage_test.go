package goroutine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A hang is a local server and the points where it holds a request.
type hang struct {
	server  *httptest.Server
	release chan struct{}
}

// newHang starts a server that holds requests for /headers before the header
// and those for /stream in the middle of the body, until the test ends.
func newHang(t *testing.T, http2 bool) *hang {
	h := &hang{release: make(chan struct{})}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			io.WriteString(w, "data: 1\n\n")
			http.NewResponseController(w).Flush()
		}
		<-h.release
	}))
	h.server.EnableHTTP2 = http2
	if http2 {
		h.server.StartTLS()
	} else {
		h.server.Start()
	}
	t.Cleanup(func() {
		h.server.CloseClientConnections()
		close(h.release)
		h.server.Close()
	})
	return h
}

// get fetches the whole body; it returns when the connection is closed.
func get(client *http.Client, url string) {
	resp, err := client.Get(url)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
}

// awaitStage polls until the goroutine with the label is in the stage.
func awaitStage(t *testing.T, call, stage string) *Goroutine {
	t.Helper()
	var found []*Goroutine
	poll(t, "call "+call+" in stage "+stage, func(d *Dump) bool {
		found = find(d, func(g *Goroutine) bool {
			got, ok := Stage(g)
			return g.Label("call") == call && ok && got == stage
		})
		return len(found) > 0
	})
	if len(found) != 1 {
		t.Fatalf("%d goroutines of call %s in stage %s", len(found), call, stage)
	}
	return found[0]
}

func TestStageHTTP(t *testing.T) {
	showLabels(t)
	for _, http2 := range []bool{false, true} {
		name := "HTTP1"
		if http2 {
			name = "HTTP2"
		}
		t.Run(name, func(t *testing.T) {
			h := newHang(t, http2)
			for _, stage := range []string{"headers", "stream"} {
				call := name + stage
				done := withLabels(func() { get(h.server.Client(), h.server.URL+"/"+stage) }, "call", call)
				awaitStage(t, call, stage)
				t.Cleanup(func() { h.server.CloseClientConnections(); <-done })
			}
		})
	}
}

func TestStageConnect(t *testing.T) {
	showLabels(t)
	release := make(chan struct{})
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-release
			return nil, errors.New("released")
		},
	}}
	done := withLabels(func() { get(client, "http://192.0.2.1/") }, "call", "dial")
	g := awaitStage(t, "dial", "connect")
	if !g.HasFunc("net/http.(*Transport).getConn") {
		t.Errorf("connect without getConn: %+v", g)
	}
	close(release)
	<-done
}

// TestStageConnectPool holds the only connection, so that a second call waits
// for it: the connection-pool hang.
func TestStageConnectPool(t *testing.T) {
	showLabels(t)
	h := newHang(t, false)
	transport := h.server.Client().Transport.(*http.Transport)
	transport.MaxConnsPerHost = 1
	first := withLabels(func() { get(h.server.Client(), h.server.URL+"/stream") }, "call", "holder")
	awaitStage(t, "holder", "stream")
	ctx, cancel := context.WithCancel(context.Background())
	second := withLabels(func() {
		req, err := http.NewRequestWithContext(ctx, "GET", h.server.URL+"/stream", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := h.server.Client().Do(req); err == nil {
			resp.Body.Close()
		}
	}, "call", "waiter")
	awaitStage(t, "waiter", "connect")
	cancel()
	<-second
	h.server.CloseClientConnections()
	<-first
}

// TestStageInherited shows why Inherited is needed: the loops of a connection
// carry the labels, with the stage, of the call that dialled.
func TestStageInherited(t *testing.T) {
	showLabels(t)
	h := newHang(t, false)
	done := withLabels(func() { get(h.server.Client(), h.server.URL+"/stream") }, "call", "1", "stage", "first_token")
	awaitStage(t, "1", "first_token")
	d := poll(t, "the read loop", func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.HasFunc("net/http.(*persistConn).readLoop") })) > 0
	})
	loops := find(d, func(g *Goroutine) bool {
		return g.HasFunc("net/http.(*persistConn).readLoop") && g.Label("stage") == "first_token"
	})
	if len(loops) != 1 {
		t.Fatalf("%d read loops with the labels of the call\n%s", len(loops), render(d))
	}
	if stage, ok := Stage(loops[0]); ok || !Inherited(loops[0]) {
		t.Errorf("read loop taken for a call in stage %q", stage)
	}
	if n := len(find(d, func(g *Goroutine) bool { return ByLabel("call")(g) == "1" })); n != 1 {
		t.Errorf("%d goroutines stand for call 1", n)
	}
	h.server.CloseClientConnections()
	<-done
}

func TestStageTable(t *testing.T) {
	frames := func(names ...string) (fs []Frame) {
		for _, n := range names {
			fs = append(fs, Frame{Func: n})
		}
		return fs
	}
	for _, test := range []struct {
		name string
		g    Goroutine
		want string
	}{
		{"label", Goroutine{Labels: []Label{{"stage", "backoff"}}, Frames: frames("net/http.(*Transport).getConn")}, "backoff"},
		{"empty label", Goroutine{Labels: []Label{{"stage", ""}}, Frames: frames("net/http.(*Transport).getConn")}, "connect"},
		{"semaphore", Goroutine{Frames: frames("golang.org/x/sync/semaphore.(*Weighted).Acquire", "main.main")}, "slot"},
		{"vendored semaphore", Goroutine{Frames: frames("example.com/app/vendor/golang.org/x/sync/semaphore.(*Weighted).Acquire")}, "slot"},
		{"limiter", Goroutine{Frames: frames("golang.org/x/time/rate.(*Limiter).wait", "golang.org/x/time/rate.(*Limiter).WaitN")}, "rate"},
		{"innermost", Goroutine{Frames: frames("golang.org/x/time/rate.(*Limiter).wait", "main.transport.RoundTrip", "os/exec.(*Cmd).Wait")}, "rate"},
		{"1.27 stream", Goroutine{Frames: frames("sync.(*Cond).Wait", "net/http/internal/http2.(*pipe).Read", "net/http/internal/http2.transportResponseBody.Read")}, "stream"},
		{"x/net stream", Goroutine{Frames: frames("golang.org/x/net/http2.(*pipe).Read", "golang.org/x/net/http2.transportResponseBody.Read")}, "stream"},
		{"server reads a request", Goroutine{Frames: frames("net/http.(*http2pipe).Read", "net/http.(*http2requestBody).Read")}, ""},
		{"tool", Goroutine{Frames: frames("os.(*Process).wait", "os/exec.(*Cmd).Wait", "os/exec.(*Cmd).Run")}, "tool"},
		{"keep-alive loop", Goroutine{Frames: frames("net/http.(*persistConn).Read", "bufio.(*Reader).Peek", "net/http.(*persistConn).readLoop")}, ""},
		{"unknown", Goroutine{Frames: frames("main.main")}, ""},
		{"copier", Goroutine{Labels: []Label{{"stage", "tool"}}, CreatedBy: Frame{Func: "os/exec.(*Cmd).Start"}}, ""},
		{"handler", Goroutine{Labels: []Label{{"stage", "tool"}}, CreatedBy: Frame{Func: "net/http.(*Server).Serve"}}, "tool"},
	} {
		stage, ok := Stage(&test.g)
		if stage != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %t; want %q", test.name, stage, ok, test.want)
		}
	}
}
