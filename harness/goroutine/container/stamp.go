package container

import "time"

// months are as syslog writes them.
const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// two reads two digits at i.
func two(b []byte, i int) (n int, ok bool) {
	if i+1 >= len(b) {
		return 0, false
	}
	x, y := b[i]-'0', b[i+1]-'0'
	return int(x)*10 + int(y), x <= 9 && y <= 9
}

// cutClock reads HH:MM:SS with an optional fraction after a point or comma.
func cutClock(b []byte) (clock time.Duration, n, fraction int, ok bool) {
	h, ok1 := two(b, 0)
	m, ok2 := two(b, 3)
	s, ok3 := two(b, 6)
	if !ok1 || !ok2 || !ok3 || b[2] != ':' || b[5] != ':' || h > 23 || m > 59 || s > 60 {
		return 0, 0, 0, false
	}
	n = len("00:00:00")
	clock = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
	if n+1 < len(b) && (b[n] == '.' || b[n] == ',') && isDigit(b[n+1]) {
		unit := 100 * time.Millisecond
		for n++; n < len(b) && isDigit(b[n]); n++ {
			clock += time.Duration(b[n]-'0') * unit
			unit /= 10
			fraction++
		}
	}
	return clock, n, fraction, true
}

// cutDate reads a time such as 2026-01-02T03:04:05.678Z at the start of b; also
// with slashes, a blank for the T, or another zone. fraction is the number of
// its digits. Without a zone it counts as UTC.
func cutDate(b []byte) (at time.Time, n, fraction int, ok bool) {
	if len(b) < len("2026-01-02T03:04:05") || b[10] != 'T' && b[10] != ' ' || b[4] != '-' && b[4] != '/' || b[7] != b[4] {
		return at, 0, 0, false
	}
	century, ok1 := two(b, 0)
	year, ok2 := two(b, 2)
	month, ok3 := two(b, 5)
	day, ok4 := two(b, 8)
	clock, n, fraction, ok5 := cutClock(b[11:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || month < 1 || month > 12 || day < 1 || day > 31 {
		return at, 0, 0, false
	}
	n += 11
	east, size := cutZone(b[n:])
	at = time.Date(century*100+year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Add(clock - east)
	return at, n + size, fraction, true
}

// cutZone reads Z, +01:00 or +0100.
func cutZone(b []byte) (east time.Duration, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	if b[0] == 'Z' {
		return 0, 1
	}
	if b[0] != '+' && b[0] != '-' {
		return 0, 0
	}
	h, ok := two(b, 1)
	n = 3
	if ok && n < len(b) && b[n] == ':' {
		n++
	}
	m, ok2 := two(b, n)
	if !ok || !ok2 {
		return 0, 0
	}
	east = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if b[0] == '-' {
		east = -east
	}
	return east, n + 2
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// unwrapCRI reads 2026-01-02T03:04:05.678901234Z stderr F text; P for F says
// that the line goes on.
func unwrapCRI(b []byte) (p piece, ok bool) {
	at, n, fraction, ok := cutDate(b)
	const tail = " stderr F" // stdout is as long
	if !ok || fraction == 0 || len(b) < n+len(tail) || b[10] != 'T' {
		return p, false
	}
	stream, tag := string(b[n:n+len(tail)-1]), b[n+len(tail)-1]
	if stream != " stderr " && stream != " stdout " || tag != 'F' && tag != 'P' {
		return p, false
	}
	rest := b[n+len(tail):]
	switch {
	case len(rest) > 0 && rest[0] == ' ':
		rest = rest[1:]
	case len(rest) > 0 && rest[0] == ':': // F:tag
		return p, false
	}
	return piece{text: rest, stream: stream[4], at: at, partial: tag == 'P', joins: true}, true
}

// unwrapActions reads the time stamps of CI:
//
//	2026-01-02T03:04:05.1234567Z text            GitHub Actions
//	job<TAB>step<TAB>2026-01-02T03:04:05.1234567Z text   the same, by gh run view --log
//	2026-01-02T03:04:05.123456Z 01O text         GitLab; + for a line that continues
func unwrapActions(b []byte) (p piece, ok bool) {
	start := 0
	if !isDigit(b[0]) {
		tabs := 0
		for i := 0; i < len(b) && i < 200 && tabs < 2; i++ {
			if b[i] == '\t' {
				tabs++
				start = i + 1
			}
		}
		if tabs < 2 || start < len("a\tb\t") {
			return p, false
		}
	}
	at, n, fraction, ok := cutDate(b[start:])
	n += start
	if !ok || b[n-1] != 'Z' || n < len(b) && b[n] != ' ' {
		return p, false
	}
	if start > 0 {
		p.source = b[:start-1]
	}
	p.at = at
	p.text = b[min(n+1, len(b)):]
	if fraction == 7 {
		return p, true
	}
	if _, number := two(p.text, 0); number && fraction == 6 && len(p.text) >= 3 && (p.text[2] == 'O' || p.text[2] == 'E') {
		p.text = p.text[min(4, len(p.text)):]
		return p, true
	}
	return p, false
}

// unwrapKlog reads E0102 15:04:05.678901   12345 file.go:12] text.
func unwrapKlog(b []byte) (p piece, ok bool) {
	if len(b) < len("E0102 15:04:05.0 1 f.go:1]") || b[0] != 'E' && b[0] != 'I' && b[0] != 'W' && b[0] != 'F' || b[5] != ' ' {
		return p, false
	}
	month, ok1 := two(b, 1)
	day, ok2 := two(b, 3)
	clock, n, fraction, ok3 := cutClock(b[6:])
	if !ok1 || !ok2 || !ok3 || fraction == 0 {
		return p, false
	}
	for i := 6 + n; i < len(b) && i < 200; i++ {
		if b[i] != ']' {
			continue
		}
		if p.text = b[i+1:]; len(p.text) > 0 && p.text[0] == ' ' {
			p.text = p.text[1:]
		}
		p.at = time.Date(0, time.Month(month), day, 0, 0, 0, 0, time.UTC).Add(clock)
		return p, true
	}
	return p, false
}

// unwrapStamp reads any time stamp, in brackets or not, and one blank.
func unwrapStamp(b []byte) (p piece, ok bool) {
	start := 0
	if b[0] == '[' {
		start = 1
	}
	at, n, _, ok := cutDate(b[start:])
	n += start
	if !ok {
		return p, false
	}
	if start == 1 {
		if n >= len(b) || b[n] != ']' {
			return p, false
		}
		n++
	}
	p.at = at
	if n == len(b) {
		return p, true
	}
	if b[n] == ' ' {
		n++
	} else if b[n] != '\t' {
		return p, false
	}
	p.text = b[n:]
	return p, true
}
