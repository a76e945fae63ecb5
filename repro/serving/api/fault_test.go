package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
)

// running waits until so many requests are in the running batch.
func (p *play) running(n float64) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%v requests running", n), func() bool { return p.gauge(serving.GaugeDecodeRunning) == n })
}

// textOf returns the text of the events in the body of a stream that need not be complete.
func textOf(t *testing.T, body string) (got seen) {
	t.Helper()
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if event != "" && event != "data: [DONE]" {
			got.add(chunkOf(t, event))
		}
	}
	return got
}

// readAll reads the body of a raw answer that may be cut, and how it ended.
func readAll(r io.Reader) (header http.Header, body string, err error) {
	resp, err := http.ReadResponse(bufio.NewReader(r), nil)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Header, string(text), err
}

func TestStreamReset(t *testing.T) {
	for _, afterTokens := range []int{0, 5} {
		t.Run(fmt.Sprint(afterTokens), func(t *testing.T) {
			p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Reset, AfterTokens: afterTokens}}}.start(t)
			_, body, err := readAll(p.send("POST", chatPath, fmt.Sprintf(sayHello, true)))
			if got := textOf(t, body); !isReset(err) || len(got.reasoning) != 4*afterTokens || got.finish != "" || strings.Contains(body, "[DONE]") {
				t.Errorf("seed %d: ended with %v, body %q", seed, err, body)
			}
		})
	}
}

// TestStreamSilence: once the servers are done with a stream that has gone silent nothing more can
// come, but the connection stays as it is. Here it is the server's end that ends it, so that all there
// ever was can be read.
func TestStreamSilence(t *testing.T) {
	for _, afterTokens := range []int{0, 5} {
		t.Run(fmt.Sprint(afterTokens), func(t *testing.T) {
			p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.Silence, AfterTokens: afterTokens}}}.start(t)
			resp, err := http.ReadResponse(bufio.NewReader(p.send("POST", chatPath, fmt.Sprintf(sayHello, true))), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body := ""
			for len(textOf(t, body).reasoning) < 4*afterTokens {
				piece := make([]byte, 4096) // more than a write has here
				n, err := resp.Body.Read(piece)
				if err != nil {
					t.Fatalf("seed %d: %v after %q", seed, err, body)
				}
				body += string(piece[:n])
			}
			p.eventually("the servers are done", func() bool { return p.gauge(serving.GaugeRouterInFlight) == 0 })
			if err := p.api.Close(); err != nil {
				t.Error(err)
			}
			rest, err := io.ReadAll(resp.Body)
			if len(rest) > 0 || !isCut(err) {
				t.Errorf("seed %d: after the silence came %q, and the end was %v", seed, rest, err)
			}
		})
	}
}

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// metrics returns the metrics as a scrape would, past the network, which may be closed.
func (p *play) metrics() string {
	p.t.Helper()
	return record(p.api, http.MethodGet, "/metrics", "").Body.String()
}

func TestReasoningIsQuiet(t *testing.T) {
	p := setup{faults: thinking, stack: func(c *serving.Config) { c.Decode.StepBase = 5 * time.Minute }}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	header := make([]byte, 15)
	if _, err := io.ReadFull(conn, header); err != nil || string(header) != "HTTP/1.1 200 OK" {
		t.Fatalf("seed %d: %q, %v: the headers must come although no event does", seed, header, err)
	}
	if err := p.api.Close(); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(conn)
	if strings.Contains(string(rest), "data:") {
		t.Errorf("seed %d: an event came: %q", seed, rest)
	}
}

func TestConnectionFaults(t *testing.T) {
	t.Run("reset", func(t *testing.T) {
		p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Reset, Nth: 2}}}.start(t)
		for i, want := range []bool{false, true, false} {
			_, _, err := readAll(p.send("POST", chatPath, fmt.Sprintf(sayHello, i > 0)))
			if isReset(err) != want || !want && err != nil {
				t.Errorf("seed %d: request %d: %v, want a reset: %t", seed, i+1, err, want)
			}
		}
		if strings.Count(p.logText(), "started") != 2 {
			t.Errorf("seed %d: the router has seen the request whose connection was reset:\n%s", seed, p.logText())
		}
	})
	t.Run("latency", func(t *testing.T) {
		p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Latency, Delay: time.Minute}}}.start(t)
		begun := p.w.Now()
		_, _, err := readAll(p.send("POST", chatPath, fmt.Sprintf(sayHello, true)))
		if took := p.w.Now().Sub(begun); err != nil || took < time.Minute {
			t.Errorf("seed %d: took %v of the run's clock, %v, want a minute at least", seed, took, err)
		}
	})
	t.Run("leave while delayed", func(t *testing.T) {
		p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Connection, What: fault.Latency, Delay: 1000 * time.Hour}}}.start(t)
		conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
		p.eventually("the request is there", func() bool {
			return strings.Contains(p.metrics(), `smg_http_requests_total{method="POST",path="/v1/chat/completions"} 1`)
		})
		_ = conn.Close()
		nothingServed(t)
	})
}

// nothingServed waits until no handler is at work.
func nothingServed(t *testing.T) {
	t.Helper()
	eventually(t, "no handler at work", func() bool { return !strings.Contains(stacks(), "api.(*exchange).chat") })
}

func TestClientLeaves(t *testing.T) {
	forever := func(where fault.Where, what fault.What) []fault.Fault {
		f := fault.Fault{ID: "f", Where: where, What: what}
		if what == fault.Latency {
			f.Delay = 1000 * time.Hour
		}
		return []fault.Fault{f}
	}
	for _, test := range []struct {
		name   string
		faults []fault.Fault
		gauge  string // shows that the request is where it is to be left
	}{
		{"in the router", forever(fault.Router, fault.Latency), serving.GaugeRouterQueued},
		{"in prefill", forever(fault.Prefill, fault.Hang), serving.GaugePrefillRunning},
		{"in transfer", forever(fault.Transfer, fault.Hang), serving.GaugePrefillInflight},
		{"in decode, before headers", forever(fault.Decode, fault.Hang), serving.GaugeDecodeRunning},
		{"in the stream", nil, serving.GaugeDecodeRunning},
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, stream %t", test.name, stream), func(t *testing.T) {
				p := setup{faults: test.faults, stack: func(c *serving.Config) {
					c.Model.OutputTokens = 10_000
					c.Decode.StepBase = time.Minute
				}}.start(t)
				conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, stream))
				p.eventually("it is "+test.name, func() bool { return p.gauge(test.gauge) == 1 })
				_ = conn.Close()
				p.eventually("its slot is free", func() bool { return p.gauge(serving.GaugeRouterInFlight) == 0 && p.gauge(test.gauge) == 0 })
				nothingServed(t)
			})
		}
	}
}

func TestQueueFull(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Decode, What: fault.Hang}}, stack: func(c *serving.Config) { c.Router.QueuedMax = 1 }}.start(t)
	first := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.running(1)
	status, body := p.body(p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true)))
	if want := `{"object":"error","message":"The request queue is full.","type":"503","param":null,"code":503}`; status != 503 || body != want {
		t.Errorf("seed %d: status %d, body %s", seed, status, body)
	}
	_ = first.Close()
	p.running(0)
}

func TestWorldEnds(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Decode, What: fault.Hang}}}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.running(1)
	if err := p.w.Run(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(conn); !isCut(err) {
		t.Errorf("seed %d: got %v, want a cut: an answer must not seem complete", seed, err)
	}
}

// TestSlowReader: a client that does not read what it gets must neither keep the servers from being
// done with it nor keep the server from ending.
func TestSlowReader(t *testing.T) {
	p := setup{stack: func(c *serving.Config) {
		instant(c)
		c.Model.ContextTokensMax, c.Model.OutputTokens = 10_000_000, 9_000_000 // more than any socket's buffers
	}}.start(t)
	p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	p.eventually("the servers are done", func() bool { return strings.Contains(p.logText(), "finished processing") })
	p.eventually("a write waits for the client", func() bool { return strings.Contains(stacks(), "api.(*stream).flush") })
}
