package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// TestHalfOpen: the request is read and never answered. The connection stays open until the client
// leaves, or the server is closed.
func TestHalfOpen(t *testing.T) {
	for _, what := range []fault.What{fault.Hang, fault.Blackhole} {
		for _, leaves := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, client leaves %t", what, leaves), func(t *testing.T) {
				p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: what}}}.start(t)
				conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
				p.eventually("the request is there", func() bool { return strings.Contains(stacks(), "api.(*exchange).waitForClient") })
				// What the client goes on sending vanishes.
				if _, err := io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
					t.Errorf("seed %d: %v: the connection must take what is sent", seed, err)
				}
				_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("seed %d: read %d bytes, %v, want silence", seed, n, err)
				}
				if leaves {
					_ = conn.Close()
				} else if err := p.api.Close(); err != nil {
					t.Error(err)
				}
				nothingLeftButListeners(t)
				if text := p.logText(); text != "" {
					t.Errorf("seed %d: the router has seen the request:\n%s", seed, text)
				}
			})
		}
	}
}

// nothingLeftButListeners waits until no connection is served.
func nothingLeftButListeners(t *testing.T) {
	t.Helper()
	eventually(t, "no connection served", func() bool { return !strings.Contains(stacks(), "net/http.(*conn)") })
}

// TestKeepAliveRace: the request arrives, and the connection ends without a byte.
func TestKeepAliveRace(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.KeepAliveRace, Only: 2}}}.start(t)
	conn := p.dial()
	in := bufio.NewReader(conn)
	for i := range 2 {
		body := fmt.Sprintf(sayHello, false)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		resp, err := http.ReadResponse(in, nil)
		if i == 1 {
			if err != io.ErrUnexpectedEOF && err != io.EOF {
				t.Errorf("seed %d: got %v, %v, want the end of the connection", seed, resp, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// TestProxyBuffer: a proxy keeps the headers and all events to itself until the answer is complete, or
// for a while, and then passes all on.
func TestProxyBuffer(t *testing.T) {
	slow := func(c *serving.Config) {
		c.Model.OutputTokens, c.Decode.StepBase, c.Router.RequestTimeout = 60, time.Minute, 0
	}
	for _, test := range []struct {
		name string
		most time.Duration
		want [2]time.Duration // the first byte comes so long after the request, at least and at most
	}{
		{"until complete", 0, [2]time.Duration{58 * time.Minute, 1e4 * time.Hour}},
		{"for ten minutes", 10 * time.Minute, [2]time.Duration{10 * time.Minute, 50 * time.Minute}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := setup{scale: 10_000, stack: slow, faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Buffer, Delay: test.most}}}.start(t)
			begun := p.w.Now()
			conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
			in := bufio.NewReader(conn)
			if _, err := in.Peek(1); err != nil {
				t.Fatal(err)
			}
			if took := p.w.Now().Sub(begun); took < test.want[0] || took > test.want[1] {
				t.Errorf("seed %d: the first byte came after %v, want %v to %v", seed, took, test.want[0], test.want[1])
			}
			_, body, err := readAll(in)
			if got := textOf(t, body); err != nil || len(got.reasoning)+len(got.content) != 60*4 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Errorf("seed %d: ended with %v, body %s", seed, err, body)
			}
		})
	}
}

// TestProxyBufferLeave: who leaves while a proxy keeps the answer is missed.
func TestProxyBufferLeave(t *testing.T) {
	p := setup{
		stack:  func(c *serving.Config) { c.Model.OutputTokens, c.Decode.StepBase = 60, 5*time.Minute },
		faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Buffer}},
	}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.running(1)
	_ = conn.Close()
	p.running(0)
	nothingServed(t)
}

// TestNeverReads: a client that reads nothing is cut off in the end.
func TestNeverReads(t *testing.T) {
	p := setup{api: api.Config{WriteTimeout: 50 * time.Millisecond}, stack: func(c *serving.Config) {
		instant(c)
		c.Model.ContextTokensMax, c.Model.OutputTokens = 10_000_000, 9_000_000 // more than any socket's buffers
	}}.start(t)
	for _, stream := range []bool{true, false} {
		conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, stream))
		p.eventually("a write waits for the client", func() bool { return strings.Contains(stacks(), "api.(*visitor).Write") })
		nothingLeftButListeners(t)
		_ = conn.Close()
	}
}

// TestWriteLimitIsNew: the limit is about one wait, not about a connection's life.
func TestWriteLimitIsNew(t *testing.T) {
	p := setup{api: api.Config{WriteTimeout: time.Second}}.start(t)
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext}}
	defer client.CloseIdleConnections()
	for range 200 {
		if _, err := whole(p.post(t.Context(), client, "a", fmt.Sprintf(sayHello, true))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
