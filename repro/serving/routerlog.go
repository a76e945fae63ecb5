package serving

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
)

// routerLog writes the router's log as the original does: a line when a request starts, and one when
// its response headers go out, with the latency until then in microseconds and no unit. So a stream's
// latency is that of its first token, and a client that leaves before the headers leaves only a
// started line.
type routerLog struct {
	out  io.Writer // nil: no log
	cfg  *RouterConfig
	err  error // the first of writing; ends the log
	line []byte

	minute int64  // of the run, that date is of
	date   []byte // up to the minute; empty: not made yet
}

// event is what the two kinds of line differ in.
type event struct {
	level, target, place, message string
}

var startedEvent = event{"INFO", "smg::request", "src/middleware.rs:352", "started processing request"}

func finishedEvent(status int) event {
	e := event{"INFO", "smg::response", "src/middleware.rs:406", "finished processing request"}
	switch {
	case status >= 500:
		e.level, e.message = "ERROR", "request failed with server error"
	case status >= 400:
		e.level, e.message = "WARN", "request failed with client error"
	}
	return e
}

// started logs that the router has a request.
func (l *routerLog) started(now sim.Instant, id string) {
	if l.out != nil {
		l.write(now, id, startedEvent, 0, 0)
	}
}

// finished logs that the router has answered a request: status is that of the headers, latency the
// time until them.
func (l *routerLog) finished(now sim.Instant, id string, status int, latency time.Duration) {
	if l.out != nil {
		l.write(now, id, finishedEvent(status), status, latency)
	}
}

// write writes a line. A status of 0 stands for none.
func (l *routerLog) write(now sim.Instant, id string, e event, status int, latency time.Duration) {
	l.line = l.line[:0]
	if l.cfg.LogJSON {
		l.appendJSON(now, id, e, status, latency)
	} else {
		l.appendText(now, id, e, status, latency)
	}
	if l.err == nil {
		_, l.err = l.out.Write(l.line)
	}
}

func (l *routerLog) appendText(now sim.Instant, id string, e event, status int, latency time.Duration) {
	l.appendDate(now)
	b := append(l.line, "      "[:6-len(e.level)]...)
	b = append(b, e.level...)
	b = append(b, ` http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id=`...)
	b = appendQuoted(b, id)
	if status != 0 {
		b = append(b, " status_code="...)
		b = strconv.AppendInt(b, int64(status), 10)
		b = append(b, " latency="...)
		if l.cfg.LogLatency == LatencyText {
			b = appendRustDuration(b, latency)
		} else {
			b = strconv.AppendInt(b, latency.Microseconds(), 10)
		}
	}
	b = append(b, "}: "...)
	b = append(b, e.target...)
	b = append(b, ": "...)
	b = append(b, e.place...)
	b = append(b, ": "...)
	b = append(b, e.message...)
	l.line = append(b, '\n')
}

// appendDate appends the instant to the second, or to the millisecond.
func (l *routerLog) appendDate(now sim.Instant) {
	ms := int64(now) / int64(time.Millisecond)
	if minute := ms / 60_000; minute != l.minute || len(l.date) == 0 {
		l.minute = minute
		l.date = now.Time().AppendFormat(l.date[:0], "2006-01-02 15:04:")
	}
	l.line = append(append(l.line, l.date...), digit(ms/10_000%6), digit(ms/1000))
	if l.cfg.LogMilliseconds {
		l.line = append(l.line, '.', digit(ms/100), digit(ms/10), digit(ms))
	}
}

// appendJSON appends the line as --log-json has it: the fields of the event flat, those of the request
// under span and once more under spans.
func (l *routerLog) appendJSON(now sim.Instant, id string, e event, status int, latency time.Duration) {
	span := map[string]any{
		"name": "http_request", "method": "POST", "uri": "/v1/chat/completions", "version": "HTTP/1.1", "module": "smg", "request_id": id,
	}
	if status != 0 {
		span["status_code"], span["latency"] = status, latency.Microseconds()
		if l.cfg.LogLatency == LatencyText {
			span["latency"] = string(appendRustDuration(nil, latency))
		}
	}
	file, number, _ := strings.Cut(e.place, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		panic(err) // it is one of two constants
	}
	// Maps are written in the order of their keys.
	text, err := json.Marshal(struct {
		Timestamp string           `json:"timestamp"`
		Level     string           `json:"level"`
		Message   string           `json:"message"`
		Target    string           `json:"target"`
		Filename  string           `json:"filename"`
		Line      int              `json:"line_number"`
		Span      map[string]any   `json:"span"`
		Spans     []map[string]any `json:"spans"`
	}{now.Time().Format("2006-01-02T15:04:05.000000Z"), e.level, e.message, e.target, file, line, span, []map[string]any{span}})
	if err != nil {
		panic(err) // all of it is text and numbers
	}
	l.line = append(append(l.line, text...), '\n')
}

// appendRustDuration appends a length of time as Rust's Debug does: 1.254651s, 812.3ms, 15.2µs, 7ns.
func appendRustDuration(b []byte, d time.Duration) []byte {
	unit, size := "ns", time.Nanosecond
	switch {
	case d >= time.Second:
		unit, size = "s", time.Second
	case d >= time.Millisecond:
		unit, size = "ms", time.Millisecond
	case d >= time.Microsecond:
		unit, size = "µs", time.Microsecond
	}
	b = strconv.AppendInt(b, int64(d/size), 10)
	if rest := d % size; rest > 0 {
		b = append(b, '.')
		for ; rest > 0; rest %= size {
			size /= 10
			b = append(b, digit(int64(rest/size)))
		}
	}
	return append(b, unit...)
}

// digit returns the last decimal digit of n.
func digit(n int64) byte { return byte('0' + n%10) }

// appendQuoted is strconv.AppendQuote, and fast if there is nothing to escape.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// LogErr returns the first error of writing the router's log, after which nothing more was written
// there, or of writing an engine's, or nil.
func (s *Stack) LogErr() error {
	s.w.Lock()
	defer s.w.Unlock()
	err := s.log.err
	for _, w := range s.engines.Workers() {
		if err == nil {
			err = w.LogErr()
		}
	}
	return err
}
