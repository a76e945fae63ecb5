package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

func TestListenAddress(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.com:80", "127.0.0.1", "localhost:99999", "127.0.0.1:http-no"} {
		s := newServer(t, api.Config{})
		if url, err := s.Listen(address); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q, %v, want an error of one line", address, url, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "127.0.0.1:0", "localhost:0", "127.1.2.3:0"} {
		s := newServer(t, api.Config{})
		url, err := s.Listen(address)
		if err != nil || !strings.HasSuffix(url, "/v1") {
			t.Errorf("%s: got %q, %v", address, url, err)
		}
		if _, err := s.Listen(address); err == nil {
			t.Errorf("%s: a server must listen once", address)
		}
		if err := errors.Join(s.Close(), s.Close(), s.Shutdown(t.Context())); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := s.Listen(address); err == nil {
			t.Errorf("%s: a server must not listen after its end", address)
		}
	}
	nothingLeft(t)
}

// newServer returns one that does not listen.
func newServer(t testing.TB, cfg api.Config) *api.Server {
	t.Helper()
	w := wall()
	s, err := api.New(w, stackOf(t, w), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wall() *sim.Wall { return sim.NewWall(sim.WallOptions{Seed: seed, Scale: 1000}) }

// stackOf returns servers in a world.
func stackOf(t testing.TB, w *sim.Wall) *serving.Stack {
	t.Helper()
	stack, err := serving.New(w, serving.Default(), serving.Model{}, nil, serving.Logs{})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

func TestNewRefuses(t *testing.T) {
	w := wall()
	stack := stackOf(t, w)
	for _, cfg := range []api.Config{
		{FlushInterval: -1}, {HeaderTimeout: -1}, {BodyTimeout: -1}, {WriteTimeout: -1}, {ConnectionsMax: -1}, {BodyBytesMax: -1},
		{WorkerPort: -1}, {WorkerPort: 70_000}, {Anywhere: true},
	} {
		if _, err := api.New(w, stack, cfg); err == nil {
			t.Errorf("%+v: no error", cfg)
		}
	}
	if _, err := api.New(nil, stack, api.Config{}); err == nil {
		t.Error("no error without a world")
	}
	if _, err := api.New(w, nil, api.Config{}); err == nil {
		t.Error("no error without servers")
	}
}

func TestHold(t *testing.T) {
	for _, test := range []struct {
		interval time.Duration
		scale    float64
		want     time.Duration
	}{
		{0, 1, 25 * time.Millisecond},
		{0, 60, 1500 * time.Millisecond},
		{0, 1000, 2 * time.Second},
		{time.Second, 1000, 1000 * time.Second},
		{time.Hour, 1e300, 1 << 62},
	} {
		if got := (api.Config{FlushInterval: test.interval}).Hold(test.scale); got != test.want {
			t.Errorf("interval %v, scale %v: %v, want %v", test.interval, test.scale, got, test.want)
		}
	}
}

func TestClose(t *testing.T) {
	p := busy().start(t)
	p.fill()
	if err := p.api.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t)
	if conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://")); err == nil {
		t.Error("somebody listens still")
		_ = conn.Close()
	}
}

// TestShutdown lets an answer end, and takes no more.
func TestShutdown(t *testing.T) {
	p := setup{stack: func(c *serving.Config) { c.Decode.StepBase = time.Second }}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.running(1)
	if err := p.api.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, body, err := readAll(conn); err != nil || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("seed %d: ended with %v, body %q", seed, err, body)
	}
}

// TestShutdownGivesUp when its context ends, and then cuts off who is left.
func TestShutdownGivesUp(t *testing.T) {
	p := busy().start(t)
	p.fill()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := p.api.Shutdown(ctx); !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause of the context", err)
	}
	nothingLeft(t)
}

// TestConnectionsMax: whoever finds all places taken is served when one is free. Ids are made up in
// the order in which requests are taken.
func TestConnectionsMax(t *testing.T) {
	p := setup{api: api.Config{ConnectionsMax: 1}}.start(t)
	ask := func(conn net.Conn) {
		if _, err := io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	id := func(conn net.Conn) string {
		text := make([]byte, 4096)
		n, err := conn.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text[:n]), "X-Request-Id: ")
		id, _, _ := strings.Cut(rest, "\r\n")
		return id
	}
	first, second := p.dial(), p.dial()
	ask(first)
	ids := []string{id(first)}
	ask(second)
	ask(first)
	ids = append(ids, id(first))
	_ = first.Close()
	ids = append(ids, id(second))

	// The ids that a server with the same seed makes up.
	var want []string
	for range ids {
		want = append(want, record(p.twin(), http.MethodGet, "/health", "").Header().Get("X-Request-Id"))
	}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("seed %d: ids %q, want %q: the second connection has not waited", seed, ids, want)
	}
}

// twin returns a server that has the same seed, and does not listen. It is the same each time.
func (p *play) twin() *api.Server {
	if p.other == nil {
		p.other = newServer(p.t, api.Config{})
	}
	return p.other
}
