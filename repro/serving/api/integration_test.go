//go:build integration

package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
)

// connectTo is the variable of the environment that makes TestIntegrationTenThousandConnections the client's end:
// both ends in one process would be more files than one may have open as a rule.
const connectTo = "WEDGE_TEST_CONNECT_TO"

// TestIntegrationTenThousandConnections: each is served, none is in the way of another, and nothing is left of
// them.
func TestIntegrationTenThousandConnections(t *testing.T) {
	const connections = 10_000
	if address := os.Getenv(connectTo); address != "" {
		connectMany(t, address, connections)
		return
	}
	p := setup{stack: instant}.start(t)
	client := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestIntegrationTenThousandConnections$")
	client.Env = append(os.Environ(), connectTo+"="+strings.TrimPrefix(p.url, "http://"))
	if out, err := client.CombinedOutput(); err != nil {
		t.Errorf("seed %d: %v: %s", seed, err, out)
	}
	if want := fmt.Sprintf(`smg_http_requests_total{method="GET",path="/liveness"} %d`, 2*connections); !strings.Contains(p.metrics(), want) {
		t.Errorf("seed %d: no line %s", seed, want)
	}
	nothingLeftButListeners(t)
}

// connectMany opens many connections, asks on each of them, has a stream when all are there, and asks
// on each again.
func connectMany(t *testing.T, address string, connections int) {
	all := make([]net.Conn, connections)
	for i := range all {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		all[i] = conn
		askAlive(t, conn)
	}
	body := fmt.Sprintf(sayHello, true)
	resp, err := http.Post("http://"+address+chatPath, "application/json", strings.NewReader(body))
	if text, err := whole(resp, err); err != nil || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("%v: %s", err, text)
	}
	for _, conn := range all {
		askAlive(t, conn)
	}
}

func askAlive(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET /liveness HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// TestIntegrationFirstTokenIsOnTime compares what a client measures with what was simulated, in steady state.
func TestIntegrationFirstTokenIsOnTime(t *testing.T) {
	p := setup{scale: 1, stack: func(c *serving.Config) {
		instant(c)
		c.Prefill.ChunkBase = 250 * time.Millisecond
		c.Decode.StepBase, c.Model.OutputTokens, c.Model.ReasoningTokens = 20*time.Millisecond, 5, 0
	}}.start(t)
	simulated := make(chan time.Duration, 1)
	p.stack.OnEnd(func(r *serving.Record) { simulated <- r.FirstToken.Sub(r.Arrived) })
	var errors []float64
	for range 20 {
		begun := time.Now()
		conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		seen := time.Since(begun)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		want := <-simulated
		errors = append(errors, float64(seen-want)/float64(want))
	}
	slices.Sort(errors)
	median := errors[len(errors)/2]
	t.Logf("seed %d: the first token comes %.2f%% later than simulated in the median, %.2f%% at most; overhead %+v", seed, 100*median, 100*errors[len(errors)-1], p.api.Overhead())
	if median < 0 || median > 0.02 {
		t.Errorf("seed %d: the median error is %.2f%%, want 0 to 2%%", seed, 100*median)
	}
}
