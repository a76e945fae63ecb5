package api_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// overHTTP2 returns a client that speaks HTTP/2 from the first byte, and how many connections it has
// made.
func (p *play) overHTTP2() (client *http.Client, dialled *atomic.Int64) {
	dialled = new(atomic.Int64)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}, dialled
}

// post sends a chat request with an id; the answer's body is to be closed.
func (p *play) post(ctx context.Context, client *http.Client, id, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+chatPath, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", id)
	return client.Do(req)
}

// whole reads an answer to its end.
func whole(resp *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestHTTP2(t *testing.T) {
	p := setup{api: api.Config{HTTP2: true}, faults: thinking}.start(t)
	client, dialled := p.overHTTP2()
	first := p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true), "X-Request-Id", "a")
	_, want := p.body(first)
	for range 3 {
		resp, err := p.post(t.Context(), client, "a", fmt.Sprintf(sayHello, true))
		if err != nil || resp.ProtoMajor != 2 || resp.StatusCode != 200 {
			t.Fatalf("seed %d: %v, %v", seed, resp, err)
		}
		got, err := whole(resp, nil)
		if created.ReplaceAllString(got, "") != created.ReplaceAllString(want, "") || err != nil {
			t.Errorf("seed %d: %v: over HTTP/2\n%s\nover HTTP/1.1\n%s", seed, err, got, want)
		}
	}
	if n := dialled.Load(); n != 1 {
		t.Errorf("seed %d: %d connections, want one for all streams", seed, n)
	}
}

// TestHTTP2Off: who has not been told to speak it does not.
func TestHTTP2Off(t *testing.T) {
	p := setup{}.start(t)
	client, _ := p.overHTTP2()
	if body, err := whole(p.post(t.Context(), client, "a", fmt.Sprintf(sayHello, true))); err == nil {
		t.Errorf("seed %d: got %q", seed, body)
	}
}

// TestHTTP2Leave: a client that drops one of its streams is missed at once, and its others go on.
func TestHTTP2Leave(t *testing.T) {
	p := setup{api: api.Config{HTTP2: true}, stack: func(c *serving.Config) {
		c.Model.OutputTokens, c.Decode.StepBase = 10_000, time.Minute
	}}.start(t)
	client, dialled := p.overHTTP2()
	ctx, cancel := context.WithCancel(t.Context())
	for _, ctx := range []context.Context{ctx, t.Context()} {
		resp, err := p.post(ctx, client, "a", fmt.Sprintf(sayHello, true))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	p.running(2)
	cancel()
	p.running(1)
	if n := dialled.Load(); n != 1 {
		t.Errorf("seed %d: %d connections, want one", seed, n)
	}
}

// TestHTTP2Blackhole: the connection dies with one request, and with it all that is on it or is sent
// over it later; the servers know nothing. Only a new connection is of use.
func TestHTTP2Blackhole(t *testing.T) {
	p := setup{
		api:    api.Config{HTTP2: true},
		stack:  func(c *serving.Config) { c.Model.OutputTokens, c.Decode.StepBase = 10_000, time.Second },
		faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Blackhole, Only: 2}},
	}.start(t)
	client, dialled := p.overHTTP2()
	before, err := p.post(t.Context(), client, "before", fmt.Sprintf(sayHello, true))
	if err != nil {
		t.Fatal(err)
	}
	defer before.Body.Close()
	p.running(1)
	dying, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, id := range []string{"dies", "after"} {
		sent := make(chan struct{})
		ctx := httptrace.WithClientTrace(dying, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
		go func() {
			_, err := whole(p.post(ctx, client, id, fmt.Sprintf(sayHello, true)))
			ended <- err
		}()
		<-sent
		p.eventually("the connection is dead", func() bool { return strings.Contains(stacks(), "api.(*exchange).waitForClient") })
	}
	var text [1 << 16]byte
	silent := make(chan struct{})
	go func() { // reads what was on its way, and then nothing more
		defer close(silent)
		for {
			if _, err := before.Body.Read(text[:]); err != nil {
				return
			}
		}
	}()
	p.eventually("the servers have made a thousand tokens for nobody", func() bool { return p.gauge(serving.GaugeDecodeTokens) > 1000 })
	select {
	case err := <-ended:
		t.Errorf("seed %d: an answer came over a dead connection: %v", seed, err)
	case <-silent:
		t.Errorf("seed %d: the stream has ended although the connection is dead", seed)
	default:
	}
	if !strings.Contains(p.logText(), `request_id="before"`) || strings.Contains(p.logText(), `request_id="after"`) {
		t.Errorf("seed %d: the router has seen what was sent over a dead connection:\n%s", seed, p.logText())
	}
	cancel()
	for range 2 {
		if err := <-ended; err == nil {
			t.Errorf("seed %d: an answer after all", seed)
		}
	}
	fresh, again := p.overHTTP2()
	resp, err := p.post(t.Context(), fresh, "fresh", strings.Replace(fmt.Sprintf(sayHello, true), `"stream"`, `"max_tokens":3,"stream"`, 1))
	if body, err := whole(resp, err); err != nil || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("seed %d: a new connection: %v, %s", seed, err, body)
	}
	if dialled.Load() != 1 || again.Load() != 1 {
		t.Errorf("seed %d: %d and %d connections, want one each", seed, dialled.Load(), again.Load())
	}
}

// TestHTTP2Stuck: a client that reads the connection but gives a stream no room is not waited for.
func TestHTTP2Stuck(t *testing.T) {
	p := setup{api: api.Config{HTTP2: true, WriteTimeout: 50 * time.Millisecond}, stack: func(c *serving.Config) {
		instant(c)
		c.Model.ContextTokensMax, c.Model.OutputTokens = 10_000_000, 9_000_000
	}}.start(t)
	client, _ := p.overHTTP2()
	resp, err := p.post(t.Context(), client, "a", fmt.Sprintf(sayHello, true))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	nothingServed(t)
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("seed %d: the stream has ended well", seed)
	}
}

func TestHTTP2Breaks(t *testing.T) {
	for _, what := range []fault.What{fault.Reset, fault.KeepAliveRace} {
		t.Run(string(what), func(t *testing.T) {
			p := setup{api: api.Config{HTTP2: true}, faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: what, Only: 2}}}.start(t)
			client, dialled := p.overHTTP2()
			for i, want := range []bool{true, false, true} {
				if _, err := whole(p.post(t.Context(), client, "a", fmt.Sprintf(sayHello, true))); (err == nil) != want {
					t.Errorf("seed %d: request %d: %v", seed, i+1, err)
				}
			}
			if n := dialled.Load(); n != 2 {
				t.Errorf("seed %d: %d connections, want a second one after the first was closed", seed, n)
			}
		})
	}
}
