package api_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
)

const streamEnd = "data: [DONE]\n\n"

// broken sends a request whose answer has a fault, and returns the body of the answer and how it ended.
func broken(t *testing.T, f fault.Fault, body string) (p *play, text string, err error) {
	t.Helper()
	f.ID, f.Where = "f", fault.Stream
	p = setup{faults: []fault.Fault{f}}.start(t)
	_, text, err = readAll(p.send("POST", chatPath, body))
	return p, text, err
}

// TestBrokenStreams: what faults do to the bytes of a stream.
func TestBrokenStreams(t *testing.T) {
	hello := fmt.Sprintf(sayHello, true)
	for _, test := range []struct {
		fault fault.Fault
		body  string
		check func(t *testing.T, body string) string // returns what is wrong
	}{
		{fault.Fault{What: fault.Cut, AfterTokens: 5}, hello, func(t *testing.T, body string) string {
			if got := textOf(t, body); len(got.reasoning) != 20 || got.finish != "" || strings.Contains(body, "[DONE]") {
				return "want five tokens and an end without a reason"
			}
			return ""
		}},
		{fault.Fault{What: fault.NoDone}, hello, func(t *testing.T, body string) string {
			if got := textOf(t, body); got.finish != "stop" || got.usage == nil || strings.Contains(body, "[DONE]") {
				return "want all but [DONE]"
			}
			return ""
		}},
		{fault.Fault{What: fault.NoUsage}, hello, func(t *testing.T, body string) string {
			if got := textOf(t, body); got.finish != "stop" || got.usage != nil || !strings.HasSuffix(body, streamEnd) {
				return "want all but the usage"
			}
			return ""
		}},
		{fault.Fault{What: fault.Error, StatusCode: 500, AfterTokens: 5}, hello, func(t *testing.T, body string) string {
			events := strings.Split(body, "\n\n")
			got := textOf(t, strings.Join(events[:len(events)-3], "\n\n"))
			want := `data: {"error":{"object":"error","message":`
			if len(got.reasoning) != 20 || got.finish != "" || !strings.HasPrefix(events[len(events)-3], want) ||
				!strings.HasSuffix(events[len(events)-3], `,"type":"INTERNAL_SERVER_ERROR","param":null,"code":500}}`) || !strings.HasSuffix(body, streamEnd) {
				return "want five tokens, an error event and [DONE]"
			}
			return ""
		}},
		{fault.Fault{What: fault.Malformed, AfterTokens: 5}, hello, func(_ *testing.T, body string) string {
			bad := 0
			for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"+streamEnd), "\n\n") {
				if data, ok := strings.CutPrefix(event, "data: "); !ok || !json.Valid([]byte(data)) {
					bad++
				}
			}
			if bad != 1 || !strings.HasSuffix(body, streamEnd) {
				return fmt.Sprintf("%d broken events, want one", bad)
			}
			return ""
		}},
		{fault.Fault{What: fault.TruncateCall, AfterTokens: 5, In: fault.InToolCall}, fmt.Sprintf(writeOne, true), func(t *testing.T, body string) string {
			if got := textOf(t, body); got.finish != "tool_calls" || len(got.arguments) != 20 || json.Valid([]byte(got.arguments)) || !strings.HasSuffix(body, streamEnd) {
				return "want half a call, and the end as if all were well"
			}
			return ""
		}},
	} {
		t.Run(string(test.fault.What), func(t *testing.T) {
			_, body, err := broken(t, test.fault, test.body)
			if err != nil {
				t.Errorf("seed %d: ended with %v", seed, err)
			}
			if problem := test.check(t, body); problem != "" {
				t.Errorf("seed %d: %s: %s", seed, problem, body)
			}
		})
	}
}

// TestComments: comments come, one after the other, and nothing else any more.
func TestComments(t *testing.T) {
	f := fault.Fault{ID: "f", Where: fault.Stream, What: fault.Comments, AfterTokens: 5, Every: time.Minute}
	p := setup{faults: []fault.Fault{f}}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := ""
	for strings.Count(body, ": keep-alive\n\n") < 3 {
		piece := make([]byte, 4096)
		n, err := resp.Body.Read(piece)
		if err != nil {
			t.Fatalf("seed %d: %v after %q", seed, err, body)
		}
		body += string(piece[:n])
	}
	text, rest, _ := strings.Cut(body, ": keep-alive\n\n")
	if got := textOf(t, text); len(got.reasoning) != 20 || strings.Trim(rest, ": kep-aliv\n") != "" {
		t.Errorf("seed %d: got %q", seed, body)
	}
	_ = conn.Close()
	nothingServed(t)
}

// TestOpenAfterDone: all has come, [DONE] too, and the body does not end before the client leaves.
func TestOpenAfterDone(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Stream, What: fault.OpenAfterDone}}}.start(t)
	conn := p.send("POST", chatPath, fmt.Sprintf(sayHello, true))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	for line := ""; line != "data: [DONE]\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	_, _ = in.ReadString('\n')
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if n, err := in.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("seed %d: read %d bytes, %v, want silence", seed, n, err)
	}
	_ = conn.Close()
	nothingServed(t)
}

// TestRetryAfter: absent, in seconds, or a date of the run's clock.
func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		retryAfter, header string
	}{{"", ""}, {"0", "0"}, {"600", "600"}, {"date+30s", "GMT"}} {
		t.Run(test.retryAfter, func(t *testing.T) {
			p := setup{faults: []fault.Fault{{ID: "f", Where: fault.Router, What: fault.Status, StatusCode: 429, RetryAfter: test.retryAfter}}}.start(t)
			resp, err := http.ReadResponse(bufio.NewReader(p.send("POST", chatPath, fmt.Sprintf(sayHello, true))), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			got := resp.Header.Get("Retry-After")
			if resp.StatusCode != 429 || test.header == "" && got != "" || !strings.HasSuffix(got, test.header) {
				t.Errorf("seed %d: retry_after %q: status %d, header %q", seed, test.retryAfter, resp.StatusCode, got)
			}
			if test.header == "GMT" {
				at, err := http.ParseTime(got)
				sent, err2 := http.ParseTime(resp.Header.Get("Date"))
				if err != nil || err2 != nil || at.Sub(sent) < 30*time.Second || at.Sub(sent) > 40*time.Second {
					t.Errorf("seed %d: Retry-After %q at %q, want half a minute later on the run's clock", seed, got, resp.Header.Get("Date"))
				}
			}
		})
	}
}
