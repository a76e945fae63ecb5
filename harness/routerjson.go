package harness

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// routerJSON is a line of SGLang's router as its --log-json writes it: the message flat, the fields of
// the request under span.
type routerJSON struct {
	Timestamp string `json:"timestamp"`
	Message   string `json:"message"`
	Span      struct {
		Method    string          `json:"method"`
		RequestID string          `json:"request_id"`
		Status    json.RawMessage `json:"status_code"` // a number, or a text with one
		Latency   json.RawMessage `json:"latency"`     // whole microseconds, or a text with a unit
	} `json:"span"`
}

// parseJSONRouterLine is parseRouterLine for lines in JSON.
func parseJSONRouterLine(line []byte) (ev routerEvent, ok bool) {
	var read routerJSON
	if json.Unmarshal(line, &read) != nil {
		return ev, false
	}
	switch {
	case strings.HasPrefix(read.Message, "started processing request"):
	case strings.HasPrefix(read.Message, "finished processing request"),
		strings.HasPrefix(read.Message, "request failed with client error"),
		strings.HasPrefix(read.Message, "request failed with server error"):
		ev.finished = true
	default:
		return ev, false
	}
	id := read.Span.RequestID
	if read.Span.Method == "GET" || id == "" || len(id) > requestIDMax {
		return ev, false
	}
	ev.id, ev.at = []byte(id), routerTime([]byte(read.Timestamp))
	if ev.finished {
		ev.status, _ = strconv.Atoi(string(bytes.Trim(read.Span.Status, `"`)))
		ev.latency, ev.hasLatency = routerLatency(bytes.Trim(read.Span.Latency, `"`))
	}
	return ev, true
}
