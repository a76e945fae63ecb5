package container

import (
	"bytes"
	"time"
)

// prefixBytesMax is the longest prefix that is taken for one.
const prefixBytesMax = 160

// unwrapBracket reads kubectl logs --prefix: [pod/name/container] text.
func unwrapBracket(b []byte) (p piece, ok bool) {
	if !bytes.HasPrefix(b, []byte("[pod/")) {
		return p, false
	}
	end := bytes.IndexByte(b[:min(len(b), 4*prefixBytesMax)], ']')
	if end < 0 || bytes.IndexByte(b[:end], ' ') >= 0 {
		return p, false
	}
	p.source, p.text = b[1:end], b[end+1:]
	if len(p.text) > 0 {
		if p.text[0] != ' ' {
			return p, false
		}
		p.text = p.text[1:]
	}
	return p, true
}

// unwrapPipe reads what compose and foreman write, the second with a clock:
//
//	api-1  | text
//	10:00:01 web.1   | text
func unwrapPipe(b []byte) (p piece, ok bool) {
	end := bytes.IndexByte(b[:min(len(b), prefixBytesMax)], '|')
	if end < 2 || b[end-1] != ' ' || end+1 < len(b) && b[end+1] != ' ' {
		return p, false
	}
	name := bytes.TrimRight(b[:end], " ")
	if _, n, _, clock := cutClock(name); clock && n < len(name) && name[n] == ' ' {
		name = name[n+1:]
	}
	if len(name) == 0 || !isLetter(name[0]) && !isDigit(name[0]) {
		return p, false
	}
	for _, c := range name {
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c != '.' && c != '/' {
			return p, false
		}
	}
	return piece{text: b[min(end+2, len(b)):], source: name}, true
}

// unwrapStern reads stern: pod container text.
func unwrapStern(b []byte) (p piece, ok bool) {
	pod := bytes.IndexByte(b[:min(len(b), 2*prefixBytesMax)], ' ')
	if pod < 3 || bytes.IndexByte(b[:pod], '-') < 0 || !isNameOfPod(b[:pod]) {
		return p, false
	}
	container := bytes.IndexByte(b[pod+1:min(len(b), 3*prefixBytesMax)], ' ')
	if container < 0 {
		container = len(b) - pod - 1 // the line was empty
	}
	end := pod + 1 + container
	if !isNameOfPod(b[pod+1 : end]) {
		return p, false
	}
	return piece{text: b[min(end+1, len(b)):], source: b[:end]}, true
}

// isNameOfPod follows Kubernetes: lower case, digits, hyphens.
func isNameOfPod(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && !isDigit(c) && c != '-' && c != '.' {
			return false
		}
	}
	return len(b) > 0
}

// unwrapQuote reads the quote marks of mail and Markdown.
func unwrapQuote(b []byte) (p piece, ok bool) {
	if b[0] != '>' {
		return p, false
	}
	p.text = b[1:]
	if len(p.text) > 0 && p.text[0] == ' ' {
		p.text = p.text[1:]
	}
	return p, true
}

// unwrapJournal reads what journalctl and syslog write, and the lines that
// journalctl indents below one of several lines:
//
//	Nov 03 10:00:01 host app[7]: text
//	Nov  3 10:00:01.123456 host app: text
//	2026-11-03T10:00:01+0000 host app[7]: text
//	<34>1 2026-11-03T10:00:01.003Z host app 7 ID - text
func unwrapJournal(b []byte, m *memo) (p piece, ok bool) {
	if m.indent > 0 && len(b) > m.indent && b[0] == ' ' && len(bytes.TrimLeft(b[:m.indent], " ")) == 0 {
		return piece{text: b[m.indent:], source: m.source}, true
	}
	start := 0
	if b[0] == '<' {
		if start = bytes.IndexByte(b[:min(len(b), 5)], '>') + 1; start == 0 {
			return p, false
		}
		if bytes.HasPrefix(b[start:], []byte("1 ")) {
			return unwrapSyslog5424(b[start+2:])
		}
	}
	at, n, ok := cutSyslogDate(b[start:])
	iso := !ok
	if iso {
		if at, n, _, ok = cutDate(b[start:]); !ok || b[start+10] != 'T' {
			return p, false
		}
	}
	n += start
	if n >= len(b) || b[n] != ' ' {
		return p, false
	}
	host := bytes.IndexByte(b[n+1:], ' ')
	if host < 1 {
		return p, false
	}
	from := n + 1 + host + 1 // of the program's name
	colon := bytes.IndexByte(b[from:min(len(b), from+prefixBytesMax)], ':')
	if colon < 1 || !isNameOfProgram(b[from:from+colon]) {
		return p, false
	}
	if iso && b[from+colon-1] != ']' {
		return p, false // an ordinary log: 2026-11-03T10:00:01Z INFO main: text
	}
	text := b[from+colon+1:]
	if len(text) > 0 {
		if text[0] != ' ' {
			return p, false
		}
		text = text[1:]
	}
	m.indent = len(b) - len(text)
	m.source = append(m.source[:0], b[n+1:from+colon]...)
	// journald cuts at 48 KiB without saying so.
	const journalLineBytes = 48 << 10
	return piece{text: unescapeSyslog(text, m), source: m.source, at: at, partial: len(text) == journalLineBytes, joins: true}, true
}

// cutSyslogDate reads Nov 03 10:00:01, which has no year: it counts as year 0.
func cutSyslogDate(b []byte) (at time.Time, n int, ok bool) {
	if len(b) < len("Nov 03 10:00:01") || b[3] != ' ' || b[6] != ' ' {
		return at, 0, false
	}
	month := bytes.Index([]byte(months), b[:3])
	if month < 0 || month%3 != 0 {
		return at, 0, false
	}
	day, ok := two(b, 4)
	if b[4] == ' ' && isDigit(b[5]) {
		day, ok = int(b[5]-'0'), true
	}
	clock, n, _, ok2 := cutClock(b[7:])
	if !ok || !ok2 || day < 1 || day > 31 {
		return at, 0, false
	}
	return time.Date(0, time.Month(month/3+1), day, 0, 0, 0, 0, time.UTC).Add(clock), n + 7, true
}

// isNameOfProgram accepts app, app[7], app(module)[7], kernel.
func isNameOfProgram(b []byte) bool {
	for _, c := range b {
		switch {
		case isLetter(c), isDigit(c):
		case c == '-', c == '_', c == '.', c == '/', c == '@', c == '[', c == ']', c == '(', c == ')':
		default:
			return false
		}
	}
	return true
}

// unwrapSyslog5424 reads what follows <PRI>1 in RFC 5424.
func unwrapSyslog5424(b []byte) (p piece, ok bool) {
	at, n, _, ok := cutDate(b)
	if !ok || n >= len(b) || b[n] != ' ' {
		return p, false
	}
	rest := b[n+1:]
	source := rest
	for field := range 4 { // host, program, process, message id
		end := bytes.IndexByte(rest, ' ')
		if end < 1 {
			return p, false
		}
		rest = rest[end+1:]
		if field == 2 {
			source = source[:len(source)-len(rest)-1]
		}
	}
	if len(rest) > 0 && rest[0] == '[' { // structured data
		end := bytes.Index(rest, []byte("] "))
		if end < 0 && rest[len(rest)-1] == ']' {
			end = len(rest) - 1 // the line was empty
		}
		if end < 0 {
			return p, false
		}
		rest = rest[end+1:]
	} else if len(rest) > 0 && rest[0] == '-' {
		rest = rest[1:]
	} else {
		return p, false
	}
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return piece{text: rest, source: source, at: at}, true
}

// unescapeSyslog undoes what rsyslog makes of control characters: #011 is a tab,
// #012 a line end.
func unescapeSyslog(b []byte, m *memo) []byte {
	if bytes.IndexByte(b, '#') < 0 || !bytes.Contains(b, []byte("#011")) && !bytes.Contains(b, []byte("#012")) {
		return b
	}
	m.room = m.room[:0]
	for i := 0; i < len(b); i++ {
		if b[i] == '#' && i+3 < len(b) && b[i+1] == '0' && b[i+2] == '1' && (b[i+3] == '1' || b[i+3] == '2') {
			m.room = append(m.room, "\t\n"[b[i+3]-'1'])
			i += 3
			continue
		}
		m.room = append(m.room, b[i])
	}
	return m.room
}
