package goroutine

import (
	"bytes"
	"math"
	"strings"
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
// goroutine-inspect adds ` N times: [[ID, ID, ...]` to the header of merged ones,
// and some releases were patched to print labels as attributes, "K":"V".
//
// Labels follow a blank, not a comma. Their values are quoted and may hold "]:" or
// a whole header, so they are read from the left and never searched for an end.

// waitMinutesMax keeps a wait within a time.Duration.
const waitMinutesMax = int64(math.MaxInt64 / time.Minute)

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
		case bytes.HasPrefix(text, []byte("]:")):
			return len(text) == len("]:") || cutMerged(text[len("]:"):], g)
		case bytes.HasPrefix(text, labelsStart):
			if text, ok = cutLabels(text[len(labelsStart):], g); !ok {
				return false
			}
		case bytes.HasPrefix(text, []byte(", ")):
			text = text[len(", "):]
			if bytes.HasPrefix(text, []byte(`"`)) {
				if text, ok = cutLabel(text, g); !ok {
					return false
				}
				continue
			}
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
		g.Wait = time.Duration(min(n, waitMinutesMax)) * time.Minute
		return
	}
	if g.Extra != "" {
		g.Extra += ", "
	}
	g.Extra += string(attr)
}

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

// cutMerged reads ` N times: [[ID, ID, ...]`, with one bracket or two. The first
// ID is often g's own.
func cutMerged(text []byte, g *Goroutine) bool {
	text, ok := bytes.CutPrefix(text, []byte(" "))
	if !ok {
		return false
	}
	n, text, ok := cutInt(text)
	if !ok || n <= 0 {
		return false
	}
	if text, ok = bytes.CutPrefix(text, []byte(" times: [")); !ok {
		return false
	}
	text = bytes.TrimPrefix(text, []byte("["))
	for {
		id, rest, ok := cutInt(text)
		if !ok {
			return false
		}
		if id != g.ID {
			g.Merged = append(g.Merged, id)
		}
		if text, ok = bytes.CutPrefix(rest, []byte(", ")); !ok {
			g.Count = int(min(n, countMax))
			return string(bytes.TrimPrefix(rest, []byte("]"))) == "" || string(rest) == "]]"
		}
	}
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
