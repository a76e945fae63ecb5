package goroutine

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// cutLabels reads "K": "V", ...} and returns what follows the brace. The blank
// after the colon is not in profiles.
func cutLabels(text []byte, g *Goroutine) (rest []byte, ok bool) {
	if text, ok = cutLabelPairs(text, g); !ok {
		return nil, false
	}
	return bytes.CutPrefix(text, []byte("}"))
}

// cutLabelPairs reads "K": "V", ... and returns what follows.
func cutLabelPairs(text []byte, g *Goroutine) (rest []byte, ok bool) {
	for {
		if text, ok = cutLabel(text, g); !ok {
			return nil, false
		}
		if rest, ok = bytes.CutPrefix(text, []byte(", ")); !ok {
			return text, true
		}
		text = rest
	}
}

// cutLabel reads "K": "V" and adds it.
func cutLabel(text []byte, g *Goroutine) (rest []byte, ok bool) {
	var l Label
	if l.Key, text, ok = cutQuoted(text); !ok {
		return nil, false
	}
	if text, ok = bytes.CutPrefix(text, []byte(":")); !ok {
		return nil, false
	}
	if l.Value, text, ok = cutQuoted(bytes.TrimPrefix(text, []byte(" "))); !ok {
		return nil, false
	}
	g.Labels = append(g.Labels, l)
	return text, true
}

// cutBareLabels reads K: V, "K": "V", ...}: to the end of the header.
func cutBareLabels(text []byte, g *Goroutine) bool {
	for {
		var l Label
		var ok bool
		if l.Key, text, ok = cutBare(text); !ok {
			return false
		}
		if text, ok = bytes.CutPrefix(text, []byte(": ")); !ok {
			return false
		}
		if l.Value, text, ok = cutBare(text); !ok {
			return false
		}
		g.Labels = append(g.Labels, l)
		if string(text) == "}:" {
			return true
		}
		if text, ok = bytes.CutPrefix(text, []byte(", ")); !ok {
			return false
		}
	}
}

// cutBare reads a string that is quoted only if it must be, and may be empty.
func cutBare(text []byte) (s string, rest []byte, ok bool) {
	if bytes.HasPrefix(text, []byte(`"`)) {
		return cutQuoted(text)
	}
	i := 0
	for i < len(text) && isBare(text[i]) {
		i++
	}
	return string(text[:i]), text[i:], true
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '/' || c == '_'
}

// cutQuoted reads one string in the quoting of the runtime's printquoted: \n \r
// \t \\ \" \xHH \uHHHH \UHHHHHHHH, everything else printable ASCII; and in that of
// strconv.Quote, where \xHH is a byte that is no text. Other bytes are taken as
// they are.
func cutQuoted(text []byte) (s string, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(`"`))
	if !ok {
		return "", nil, false
	}
	end := bytes.IndexAny(text, `"\`)
	if end >= 0 && text[end] == '"' {
		return string(text[:end]), text[end+1:], true
	}
	var b []byte
	for end >= 0 {
		b = append(b, text[:end]...)
		if text[end] == '"' {
			return string(b), text[end+1:], true
		}
		if b, text, ok = appendEscape(b, text[end+1:]); !ok {
			return "", nil, false
		}
		end = bytes.IndexAny(text, `"\`)
	}
	return "", nil, false
}

// appendEscape appends what the escape at the start of text, after its
// backslash, stands for.
func appendEscape(b, text []byte) (to, rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, nil, false
	}
	c, rest := text[0], text[1:]
	digits := 0
	switch c {
	case 'n':
		return append(b, '\n'), rest, true
	case 'r':
		return append(b, '\r'), rest, true
	case 't':
		return append(b, '\t'), rest, true
	case 'a', 'b', 'f', 'v': // of strconv.Quote, in profiles
		return append(b, "\a\b\f\v"[strings.IndexByte("abfv", c)]), rest, true
	case '\\', '"':
		return append(b, c), rest, true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(rest) < digits {
		return nil, nil, false
	}
	r, tail, ok := cutHex(rest[:digits])
	if !ok || len(tail) > 0 {
		return nil, nil, false
	}
	if c == 'x' && r >= utf8.RuneSelf {
		return append(b, byte(r)), rest[digits:], true
	}
	return utf8.AppendRune(b, rune(r)), rest[digits:], true
}
