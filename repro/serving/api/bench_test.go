package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
)

// The load of these benchmarks: 64 connections, 50 tokens an answer, no simulated latency. The client
// shares the machine with the server.
const (
	benchConnections = 64
	benchTokens      = 50
)

func benchRequest(stream bool) string {
	body := fmt.Sprintf(`{"model":"simulated","stream":%t,"max_tokens":%d,"messages":[{"role":"user","content":"%s"}]}`,
		stream, benchTokens, strings.Repeat("a prompt of some size ", 14))
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
}

// load sends b.N requests over many connections at once, and reads each answer to its end.
func load(b *testing.B, address, request string) {
	b.ReportAllocs()
	jobs := make(chan struct{})
	var clients sync.WaitGroup
	for range benchConnections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		clients.Go(func() {
			defer conn.Close()
			in := bufio.NewReader(conn)
			for range jobs {
				if err := once(conn, in, request); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		jobs <- struct{}{}
	}
	close(jobs)
	clients.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
}

// once sends a request and reads the answer.
func once(conn net.Conn, in *bufio.Reader, request string) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.Body.Close()
}

// BenchmarkAnswers compares the server with a bare handler of net/http that sends the same bytes.
func BenchmarkAnswers(b *testing.B) {
	for _, kind := range []struct {
		name   string
		stream bool
	}{{"whole", false}, {"stream", true}} {
		request := benchRequest(kind.stream)
		zeroLatency := setup{scale: 1, stack: func(c *serving.Config) {
			instant(c)
			c.Model.OutputTokens = benchTokens
		}}
		b.Run(kind.name, func(b *testing.B) {
			p := zeroLatency.start(b)
			load(b, strings.TrimPrefix(p.url, "http://"), request)
		})
		b.Run(kind.name+"-bare", func(b *testing.B) {
			out := record(zeroLatency.start(b).api, http.MethodPost, chatPath, request[strings.Index(request, "{"):])
			answer, contentType := out.Body.String(), out.Header().Get("Content-Type")
			bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", contentType)
				_, _ = io.WriteString(w, answer)
			}))
			defer bare.Close()
			load(b, bare.Listener.Addr().String(), request)
		})
	}
}

// BenchmarkStreams is a thousand streams at once, each of them slow: a token a second of the run's
// clock, a hundred tokens. It reports the memory of both ends at its height.
func BenchmarkStreams(b *testing.B) {
	const streams, tokens = 1000, 100
	p := setup{scale: 60, stack: func(c *serving.Config) {
		instant(c)
		c.Decode.StepBase = time.Second
		c.Model.OutputTokens, c.Model.ReasoningTokens = tokens, tokens/2
	}}.start(b)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		var clients sync.WaitGroup
		for range streams {
			conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
			clients.Go(func() {
				defer conn.Close()
				if _, body, err := readAll(conn); err != nil || !strings.HasSuffix(body, "data: [DONE]\n\n") {
					b.Errorf("seed %d: ended with %v", seed, err)
				}
			})
		}
		p.running(streams)
		runtime.ReadMemStats(&during)
		clients.Wait()
	}
	b.ReportMetric(float64(during.Sys-before.Sys)/streams, "B/stream")
	b.ReportMetric(float64(b.N*streams*tokens)/b.Elapsed().Seconds(), "tokens/s")
}
