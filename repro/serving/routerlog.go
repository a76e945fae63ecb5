package serving

import (
	"io"
	"strconv"
	"time"

	"example.com/wedge/harness/sim"
)

// routerLog writes the router's log: a line when a request starts and one when it finishes, as the
// original does, with the latency in microseconds and no unit. Two things differ in this form: the
// latency is that of the whole answer, not of its headers, and a stream's finished line comes at its
// end. A client that leaves before the headers leaves only a started line, as in the original.
type routerLog struct {
	out          io.Writer // nil: no log
	milliseconds bool
	err          error // the first of writing; ends the log
	line         []byte
	minute       int64  // of the run, that date is of
	date         []byte // up to the minute; empty: not made yet
}

// started logs that the router has a request.
func (l *routerLog) started(now sim.Instant, id string) {
	if l.out == nil {
		return
	}
	l.begin(now, "  INFO", id)
	l.line = append(l.line, "}: smg::request: src/middleware.rs:352: started processing request\n"...)
	l.write()
}

// finished logs that the router has answered a request.
func (l *routerLog) finished(now sim.Instant, id string, status int, latency time.Duration) {
	if l.out == nil {
		return
	}
	level, message := "  INFO", "finished processing request"
	switch {
	case status >= 500:
		level, message = " ERROR", "request failed with server error"
	case status >= 400:
		level, message = "  WARN", "request failed with client error"
	}
	l.begin(now, level, id)
	l.line = append(l.line, " status_code="...)
	l.line = strconv.AppendInt(l.line, int64(status), 10)
	l.line = append(l.line, " latency="...)
	l.line = strconv.AppendInt(l.line, latency.Microseconds(), 10)
	l.line = append(l.line, "}: smg::response: src/middleware.rs:406: "...)
	l.line = append(l.line, message...)
	l.line = append(l.line, '\n')
	l.write()
}

// begin puts what both lines have in common.
func (l *routerLog) begin(now sim.Instant, level, id string) {
	ms := int64(now) / int64(time.Millisecond)
	if minute := ms / 60_000; minute != l.minute || len(l.date) == 0 {
		l.minute = minute
		l.date = now.Time().AppendFormat(l.date[:0], "2006-01-02 15:04:")
	}
	l.line = append(append(l.line[:0], l.date...), digit(ms/10_000%6), digit(ms/1000))
	if l.milliseconds {
		l.line = append(l.line, '.', digit(ms/100), digit(ms/10), digit(ms))
	}
	l.line = append(l.line, level...)
	l.line = append(l.line, ` http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id=`...)
	l.line = appendQuoted(l.line, id)
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

func (l *routerLog) write() {
	if l.err == nil {
		_, l.err = l.out.Write(l.line)
	}
}

// LogErr returns the first error of writing the router's log, after which nothing more was written,
// or nil.
func (s *Stack) LogErr() error {
	s.w.Lock()
	defer s.w.Unlock()
	return s.log.err
}
