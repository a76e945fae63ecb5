package httpbackend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
)

const key = "sk-secret-0123456789"

// serve starts a server on loopback, and returns a pacer in front of it with one attempt a call.
func serve(t *testing.T, handler http.HandlerFunc) *pacer.Pacer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := sim.NewWall(sim.WallOptions{Seed: 1})
	client, err := httpbackend.New(w, httpbackend.Config{BaseURL: server.URL + "/v1", APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	policy := pacer.DefaultPolicy()
	policy.MaxAttempts = 1
	p, err := pacer.New(w, pacer.DefaultConfig(), policy, client, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// events answers with the given text as the body of a stream.
func events(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, body)
	}
}

func request() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hello"}}}
}

func identity(agent string, call int) pacer.Identity {
	return pacer.Identity{Agent: agent, Task: "task", Round: 1, Step: call, Call: call}
}

// pipes is a network inside a synctest bubble: real net/http on both sides, and a clock that moves
// only while everybody waits.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	dialed atomic.Int64
	slow   time.Duration // of each dial
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	p.dialed.Add(1)
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("pipe", "pipe") // as net.Dialer does
	}
	select {
	case <-time.After(p.slow): // on the bubble's clock
	case <-p.closed:
		return nil, net.ErrClosed
	}
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inBubble runs body against a server inside a bubble. The pacer has slots, policy and transport as
// given.
func inBubble(t *testing.T, handler http.HandlerFunc, config pacer.Config, policy pacer.Policy, transport *http.Transport,
	body func(t *testing.T, w sim.World, ctx context.Context, p *pacer.Pacer, net *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: handler}
		served := make(chan error)
		go func() { served <- server.Serve(net) }()
		transport.DialContext = net.dial
		w := sim.NewWall(sim.WallOptions{Seed: 1})
		client, err := httpbackend.New(w, httpbackend.Config{BaseURL: "http://server/v1", HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := pacer.New(w, config, policy, client, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), func(ctx context.Context) { body(t, w, ctx, p, net) }); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// writer sends parts of a stream, each at once.
type writer struct {
	http.ResponseWriter
	ctx context.Context
}

func (w writer) say(format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

func (w writer) content(text string) {
	w.say("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
}

// wait waits on the bubble's clock, or until the client has left.
func (w writer) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.ctx.Done():
		return false
	}
}

func stream(handler func(w writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its client leaves only after that
		w.Header().Set("Content-Type", "text/event-stream")
		handler(writer{w, r.Context()})
	}
}
