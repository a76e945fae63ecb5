package requestlog

import "bytes"

// What stands at the same place in nearly every line: those of chat completions that go well. The
// numbers behind middleware.rs: differ between releases.
const (
	plainHead     = `  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="`
	plainStarted  = `}: smg::request: src/middleware.rs:`
	plainStatus   = ` status_code=200 latency=`
	plainFinished = `}: smg::response: src/middleware.rs:`
)

// parsePlainRouterLine reads such a line. It answers as parseAnyRouterLine would, in a third of the
// time, or not at all.
func parsePlainRouterLine(line []byte) (ev Event, ok bool) {
	stamp := len("2026-02-26 13:00:11")
	if len(line) > stamp && line[stamp] == '.' {
		stamp += len(".345")
	}
	rest, ok := cutPrefix(line[min(stamp, len(line)):], plainHead)
	if !ok {
		return ev, false
	}
	end := bytes.IndexByte(rest, '"')
	if end <= 0 || end > idBytesMax || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return ev, false
	}
	ev.ID, rest = rest[:end], rest[end+1:]
	message := ": started processing request"
	if rest, ok = cutPrefix(rest, plainStarted); !ok {
		message = ": finished processing request"
		if rest, ok = ev.takePlainEnd(rest); !ok {
			return ev, false
		}
	}
	_, digits := plainNumber(rest)
	ev.At = leadingTime(line[:stamp])
	return ev, string(bytes.TrimSuffix(rest[digits:], []byte("\n"))) == message
}

// takePlainEnd reads what a finished line says after the id, and returns what follows.
func (ev *Event) takePlainEnd(text []byte) (rest []byte, ok bool) {
	if rest, ok = cutPrefix(text, plainStatus); !ok {
		return text, false
	}
	us, digits := plainNumber(rest)
	ev.Finished, ev.Status, ev.Latency = true, 200, Latency{Known: true, Number: float64(us)}
	rest, ok = cutPrefix(rest[digits:], plainFinished)
	return rest, ok && digits > 0
}

func cutPrefix(text []byte, prefix string) (rest []byte, ok bool) {
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return text, false
	}
	return text[len(prefix):], true
}

// plainNumber reads a number of up to fifteen digits, or none.
func plainNumber(text []byte) (n int64, digits int) {
	for digits < len(text) && digits < 15 && '0' <= text[digits] && text[digits] <= '9' {
		n = 10*n + int64(text[digits]-'0')
		digits++
	}
	return n, digits
}
