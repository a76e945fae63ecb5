package requestlog

import (
	"bytes"
	"strconv"
	"time"
)

// ParseRouterLine reads a line of SGLang's router, without colours, and with or
// without its line end:
//
//	2026-02-26 13:00:11  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="ID"}: smg::request: src/middleware.rs:291: started processing request
//	2026-02-26 13:00:12.345 ERROR http_request{… request_id="ID" status_code=500 latency=1254651}: smg::response: src/middleware.rs:377: request failed with server error
//
// or, with --log-json, the same in JSON. The latency is in microseconds without
// saying so; in logs of 2025 it is text such as 1.254651s. Whatever is asked with
// GET is a probe. ok is false for any other line.
func ParseRouterLine(line []byte) (ev Event, ok bool) {
	if ev, ok = parsePlainRouterLine(line); ok {
		return ev, true
	}
	if begun := bytes.TrimLeft(line, " \t"); len(begun) > 0 && begun[0] == '{' {
		return parseJSONRouterLine(begun)
	}
	return parseAnyRouterLine(line)
}

// parseAnyRouterLine is ParseRouterLine for all forms of a line.
func parseAnyRouterLine(line []byte) (ev Event, ok bool) {
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
		ev.Finished = true
	default:
		return ev, false
	}
	ev.Probe = ev.takeFields(fields)
	if len(ev.ID) == 0 || len(ev.ID) > idBytesMax {
		return ev, false
	}
	ev.At = leadingTime(line)
	return ev, true
}

// takeFields reads the fields, key=value or key="value", and says whether the method is GET. Of
// several with one name the last counts, since the router adds its own behind those that came with
// the request.
func (ev *Event) takeFields(text []byte) (get bool) {
	for {
		eq := bytes.IndexByte(text, '=')
		if eq < 0 {
			return get
		}
		start := eq // of the key
		for start > 0 && !separates(text[start-1]) {
			start--
		}
		key := text[start:eq]
		value, size := routerValue(text[eq+1:])
		text = text[eq+1+size:]
		switch string(key) {
		case "method":
			get = string(value) == "GET"
		case "request_id":
			ev.ID = value
		case "status_code":
			ev.Status, _ = strconv.Atoi(string(value))
		case "latency":
			ev.Latency = parseLatency(value)
		default:
			if isSize(normal(key)) {
				ev.takeSize(value)
			}
		}
	}
}

// separates says whether a character stands before a key.
func separates(c byte) bool { return c == ' ' || c == '{' || c == ',' }

// routerValue returns the value at the start of a text, quoted or up to the next separator, and how
// many bytes of the text it takes.
func routerValue(text []byte) (value []byte, size int) {
	if len(text) == 0 || text[0] != '"' {
		end := 0
		for end < len(text) && text[end] != ' ' && text[end] != ',' && text[end] != '}' {
			end++
		}
		return text[:end], end
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return unquoted(text[:i+1]), i + 1
		}
	}
	return text[1:], len(text)
}

// unquoted returns what is between quotes.
func unquoted(text []byte) []byte {
	inner := text[1 : len(text)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	if s, err := strconv.Unquote(string(text)); err == nil {
		return []byte(s)
	}
	return inner
}

// leadingTime reads the timestamp that a line begins with; zero if it does not.
func leadingTime(line []byte) time.Time {
	line = bytes.TrimLeft(line, " \t")
	const shape = "0000-00-00 00:00:00" // or a T in the middle
	if len(line) < len(shape) || line[4] != '-' || line[7] != '-' || line[10] != ' ' && line[10] != 'T' || line[13] != ':' || line[16] != ':' {
		return time.Time{}
	}
	digits := true
	two := func(i int) int {
		a, b := line[i]-'0', line[i+1]-'0'
		digits = digits && a <= 9 && b <= 9
		return int(a)*10 + int(b)
	}
	year, month, day, hour, minute, second := two(0)*100+two(2), two(5), two(8), two(11), two(14), two(17)
	if !digits || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}
	}
	ns, unit := 0, 100_000_000
	for i := len(shape) + 1; i < len(line) && line[len(shape)] == '.' && line[i] >= '0' && line[i] <= '9'; i++ {
		ns += int(line[i]-'0') * unit
		unit /= 10
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, ns, time.UTC)
}
