package container

import (
	"bytes"
	"time"
)

// unwrapJournal reads what journalctl and syslog write, and the lines that
// journalctl indents below one of several lines:
//
//	Nov 03 10:00:01 host app[7]: text
//	Nov  3 10:00:01.123456 host app: text
//	2026-11-03T10:00:01+0000 host app[7]: text
//	2026-11-03T10:00:01+0000 app[web.1]: text
//	Tue 2026-11-03 10:00:01 CET host app[7]: text
//	[ 4711.678901] host app[7]: text
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
	if start == len(b) {
		return p, false
	}
	at, n, isOwn := cutSyslogDate(b[start:])
	if !isOwn {
		if at, n = cutJournalDate(b[start:]); n == 0 {
			return p, false
		}
	}
	n += start
	if n >= len(b) || b[n] != ' ' {
		return p, false
	}
	from := n + 1 // of the program's name, if there is no host
	word, _, more := bytes.Cut(b[from:], []byte(" "))
	if !bytes.HasSuffix(word, []byte("]:")) {
		if from += len(word) + 1; len(word) == 0 || !more {
			return p, false
		}
	}
	colon := bytes.IndexByte(b[from:min(len(b), from+prefixBytesMax)], ':')
	if colon < 1 || !isNameOfProgram(b[from:from+colon]) {
		return p, false
	}
	if !isOwn && b[from+colon-1] != ']' {
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

// cutJournalDate reads the other time stamps of journalctl, in RFC 3339, with a
// day of the week and a zone, or in seconds since the start of the machine; n is 0
// for any other text.
func cutJournalDate(b []byte) (at time.Time, n int) {
	if b[0] == '[' {
		end := bytes.IndexByte(b[:min(len(b), 24)], ']')
		digits := bytes.TrimLeft(b[1:max(1, end)], " ")
		if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) != len(".") {
			return at, 0
		}
		return at, end + 1
	}
	if len(b) > 4 && isLetter(b[0]) && isLetter(b[2]) && b[3] == ' ' {
		at, n, _, ok := cutDate(b[4:])
		n += 4
		if !ok || n+1 >= len(b) || b[n] != ' ' {
			return at, 0
		}
		zone := n + 1
		for zone < len(b) && b[zone] != ' ' {
			zone++
		}
		return at, zone
	}
	at, n, _, ok := cutDate(b)
	if !ok || b[10] != 'T' {
		return at, 0
	}
	return at, n
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
// #012 a line end, #033 ESC.
func unescapeSyslog(b []byte, m *memo) []byte {
	if bytes.IndexByte(b, '#') < 0 {
		return b
	}
	m.room = m.room[:0]
	for i := 0; i < len(b); i++ {
		c, ok := syslogEscape(b[i:])
		if !ok {
			c = b[i]
		} else {
			i += len("011")
		}
		m.room = append(m.room, c)
	}
	return m.room
}

func syslogEscape(b []byte) (c byte, ok bool) {
	if len(b) < len("#011") || b[0] != '#' {
		return 0, false
	}
	switch string(b[1:4]) {
	case "011":
		return '\t', true
	case "012":
		return '\n', true
	case "033":
		return esc, true
	}
	return 0, false
}
