package container

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A Member is one member of a JSON object, as it stands there: the key without
// its quotes, neither unescaped.
type Member struct{ Key, Value []byte }

// membersMax is how many members of an object are looked at.
const membersMax = 128

// CutObject splits the JSON object that is all of b, without looking into its
// values more than it must to find their ends, and appends its members. ok is
// false if b is not one object, or has more than 128 members.
func CutObject(to []Member, b []byte) (members []Member, ok bool) {
	i := skipBlanks(b, 1)
	if len(b) < 2 || b[0] != '{' {
		return to, false
	}
	for i < len(b) && b[i] == '"' && len(to) < membersMax {
		end := stringEnd(b, i)
		key := b[i+1 : max(i+1, end-1)]
		if i = skipBlanks(b, end); i >= len(b) || b[i] != ':' {
			return to, false
		}
		i = skipBlanks(b, i+1)
		end = valueEnd(b, i)
		if end <= i {
			return to, false
		}
		to = append(to, Member{key, b[i:end]})
		if i = skipBlanks(b, end); i < len(b) && b[i] == ',' {
			i = skipBlanks(b, i+1)
			continue
		}
		break
	}
	return to, i == len(b)-1 && b[i] == '}'
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that begins with a quote at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return len(b)
		}
		slashes := 0
		for slashes < next && b[i+next-1-slashes] == '\\' {
			slashes++
		}
		if i += next + 1; slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// valueEnd returns the index behind the value at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// Unquote appends the text of a JSON string that is all of b.
func Unquote(to, b []byte) (text []byte, ok bool) {
	if len(b) < 2 || b[0] != '"' || stringEnd(b, 0) != len(b) {
		return to, false
	}
	return unescape(to, b[1:len(b)-1]), true
}

// unescape appends b with the escapes of JSON and of Go undone. It never grows.
func unescape(to, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return append(to, b...)
		}
		to = append(to, b[:i]...)
		c := b[i+1]
		n := 2
		switch c {
		case 'n':
			to = append(to, '\n')
		case 't':
			to = append(to, '\t')
		case 'r':
			to = append(to, '\r')
		case 'a', 'b', 'f', 'v':
			to = append(to, "\a\b\f\v"[bytes.IndexByte([]byte("abfv"), c)])
		case 'u', 'U', 'x':
			to, n = unescapeHex(to, b[i:])
		case '"', '\\', '/', '\'':
			to = append(to, c)
		default:
			to = append(to, '\\', c)
		}
		b = b[i+n:]
	}
}

// unescapeHex appends what \u00e9, \U0001f600 or \x1b at the start of b stands
// for; n is its size.
func unescapeHex(to, b []byte) (text []byte, n int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[b[1]]
	r, ok := hex(b, 2, digits)
	if !ok {
		return append(to, '\\', b[1]), 2
	}
	n = 2 + digits
	if b[1] == 'x' {
		return append(to, byte(r)), n
	}
	if utf16.IsSurrogate(r) && len(b) > n+1 && b[n] == '\\' && b[n+1] == 'u' {
		if low, ok := hex(b, n+2, 4); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(to, pair), n + 6
			}
		}
	}
	return utf8.AppendRune(to, r), n
}

func hex(b []byte, from, digits int) (rune, bool) {
	if from+digits > len(b) {
		return 0, false
	}
	r, err := strconv.ParseUint(string(b[from:from+digits]), 16, 32)
	return rune(r), err == nil
}

// unwrapDocker reads docker's json-file logs; docker cuts at 16 KiB, and then
// leaves out the line end:
//
//	{"log":"text\n","stream":"stderr","attrs":{"tag":"x"},"time":"2026-01-02T03:04:05.6Z"}
func unwrapDocker(b []byte, m *memo) (p piece, ok bool) {
	if !bytes.HasPrefix(b, []byte(`{"log":`)) {
		return p, false
	}
	if m.members, ok = CutObject(m.members[:0], b); !ok || len(m.members) < 2 {
		return p, false
	}
	for _, member := range m.members[1:] {
		switch string(member.Key) {
		case "stream":
			if len(member.Value) > 4 {
				p.stream = member.Value[4] // stdOut, stdErr
			}
		case "time":
			p.at = jsonTime(member.Value)
		case "attrs":
		default:
			return p, false
		}
	}
	if p.stream == 0 && p.at.IsZero() {
		return p, false
	}
	if m.room, ok = Unquote(m.room[:0], m.members[0].Value); !ok {
		return p, false
	}
	p.text, p.joins = m.room, true
	p.partial = !bytes.HasSuffix(p.text, []byte("\n"))
	p.text = bytes.TrimSuffix(p.text, []byte("\n"))
	return p, true
}

// jsonTime reads a time in quotes; zero if it is none.
func jsonTime(value []byte) time.Time {
	if len(value) < 2 || value[0] != '"' {
		return time.Time{}
	}
	at, _, _, _ := cutDate(value[1 : len(value)-1])
	return at
}

// unwrapJSON reads one object of a logger for each line.
func unwrapJSON(b []byte, m *memo) (p piece, ok bool) {
	if b[0] != '{' {
		return p, false
	}
	if m.members, ok = CutObject(m.members[:0], b); !ok {
		return p, false
	}
	found := false
	for _, member := range m.members {
		switch string(member.Key) {
		case "msg", "message", "log", "line", "textPayload", "MESSAGE", "content", "_raw", "Output":
			if !found {
				m.room, found = Unquote(m.room[:0], member.Value)
			}
		case "time", "ts", "timestamp", "@timestamp", "Time":
			p.at = jsonTime(member.Value)
		case "Package": // of go test -json
			p.source = bytes.Trim(member.Value, `"`)
		}
	}
	p.text = bytes.TrimSuffix(m.room, []byte("\n"))
	if bytes.IndexByte(p.text, '\n') >= 0 && escapedHeader(b) >= 0 {
		return p, false // a whole dump, see unfolding
	}
	return p, found
}
