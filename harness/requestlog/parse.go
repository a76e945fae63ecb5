package requestlog

import (
	"bytes"
	"time"
)

// A format is a kind of log.
type format uint8

const (
	formatRouter format = iota
	formatJSON
	formatEnvoyJSON
	formatNginx
	formatEnvoy
	formatPairs
	formatNumber
)

// String is how reports call it.
func (f format) String() string {
	return [...]string{"SGLang router log", "JSON lines", "envoy access log in JSON", "nginx access log", "envoy access log", "key=value lines"}[f]
}

// isAccess says that a line is written when a request has ended, and none when it
// starts.
func (f format) isAccess() bool {
	return f == formatEnvoyJSON || f == formatNginx || f == formatEnvoy
}

// cutStamp cuts a time such as 2026-01-02T03:04:05.678Z and the blank behind it;
// rest is empty if there is none.
func cutStamp(line []byte) (at time.Time, rest []byte) {
	if line[0] < '0' || line[0] > '9' {
		return at, nil
	}
	if at = leadingTime(line); at.IsZero() {
		return at, nil
	}
	stamp, rest, _ := bytes.Cut(line, []byte(" "))
	if !bytes.HasSuffix(stamp, []byte("Z")) {
		return at, nil
	}
	return at, bytes.TrimLeft(rest, " ")
}

// parse reads a line of any format.
func (f *fields) parse(line []byte) (ev Event, of format, ok bool) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 {
		return ev, 0, false
	}
	// Kubernetes and docker put their own time before each line if asked to.
	if at, rest := cutStamp(line); len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
		if ev, of, ok = f.parse(rest); ok && ev.At.IsZero() {
			ev.At = at
		}
		return ev, of, ok
	}
	if line[0] == '{' {
		if bytes.Contains(line, []byte(`processing request"`)) || bytes.Contains(line, []byte(`"request failed with `)) {
			if ev, ok = parseJSONRouterLine(line); ok {
				return ev, formatRouter, true
			}
		}
		if ok = f.parseJSON(line); !ok {
			return ev, 0, false
		}
		of = formatJSON
		if f.isEnvoy {
			of = formatEnvoyJSON
		}
		ev, ok = f.event()
		return ev, of, ok
	}
	if line[0] == '[' {
		if ev, ok = parseEnvoy(line); ok {
			return ev, formatEnvoy, true
		}
	}
	if ev, ok = ParseRouterLine(line); ok {
		return ev, formatRouter, true
	}
	if ev, ok = parseNginx(line); ok {
		return ev, formatNginx, true
	}
	if f.parsePairs(line) {
		ev, ok = f.event()
		if ev.At.IsZero() {
			ev.At = leadingTime(line)
		}
		return ev, formatPairs, ok
	}
	return ev, 0, false
}
