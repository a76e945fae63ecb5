package goroutine

import (
	"bytes"
	"math"
	"time"
)

// The headers accepted, after goroutineheader in Go's runtime/traceback.go.
// Attributes come in any order and unknown ones are kept in Extra.
//
//	goroutine ID[ gp=HEX][ m=N|nil][ mp=HEX] [STATE[ (leaked)][ (scan)][ (durable)][, ATTR]...[ labels:{"K": "V", ...}]]:   Go 1.26
//	goroutine ID ... [STATE ...] {K: V, K: "V", ...}:                                                                      Go 1.27
//	ATTR: N minutes | locked to thread | synctest bubble N
//	runtime stack:
//
// goroutine-inspect adds ` N times: [[ID, ID, ...]` to the header of merged ones,
// and some releases were patched to print labels as attributes, "K":"V".
//
// Labels follow a blank, not a comma. Their values may hold "]:" or a whole header,
// so they are read from the left and never searched for an end. Go 1.26 quotes
// all keys and values, Go 1.27 those with other characters than letters, digits,
// dot, slash and underscore.

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
		case bytes.HasPrefix(text, []byte("] {")):
			return cutBareLabels(text[len("] {"):], g)
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
