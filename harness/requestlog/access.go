package requestlog

import (
	"bytes"
	"strconv"
	"time"
)

// parseNginx reads a line of nginx's combined format, which is also Apache's, with
// what people add behind it: a time in seconds with milliseconds is
// $request_time, 32 hexadecimal digits or what follows id= is the request's id.
//
//	10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "POST /v1/chat/completions HTTP/1.1" 200 612 "-" "curl/8" 0.123 4a…9f
//
// The time stamp is that of the end.
func parseNginx(line []byte) (ev Event, ok bool) {
	open := bytes.Index(line, []byte(" ["))
	if open < 0 || open+2+len(nginxTime)+1 > len(line) {
		return ev, false
	}
	text := line[open+2:]
	ev.At, ok = parseNginxTime(text[:len(nginxTime)])
	if !ok || text[len(nginxTime)] != ']' {
		return ev, false
	}
	w := words{rest: text[len(nginxTime)+1:]}
	request := w.next()
	quoted := w.inside
	status, err := strconv.Atoi(string(w.next()))
	if !quoted || err != nil || status < 100 || status > 599 {
		return ev, false
	}
	ev.Finished, ev.Status, ev.Probe = true, status, isProbe(pathOf(request))
	if _, err := strconv.Atoi(string(w.next())); err != nil && string(w.last) != "-" { // bytes sent
		return ev, false
	}
	for w.more() {
		w.next()
		name, value, named := bytes.Cut(w.last, []byte("="))
		if !named {
			name, value = nil, w.last
		}
		switch {
		case isNginxTime(value) && !ev.Latency.Known:
			ev.Latency = parseLatency(value)
			ev.Latency.Unit = Seconds
		case len(ev.ID) == 0 && (!named && isHex32(value) || bytes.HasSuffix(name, []byte("id"))) && len(value) <= idBytesMax && string(value) != "-":
			ev.ID = value
		}
	}
	if d, ok := ev.Latency.Duration(Seconds); ok {
		ev.Start = ev.At.Add(-d)
	}
	return ev, true
}

const nginxTime = "02/Jan/2006:15:04:05 -0700"

func parseNginxTime(text []byte) (time.Time, bool) {
	if text[2] != '/' || text[6] != '/' || text[11] != ':' {
		return time.Time{}, false
	}
	at, err := time.Parse(nginxTime, string(text))
	return at.UTC(), err == nil
}

// parseEnvoy reads a line of envoy's default format, with or without what Istio
// puts between the flags and the numbers:
//
//	[2026-01-02T03:04:05.678Z] "POST /v1/chat/completions HTTP/1.1" 200 - 612 88 1254 1250 "-" "curl/8" "ID" "host" "10.0.0.1:80"
//
// The numbers are bytes received, bytes sent, and the whole duration in
// milliseconds. The time stamp is that of the start.
func parseEnvoy(line []byte) (ev Event, ok bool) {
	if len(line) < 2 || line[0] != '[' {
		return ev, false
	}
	ev.Start = leadingTime(line[1:])
	close := bytes.IndexByte(line, ']')
	if ev.Start.IsZero() || close < 0 {
		return ev, false
	}
	w := words{rest: line[close+1:]}
	request := w.next()
	quoted := w.inside
	ev.Status, ok = number(w.next())
	if !quoted || !ok || ev.Status > 599 || ev.Status > 0 && ev.Status < 100 {
		return ev, false
	}
	if flags := w.next(); string(flags) != "-" {
		ev.Flags = flags
	}
	run := 0 // of numbers
	for run < 3 {
		if !w.more() {
			return ev, false
		}
		n, isNumber := number(w.next())
		if !isNumber || w.inside {
			run = 0
			continue
		}
		if run++; run == 3 {
			ev.Latency = Latency{Known: true, Number: float64(n), Unit: Milliseconds}
		}
	}
	w.next() // the upstream's time
	for range 3 {
		w.next() // forwarded for, user agent, id
	}
	if w.inside && string(w.last) != "-" && len(w.last) <= idBytesMax {
		ev.ID = w.last
	}
	ev.Finished, ev.Probe, ev.At = true, isProbe(pathOf(request)), end(ev.Start, ev.Latency)
	return ev, true
}

// number reads a number without sign that fits an int32.
func number(text []byte) (int, bool) {
	n, err := strconv.ParseUint(string(text), 10, 31)
	return int(n), err == nil
}

// pathOf returns the path of "METHOD path HTTP/1.1".
func pathOf(request []byte) []byte {
	_, rest, _ := bytes.Cut(request, []byte(" "))
	path, _, _ := bytes.Cut(rest, []byte(" "))
	return path
}

func isHex32(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == 32
}

// words are the parts of a line between blanks; one in quotes may hold blanks.
type words struct {
	rest   []byte
	last   []byte
	inside bool // last was in quotes
}

func (w *words) more() bool {
	w.rest = bytes.TrimLeft(w.rest, " ")
	return len(w.rest) > 0
}

// next returns the next word without quotes; empty at the end.
func (w *words) next() []byte {
	w.last, w.inside = nil, false
	if !w.more() {
		return nil
	}
	if w.rest[0] == '"' {
		w.inside = true
		for i := 1; i < len(w.rest); i++ {
			if w.rest[i] == '\\' {
				i++
			} else if w.rest[i] == '"' {
				w.last, w.rest = w.rest[1:i], w.rest[i+1:]
				return w.last
			}
		}
		w.last, w.rest = w.rest[1:], nil
		return w.last
	}
	w.last, w.rest, _ = bytes.Cut(w.rest, []byte(" "))
	return w.last
}
