package goroutine

import (
	"bytes"
	"math"
	"time"
	"unicode/utf8"
)

// The headers accepted, after goroutineheader in Go's runtime/traceback.go.
// Attributes come in any order and unknown ones are kept in Extra.
//
//	goroutine ID[ gp=HEX][ m=N|nil][ mp=HEX] [STATE[ (leaked)][ (scan)][ (durable)][, ATTR]...[ labels:{"K": "V", ...}]]:
//	ATTR: N minutes | locked to thread | synctest bubble N
//	runtime stack:
//
// Labels follow a blank, not a comma. Their values are quoted and may hold "]:" or
// a whole header, so they are read from the left and never searched for an end.

var (
	headerStart  = []byte("goroutine ")
	labelsStart  = []byte(" labels:{")
	runtimeStack = []byte("runtime stack:")
)

// isHeader reports whether the line starts a block, well formed or not. Text
// after the ID decides, since programs log "goroutine 7 started".
func isHeader(text []byte) bool {
	if !bytes.HasPrefix(text, headerStart) {
		return bytes.Equal(text, runtimeStack)
	}
	id := text[len(headerStart):]
	rest := bytes.TrimLeft(id, "0123456789") // too large a number is a damaged header, not prose
	return len(rest) < len(id) && (bytes.HasPrefix(rest, []byte(" [")) || bytes.HasPrefix(rest, []byte(" gp=")))
}

// parseHeader fills g, which is new, from a line that isHeader accepted. It
// reports whether the header is whole; if not, g has what came before the damage.
func parseHeader(text []byte, g *Goroutine, n *names) bool {
	if bytes.Equal(text, runtimeStack) {
		g.Kind, g.State = KindThread, "runtime stack"
		return true
	}
	var ok bool
	if g.ID, text, ok = cutInt(text[len(headerStart):]); !ok {
		return false
	}
	if g.ID == 0 {
		g.Kind = KindThread
	}
	if text, ok = cutRecord(text, g); !ok || !bytes.HasPrefix(text, []byte(" [")) {
		return false
	}
	text = text[len(" ["):]
	end := attrEnd(text)
	g.State = n.text(cutMarks(text[:end], g))
	for text = text[end:]; len(text) > 0; {
		switch {
		case bytes.Equal(text, []byte("]:")):
			return true
		case bytes.HasPrefix(text, labelsStart):
			if text, ok = cutLabels(text[len(labelsStart):], g); !ok {
				return false
			}
		case bytes.HasPrefix(text, []byte(", ")):
			text = text[len(", "):]
			end := attrEnd(text)
			setAttr(text[:end], g)
			text = text[end:]
		default:
			return false
		}
	}
	return false
}

// cutRecord reads the crash-only part, gp=HEX m=N mp=HEX.
func cutRecord(text []byte, g *Goroutine) (rest []byte, ok bool) {
	ok = true
	if after, found := bytes.CutPrefix(text, []byte(" gp=0x")); found {
		g.G, text, ok = cutHex(after)
	}
	if after, found := bytes.CutPrefix(text, []byte(" m=")); found && ok {
		if text, found = bytes.CutPrefix(after, []byte("nil")); !found {
			g.Thread, text, ok = cutInt(after)
		}
	}
	if after, found := bytes.CutPrefix(text, []byte(" mp=0x")); found && ok {
		_, text, ok = cutHex(after)
	}
	return text, ok
}

// attrEnd returns where the state or attribute at the start of text ends.
func attrEnd(text []byte) int {
	for i, c := range text {
		if c == ',' || c == ']' || c == ' ' && bytes.HasPrefix(text[i:], labelsStart) {
			return i
		}
	}
	return len(text)
}

// cutMarks takes the marks off the end of a state. Others in parentheses, such
// as (no cases) and (nil chan), belong to it.
func cutMarks(state []byte, g *Goroutine) []byte {
	for {
		switch {
		case bytes.HasSuffix(state, []byte(" (leaked)")):
			g.Leaked = true
		case bytes.HasSuffix(state, []byte(" (scan)")):
			g.Scan = true
		case bytes.HasSuffix(state, []byte(" (durable)")):
			g.Durable = true
		default:
			return state
		}
		state = state[:bytes.LastIndexByte(state, ' ')]
	}
}

func setAttr(attr []byte, g *Goroutine) {
	if bytes.Equal(attr, []byte("locked to thread")) {
		g.LockedToThread = true
		return
	}
	if after, ok := bytes.CutPrefix(attr, []byte("synctest bubble ")); ok {
		if id, rest, ok := cutInt(after); ok && len(rest) == 0 {
			g.Bubble = id
			return
		}
	}
	if n, rest, ok := cutInt(attr); ok && bytes.Equal(rest, []byte(" minutes")) {
		g.Wait = time.Duration(min(n, int64(math.MaxInt64/time.Minute))) * time.Minute
		return
	}
	if g.Extra != "" {
		g.Extra += ", "
	}
	g.Extra += string(attr)
}

// cutLabels reads "K": "V", ...} and returns what follows the brace.
func cutLabels(text []byte, g *Goroutine) (rest []byte, ok bool) {
	for {
		var l Label
		if l.Key, text, ok = cutQuoted(text); !ok {
			return nil, false
		}
		if text, ok = bytes.CutPrefix(text, []byte(": ")); !ok {
			return nil, false
		}
		if l.Value, text, ok = cutQuoted(text); !ok {
			return nil, false
		}
		g.Labels = append(g.Labels, l)
		if rest, ok = bytes.CutPrefix(text, []byte("}")); ok {
			return rest, true
		}
		if text, ok = bytes.CutPrefix(text, []byte(", ")); !ok {
			return nil, false
		}
	}
}

// cutQuoted reads one string in the quoting of the runtime's printquoted: \n \r
// \t \\ \" \xHH \uHHHH \UHHHHHHHH, everything else printable ASCII. Other bytes
// are taken as they are, for texts that something re-encoded.
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
	return utf8.AppendRune(b, rune(r)), rest[digits:], true
}

// cutInt reads a decimal number from the start of b.
func cutInt(b []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		d := int64(b[i] - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, b, false
		}
		n = n*10 + d
	}
	return n, b[i:], i > 0
}

// cutHex reads up to 16 hexadecimal digits from the start of b.
func cutHex(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i < 16; i++ {
		c := b[i] | 0x20 // lower case; leaves digits alone
		switch {
		case b[i] >= '0' && b[i] <= '9':
			n = n<<4 | uint64(b[i]-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return n, b[i:], i > 0
		}
	}
	return n, b[i:], i > 0
}
