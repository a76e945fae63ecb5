package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	gopenai "github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/pacer/preset"
)

// oracleCase is a server, and settings of the real client with what they are in the policy.
type oracleCase struct {
	name   string
	server http.HandlerFunc
	client oracleClient
	policy func(*pacer.Policy) // on top of the preset; nil: nothing
	want   seen
}

// oracleClient is how the real client is set up. Zero values are its defaults.
type oracleClient struct{ request, header, whole time.Duration }

// seen is what a server and a client have seen of one call.
type seen struct {
	Attempts  int // requests at the server
	Cancelled int // of these, left by the client
	Chunks    int // received by the client in the last attempt
	OK        bool
}

const ms = time.Millisecond

// silentServer takes the request and says nothing until the client has left.
func silentServer(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// refusing answers with a status and headers at once.
func refusing(status int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"no"}}`)
	}
}

// flowing sends so many chunks of 20, one every 50 ms, and breaks off then if they were not all.
func flowing(chunks int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for range chunks {
			select {
			case <-time.After(50 * ms):
			case <-r.Context().Done():
				return
			}
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"word"}}]}`+"\n\n")
			_ = flush()
		}
		if chunks < 20 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// oracleCases are the measured ones of openai-go 3.99.0, and those that tell its rules for Retry-After
// and statuses apart from others. Limits are off the multiples of 50 ms, and below the shortest wait,
// so that no draw and no tie decides.
func oracleCases() []oracleCase {
	request := func(d time.Duration) func(*pacer.Policy) {
		return func(p *pacer.Policy) { p.Total, p.TotalCoversBackoff = d, true }
	}
	header := func(p *pacer.Policy) { p.ResponseHeader = 200 * ms }
	return []oracleCase{
		{"request timeout, silent server", silentServer, oracleClient{request: 200 * ms}, request(200 * ms), seen{Attempts: 1, Cancelled: 1}},
		{"header timeout, silent server", silentServer, oracleClient{header: 200 * ms}, header, seen{Attempts: 3, Cancelled: 3}},
		{"503, no timeout", refusing(503), oracleClient{}, nil, seen{Attempts: 3}},
		{"503, request timeout within the wait", refusing(503), oracleClient{request: 360 * ms}, request(360 * ms), seen{Attempts: 1}},
		{"stream, request timeout", flowing(20), oracleClient{request: 280 * ms}, request(280 * ms), seen{Attempts: 1, Cancelled: 1, Chunks: 5}},
		{"stream, timeout of the http client", flowing(20), oracleClient{whole: 280 * ms}, func(p *pacer.Policy) { p.Total = 280 * ms }, seen{Attempts: 1, Cancelled: 1, Chunks: 5}},
		{"stream, header timeout", flowing(20), oracleClient{header: 200 * ms}, header, seen{Attempts: 1, Chunks: 20, OK: true}},

		{"silent server, default header timeout", silentServer, oracleClient{header: 600 * time.Second}, nil, seen{Attempts: 3, Cancelled: 3}},
		{"stream that breaks off", flowing(3), oracleClient{}, nil, seen{Attempts: 1, Chunks: 3}},
		{"400", refusing(400), oracleClient{}, nil, seen{Attempts: 1}},
		{"409", refusing(409), oracleClient{}, nil, seen{Attempts: 3}},
		{"529", refusing(529), oracleClient{}, nil, seen{Attempts: 3}},
		{"503 that is not to be asked again", refusing(503, "x-should-retry", "false"), oracleClient{}, nil, seen{Attempts: 1}},
		{"400 that is to be asked again", refusing(400, "x-should-retry", "true"), oracleClient{}, nil, seen{Attempts: 3}},
		{"Retry-After of two minutes", refusing(429, "Retry-After", "120"), oracleClient{}, nil, seen{Attempts: 3}},
		{"Retry-After of more", refusing(429, "Retry-After", "121"), oracleClient{}, nil, seen{Attempts: 1}},
		{"Retry-After-Ms of more", refusing(429, "Retry-After-Ms", "120001"), oracleClient{}, nil, seen{Attempts: 1}},
		{"Retry-After beyond the request timeout", refusing(429, "Retry-After", "30"), oracleClient{request: 20 * time.Second}, request(20 * time.Second), seen{Attempts: 1}},
	}
}

// TestOracleOpenAIGo: the real client and the policy openai-go-3 make the same requests of the same
// servers. Time is virtual, in a bubble, and connections are pipes.
func TestOracleOpenAIGo(t *testing.T) {
	for _, c := range oracleCases() {
		t.Run(c.name, func(t *testing.T) {
			real := inOracle(t, c.server, func(t *testing.T, transport *http.Transport) (int, error) {
				return callOfficial(t, transport, c.client)
			})
			ours := inOracle(t, c.server, func(t *testing.T, transport *http.Transport) (int, error) { return callPacer(t, transport, c.policy) })
			if real != c.want {
				t.Errorf("openai-go: %+v, want %+v", real, c.want)
			}
			if ours != real {
				t.Errorf("policy openai-go-3: %+v, but openai-go: %+v", ours, real)
			}
		})
	}
}

// callOfficial makes a call with the real client, and returns how many chunks came.
func callOfficial(t *testing.T, transport *http.Transport, c oracleClient) (int, error) {
	transport.ResponseHeaderTimeout = c.header
	options := []option.RequestOption{
		option.WithBaseURL("http://server/v1"), option.WithAPIKey("none"),
		option.WithHTTPClient(&http.Client{Transport: transport, Timeout: c.whole}),
	}
	if c.request > 0 {
		options = append(options, option.WithRequestTimeout(c.request))
	}
	client := official.NewClient(options...)
	stream := client.Chat.Completions.NewStreaming(t.Context(), official.ChatCompletionNewParams{
		Model: "m", Messages: []official.ChatCompletionMessageParamUnion{official.UserMessage("write")},
	})
	defer func() { _ = stream.Close() }()
	chunks := 0
	for stream.Next() {
		chunks++
	}
	return chunks, stream.Err()
}

// callPacer makes a call under the policy, on the wall of the bubble.
func callPacer(t *testing.T, transport *http.Transport, change func(*pacer.Policy)) (int, error) {
	p, err := preset.Get("openai-go-3")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&p.Policy)
	}
	w := sim.NewWall(sim.WallOptions{Seed: 1})
	backend, err := httpbackend.New(w, httpbackend.Config{BaseURL: "http://server/v1", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	last := &lastTokens{}
	chat, err := pacer.New(w, pacer.DefaultConfig(), p.Policy, backend, last, nil)
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = w.Run(t.Context(), func(ctx context.Context) {
		_, failed = chat.Chat(ctx, pacer.Identity{}, gopenai.ChatCompletionRequest{Model: "m", Messages: []gopenai.ChatCompletionMessage{{Role: "user", Content: "write"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return last.tokens, failed
}

// lastTokens remembers how many tokens the latest attempt has received: a chunk is one.
type lastTokens struct{ tokens int }

func (*lastTokens) StageChanged(*pacer.CallState, pacer.Stage) {}
func (l *lastTokens) AttemptEnded(_ *pacer.CallState, a pacer.AttemptResult) {
	l.tokens = a.Tokens
}
func (*lastTokens) CallEnded(*pacer.CallState, int, error) {}

// inOracle runs a call against a server inside a bubble, and says what both have seen of it.
func inOracle(t *testing.T, handler http.HandlerFunc, call func(*testing.T, *http.Transport) (int, error)) (s seen) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			s.Attempts++
			mu.Unlock()
			defer func() {
				if r.Context().Err() != nil {
					mu.Lock()
					s.Cancelled++
					mu.Unlock()
				}
			}()
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server watch for the client to leave
			handler(w, r)
		})}
		served := make(chan error)
		go func() { served <- server.Serve(listener) }()
		transport := &http.Transport{DialContext: listener.dial}
		chunks, err := call(t, transport)
		transport.CloseIdleConnections()
		synctest.Wait() // until the server has seen the client leave
		_ = server.Close()
		<-served
		mu.Lock()
		defer mu.Unlock()
		s.Chunks, s.OK = chunks, err == nil
	})
	return s
}

// pipeListener is a network inside a bubble.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error {
	close(p.closed)
	return nil
}

func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
