package harness

import (
	"bytes"
	"strconv"
	"time"
)

// routerEvent is what one line of a router's log says about a request.
type routerEvent struct {
	finished   bool // else started
	id         string
	at         time.Time     // its timestamp; zero if the line has none
	status     int           // of a finished one; 0 if the line does not say
	latency    time.Duration // of a finished one, as the line has it
	hasLatency bool
}

// parseRouterLine reads a line of SGLang's router, without colours:
//
//	2026-02-26 13:00:11  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="ID"}: smg::request: src/middleware.rs:291: started processing request
//	2026-02-26 13:00:12.345 ERROR http_request{… request_id="ID" status_code=500 latency=1254651}: smg::response: src/middleware.rs:377: request failed with server error
//
// The latency is in microseconds without saying so; in logs of 2025 it is text such as 1.254651s.
// Health checks and whatever else is asked with GET are not requests here. ok is false for any other
// line.
func parseRouterLine(line []byte) (ev routerEvent, ok bool) {
	// The fields are the client's as well as the router's, the message behind them is the router's own.
	fields, message := line, line
	if end := bytes.LastIndexByte(line, '}'); end >= 0 {
		fields, message = line[:end], line[end+1:]
	}
	switch {
	case bytes.Contains(message, []byte("started processing request")):
	case bytes.Contains(message, []byte("finished processing request")),
		bytes.Contains(message, []byte("request failed with client error")),
		bytes.Contains(message, []byte("request failed with server error")):
		ev.finished = true
	default:
		return ev, false
	}
	if method, _ := routerField(fields, "method"); string(method) == "GET" {
		return ev, false
	}
	id, found := routerField(fields, "request_id")
	if !found || len(id) == 0 || len(id) > requestIDMax {
		return ev, false
	}
	ev.id = string(id)
	ev.at = routerTime(line)
	if ev.finished {
		status, _ := routerField(fields, "status_code")
		ev.status, _ = strconv.Atoi(string(status))
		latency, _ := routerField(fields, "latency")
		ev.latency, ev.hasLatency = routerLatency(string(latency))
	}
	return ev, true
}

// requestIDMax is the longest id, in bytes, that is taken for one.
const requestIDMax = 256

// routerField returns the value of key=value or key="value". Of several it takes the last, since the
// router adds its own behind those that came with the request.
func routerField(line []byte, key string) ([]byte, bool) {
	for end := len(line); ; {
		i := bytes.LastIndex(line[:end], []byte(key+"="))
		if i < 0 {
			return nil, false
		}
		if i == 0 || line[i-1] == ' ' || line[i-1] == '{' || line[i-1] == ',' {
			return routerValue(line[i+len(key)+1:]), true
		}
		end = i
	}
}

// routerValue returns the value at the start of a text: quoted, or up to the next separator.
func routerValue(text []byte) []byte {
	if len(text) == 0 || text[0] != '"' {
		if end := bytes.IndexAny(text, " ,}"); end >= 0 {
			return text[:end]
		}
		return text
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			if s, err := strconv.Unquote(string(text[:i+1])); err == nil {
				return []byte(s)
			}
			return text[1:i]
		}
	}
	return text[1:]
}

// routerTime reads the timestamp that a line begins with; zero if it does not.
func routerTime(line []byte) time.Time {
	line = bytes.TrimLeft(line, " \t")
	// Go takes a fraction behind the seconds even where the layout has none.
	const seconds = len("2006-01-02 15:04:05")
	if len(line) < seconds {
		return time.Time{}
	}
	end := seconds
	if end < len(line) && line[end] == '.' {
		for end++; end < len(line) && line[end] >= '0' && line[end] <= '9'; end++ {
		}
	}
	layout := "2006-01-02 15:04:05"
	if line[len("2006-01-02")] == 'T' {
		layout = "2006-01-02T15:04:05"
	}
	at, err := time.Parse(layout, string(line[:end]))
	if err != nil {
		return time.Time{}
	}
	return at
}

// routerLatency reads a latency: whole microseconds, or a text with a unit.
func routerLatency(text string) (time.Duration, bool) {
	if us, err := strconv.ParseInt(text, 10, 64); err == nil {
		const max = int64(lengthMax / time.Microsecond)
		return time.Duration(us) * time.Microsecond, us >= 0 && us <= max
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && d <= lengthMax
}

// appendPlain appends a line without its ANSI escape sequences.
func appendPlain(b, line []byte) []byte {
	for {
		esc := bytes.IndexByte(line, 0x1b)
		if esc < 0 {
			return append(b, line...)
		}
		b = append(b, line[:esc]...)
		line = line[esc+1:]
		if len(line) == 0 || line[0] != '[' {
			continue
		}
		// ESC [ parameters final, where the final byte is one of @ to ~.
		i := 1
		for i < len(line) && (line[i] < '@' || line[i] > '~') {
			i++
		}
		line = line[min(i+1, len(line)):]
	}
}
