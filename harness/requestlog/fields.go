package requestlog

import (
	"bytes"
	"strconv"
	"time"

	"example.com/wedge/harness/goroutine/container"
)

// fields is what the members of a line of JSON, or of key=value pairs, say about a
// request, whatever they are called.
type fields struct {
	at, start    time.Time
	id           []byte
	idRank       int
	status       int
	flags        []byte
	latency      Latency
	latencyRank  int
	message      []byte
	method, path []byte
	isEnvoy      bool
	room         []byte             // for texts that are unescaped
	members      []container.Member // room
	secs, nanos  float64            // of a latency that is an object, as Rust has it
}

// idBytesMax is the longest id, in bytes, that is taken for one.
const idBytesMax = 256

// parseJSON reads a line of JSON.
func (f *fields) parseJSON(line []byte) bool {
	*f = fields{room: f.room[:0], members: f.members[:0]}
	return f.object(line, "", 0)
}

// object takes the members of an object that is the value of parent.
func (f *fields) object(text []byte, parent string, depth int) bool {
	from := len(f.members)
	all, ok := container.CutObject(f.members, text)
	if !ok {
		return false
	}
	f.members = all
	const depthMax = 3
	for _, m := range all[from:] {
		if m.Value[0] == '{' {
			if depth < depthMax {
				f.object(m.Value, normal(m.Key), depth+1)
			}
			continue
		}
		f.take(parent, m.Key, f.text(m.Value))
	}
	return true
}

// text returns a value without quotes.
func (f *fields) text(value []byte) []byte {
	if value[0] != '"' {
		return value
	}
	n := len(f.room)
	room, ok := container.Unquote(f.room, value)
	if !ok {
		return value
	}
	f.room = room
	return room[n:len(room):len(room)]
}

// parsePairs reads key=value pairs, of which a line must have three.
func (f *fields) parsePairs(line []byte) bool {
	*f = fields{room: f.room[:0], members: f.members[:0]}
	pairs := 0
	for rest := line; ; {
		eq := bytes.IndexByte(rest, '=')
		if eq < 0 {
			return pairs >= 3
		}
		start := eq
		for start > 0 && !separates(rest[start-1]) {
			start--
		}
		value, size := routerValue(rest[eq+1:])
		if start < eq && size > 0 {
			pairs++
			f.take("", rest[start:eq], value)
		}
		rest = rest[eq+1+size:]
	}
}

// normal is a name without case and punctuation.
func normal(key []byte) string {
	var room [64]byte
	out := room[:0]
	for _, c := range key {
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c >= 0x80:
		default:
			continue
		}
		if len(out) == len(room) {
			break
		}
		out = append(out, c)
	}
	return string(out)
}

// take takes one field. A key with points stands for objects within objects.
func (f *fields) take(parent string, key, value []byte) {
	if i := bytes.LastIndexByte(key, '.'); i > 0 {
		parent, key = normal(key[bytes.LastIndexByte(key[:i], '.')+1:i]), key[i+1:]
	}
	name := normal(key)
	if f.takeLatency(parent, name, value) || f.takeID(parent, name, value) || !isOfRequest(parent) {
		return
	}
	switch name {
	case "time", "ts", "timestamp", "t", "datetime", "date", "asctime", "timelocal", "timeiso8601":
		if at := parseTime(value); !at.IsZero() && f.at.IsZero() {
			f.at = at
		}
	case "start", "starttime", "startedat", "startts", "begin", "started":
		f.start = parseTime(value)
	case "status", "statuscode", "code", "responsecode", "httpstatus", "httpstatuscode", "responsestatus", "respstatus":
		if n, err := strconv.Atoi(string(value)); err == nil && (100 <= n && n <= 599 || n == 0 && f.isEnvoy) && f.status == 0 {
			f.status = n
		}
		f.isEnvoy = f.isEnvoy || name == "responsecode"
	case "responseflags":
		f.isEnvoy = true
		if string(value) != "-" {
			f.flags = value
		}
	case "msg", "message", "event", "phase":
		if len(f.message) == 0 {
			f.message = value
		}
	case "method", "requestmethod", "httpmethod":
		f.method = value
	case "path", "uri", "url", "requesturi", "requestpath", "xenvoyoriginalpath":
		f.path = value
	}
}

// isOfRequest says whether the fields of an object may be those of the request:
// the code of an error or the id of a user are not.
func isOfRequest(parent string) bool {
	switch parent {
	case "", "request", "req", "response", "res", "resp", "http", "httprequest", "span", "fields", "context", "ctx", "attributes", "event", "log", "data", "extra", "access":
		return true
	}
	return false
}

// takeID takes what names the request. The name of a trace may be that of several.
func (f *fields) takeID(parent, name string, value []byte) bool {
	rank := 0
	switch name {
	case "requestid", "xrequestid", "reqid", "httprequestid", "requestuuid", "rid":
		rank = 4
	case "id", "uuid":
		switch parent {
		case "request", "req":
			rank = 3
		case "":
			rank = 2
		}
	case "correlationid", "xcorrelationid", "traceid", "xtraceid":
		rank = 1
	}
	if rank == 0 {
		return false
	}
	if rank > f.idRank && len(value) > 0 && len(value) <= idBytesMax && string(value) != "-" && string(value) != "null" {
		f.id, f.idRank = value, rank
	}
	return true
}

// takeLatency takes how long the request took, with the unit of the field's name.
func (f *fields) takeLatency(parent, name string, value []byte) bool {
	stem, unit := cutUnit(name)
	rank := latencyRank(stem)
	if rank == 0 {
		if name == "secs" && latencyRank(parent) > 0 {
			f.secs, _ = strconv.ParseFloat(string(value), 64)
			f.latency, f.latencyRank = known(f.secs+f.nanos*1e-9, Seconds), latencyRank(parent)
			return true
		}
		if name == "nanos" && latencyRank(parent) > 0 {
			f.nanos, _ = strconv.ParseFloat(string(value), 64)
			f.latency, f.latencyRank = known(f.secs+f.nanos*1e-9, Seconds), latencyRank(parent)
			return true
		}
		return false
	}
	l := parseLatency(value)
	if l.Unit == NoUnit {
		l.Unit = unit
	}
	if name == "requesttime" && l.Unit == NoUnit && isNginxTime(value) {
		l.Unit = Seconds
	}
	if l.Known && rank > f.latencyRank {
		f.latency, f.latencyRank = l, rank
	}
	return l.Known
}

// latencyRank says whether a field is called like a latency; the time of the
// whole request counts before that of a part.
func latencyRank(stem string) int {
	switch stem {
	case "latency", "duration", "elapsed", "elapsedtime", "responsetime", "requesttime", "took", "timetaken", "totaltime", "totalduration",
		"dur", "requestduration", "requestlatency", "httpduration", "processtime", "processingtime", "runtime", "e2elatency":
		return 2
	case "upstreamservicetime", "upstreamresponsetime", "upstreamtime", "servertime":
		return 1
	}
	return 0
}

// cutUnit cuts a unit off the end of a name such as durationms.
func cutUnit(name string) (stem string, unit Unit) {
	if latencyRank(name) > 0 {
		return name, NoUnit
	}
	for i := len(name) - 1; i > 0 && i > len(name)-13; i-- {
		if u := unitOfName(name[i:]); u != NoUnit && latencyRank(name[:i]) > 0 {
			return name[:i], u
		}
	}
	return name, NoUnit
}

// isNginxTime knows 0.123: seconds with milliseconds.
func isNginxTime(value []byte) bool {
	point := bytes.IndexByte(value, '.')
	if point < 1 || len(value)-point != len(".123") {
		return false
	}
	for i, c := range value {
		if i != point && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// event makes an event of the fields, if they are about a request.
func (f *fields) event() (ev Event, ok bool) {
	kind := phaseOf(f.message)
	ev = Event{ID: f.id, At: f.at, Start: f.start, Status: f.status, Flags: f.flags, Latency: f.latency}
	ev.Probe = isProbe(f.path)
	if f.isEnvoy {
		if ev.Latency.Known && ev.Latency.Unit == NoUnit {
			ev.Latency.Unit = Milliseconds
		}
		if ev.At.IsZero() {
			ev.At = end(ev.Start, ev.Latency)
		}
	}
	about := len(f.id) > 0 || len(f.path) > 0 || len(f.method) > 0
	ended := f.status > 0 || f.latency.Known || len(f.flags) > 0
	switch {
	case !about:
		return ev, false
	case ended && kind != phaseStarted, ended && f.latency.Known:
		ev.Finished = true
	case len(f.id) == 0 || kind == phaseUnknown:
		return ev, false
	default:
		ev.Finished = kind == phaseFinished
	}
	return ev, true
}

// end is when a request of a known length ended.
func end(start time.Time, l Latency) time.Time {
	d, ok := l.Duration(Milliseconds)
	if start.IsZero() || !ok {
		return start
	}
	return start.Add(d)
}

type phase uint8

const (
	phaseUnknown phase = iota
	phaseStarted
	phaseFinished
)

// phaseOf reads from a message whether a request started or ended, by the first
// word that says so.
func phaseOf(message []byte) phase {
	for rest := message; len(rest) > 0; {
		n := 0
		for n < len(rest) && ('a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z') {
			n++
		}
		switch normal(rest[:n]) {
		case "started", "starting", "start", "starts", "begin", "began", "begins", "received", "receive", "incoming", "accepted":
			return phaseStarted
		case "finished", "finish", "completed", "complete", "done", "ended", "end", "failed", "served", "responded", "response", "closed", "handled",
			"cancelled", "canceled", "aborted", "returned", "succeeded", "timeout", "timed":
			return phaseFinished
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return phaseUnknown
}

// isProbe knows the paths by which health and figures are asked for.
func isProbe(path []byte) bool {
	path, _, _ = bytes.Cut(path, []byte("?"))
	switch string(bytes.TrimSuffix(path, []byte("/"))) {
	case "/health", "/healthz", "/health_generate", "/livez", "/readyz", "/ready", "/live", "/liveness", "/readiness", "/metrics", "/ping", "/-/healthy", "/-/ready", "/status", "/stub_status", "/get_server_info", "/get_model_info":
		return true
	}
	return false
}
