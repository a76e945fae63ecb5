package requestlog

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
		Tokens    json.Number     `json:"prompt_tokens"`
		Bytes     json.Number     `json:"content_length"`
	} `json:"span"`
}

// parseJSONRouterLine is ParseRouterLine for lines in JSON.
func parseJSONRouterLine(line []byte) (ev Event, ok bool) {
	var read routerJSON
	if json.Unmarshal(line, &read) != nil {
		return ev, false
	}
	switch {
	case strings.HasPrefix(read.Message, "started processing request"):
	case strings.HasPrefix(read.Message, "finished processing request"),
		strings.HasPrefix(read.Message, "request failed with client error"),
		strings.HasPrefix(read.Message, "request failed with server error"):
		ev.Finished = true
	default:
		return ev, false
	}
	id := read.Span.RequestID
	if id == "" || len(id) > idBytesMax {
		return ev, false
	}
	ev.ID, ev.Probe, ev.At = []byte(id), read.Span.Method == "GET", leadingTime([]byte(read.Timestamp))
	ev.takeSize([]byte(read.Span.Tokens))
	ev.takeSize([]byte(read.Span.Bytes))
	if ev.Finished {
		ev.Status, _ = strconv.Atoi(string(bytes.Trim(read.Span.Status, `"`)))
		ev.Latency = parseLatency(bytes.Trim(read.Span.Latency, `"`))
	}
	return ev, true
}
