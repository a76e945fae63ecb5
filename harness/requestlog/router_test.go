package requestlog

import (
	"reflect"
	"strings"
	"testing"
)

// TestPlainRouterLine checks that the fast way reads the lines it is there for, and whatever it reads
// as the other one does.
func TestPlainRouterLine(t *testing.T) {
	for _, c := range []struct {
		line  string
		plain bool
	}{
		{startedLine("2026-01-01 00:00:07", "agent-01-c001-a1"), true},
		{startedLine("2026-01-01 00:00:07.125", "a=b}c"), true},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=62690782", "finished processing request"), true},
		{finishedLine("2026-01-01 00:00:07.125", "x", "status_code=200 latency=0", "finished processing request"), true},
		{startedLine("no time to be found", "a"), true},
		{startedLine("2026-01-01 00:00:07.1", "a"), false},
		{startedLine("2026-01-01 00:00:07", `a"b`), false},
		{startedLine("2026-01-01 00:00:07", ""), false},
		{startedLine("2026-01-01 00:00:07", strings.Repeat("i", 300)), false},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=", "finished processing request"), false},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=1234567890123456", "finished processing request"), false},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=123456789012345", "finished processing request"), true},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=1.5s", "finished processing request"), false},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=503 latency=1", "finished processing request"), false},
		{finishedLine("2026-01-01 00:00:07", "x", "status_code=200 latency=1", "started processing request"), false},
	} {
		if _, ok := parsePlainRouterLine([]byte(c.line)); ok != c.plain {
			t.Errorf("%q: read fast: %v", c.line, ok)
		}
		for cut := range len(c.line) {
			comparePlain(t, []byte(c.line[:cut+1]))
			comparePlain(t, []byte(c.line[cut:]))
		}
	}
}

func comparePlain(t *testing.T, line []byte) {
	t.Helper()
	if fast, ok := parsePlainRouterLine(line); ok {
		if ev, ok := parseAnyRouterLine(line); !ok || !reflect.DeepEqual(fast, ev) {
			t.Errorf("%q: read fast %+v, else %+v, %v", line, fast, ev, ok)
		}
	}
}

func FuzzPlainRouterLine(f *testing.F) {
	f.Add("2026-01-01 00:00:07", "agent-01-c001-a1", "status_code=200 latency=62690782", "finished processing request")
	f.Add("2026-01-01 00:00:07.123", `a"}: started`, "status_code=200 latency=01", "started processing request")
	f.Fuzz(func(t *testing.T, at, id, more, message string) {
		comparePlain(t, []byte(startedLine(at, id)))
		comparePlain(t, []byte(finishedLine(at, id, more, message)))
	})
}

func startedLine(at, id string) string {
	return at + `  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="` + id + `"}: smg::request: src/middleware.rs:291: started processing request` + "\n"
}

func finishedLine(at, id, more, message string) string {
	return at + `  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="` + id + `" ` + more + `}: smg::response: src/middleware.rs:377: ` + message + "\n"
}
