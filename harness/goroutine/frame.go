package goroutine

import "bytes"

// The lines of a stack, after traceback2, printcreatedby1, printOneCgoTraceback
// and printAncestorTraceback in Go's runtime/traceback.go. "@" is a tab.
//
//	NAME(ARGS)                     ARGS: hexadecimal words ? { } , ... _ only
//	@FILE:LINE[ +0xOFF][ fp=0x… sp=0x… pc=0x…]
//	created by NAME[ in goroutine ID]
//	@FILE:LINE[ +0xOFF]
//	non-Go function at pc=0x…      without a cgo symbolizer
//	NAME or "non-Go function"      with one, which may print anything as NAME
//	@[FILE:LINE ]pc=0x…
//	@goroutine running on other thread; stack unavailable
//	...N frames elided...          or, before Go 1.21, ...additional frames elided...
//	[originating from goroutine ID]:

var (
	createdBy   = []byte("created by ")
	inGoroutine = []byte(" in goroutine ")
	nonGoAt     = []byte("non-Go function at pc=0x")
	stackElse   = []byte("goroutine running on other thread; stack unavailable")
	elidedEnd   = []byte(" frames elided...")
	originStart = []byte("[originating from goroutine ")
)

// callName returns the size of the name that starts a function line, the
// arguments in their parentheses being the rest. They start at the last
// parenthesis, since names hold parentheses and arguments do not. ok is false for
// prose that merely ends in one, "--- FAIL: TestX (0.01s)".
func callName(text []byte) (nameBytes int, ok bool) {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return 0, false
	}
	open := bytes.LastIndexByte(text, '(')
	if open <= 0 || bytes.IndexByte(text[:open], ' ') >= 0 || !isArgs(text[open+1:len(text)-1]) {
		return 0, false
	}
	return open, true
}

// isArgs reports whether b has only what printArgs prints.
func isArgs(b []byte) bool {
	for _, c := range b {
		if !argBytes[c] {
			return false
		}
	}
	return true
}

// argBytes are the bytes of arguments: a table, since most bytes of a dump are
// looked at through it.
var argBytes = func() (set [256]bool) {
	for _, c := range "0123456789abcdefx, ?{}._" {
		set[c] = true
	}
	return set
}()

// cutCreator splits a "created by" line; parentID is 0 where not printed.
func cutCreator(text []byte) (name []byte, parentID int64) {
	name = text[len(createdBy):]
	if i := bytes.LastIndex(name, inGoroutine); i >= 0 {
		if id, rest, ok := cutInt(name[i+len(inGoroutine):]); ok && len(rest) == 0 {
			return name[:i], id
		}
	}
	return name, 0
}

// cutElided reads the line for frames left out; count is -1 if it does not say.
func cutElided(text []byte) (count int, ok bool) {
	middle, ok := bytes.CutSuffix(text, elidedEnd)
	if !ok {
		return 0, false
	}
	if middle, ok = bytes.CutPrefix(middle, []byte("...")); !ok {
		return 0, false
	}
	if n, rest, ok := cutInt(middle); ok && len(rest) == 0 {
		return int(n), true
	}
	return -1, bytes.Equal(middle, []byte("additional"))
}

// cutOrigin reads the line that heads an ancestor's stack.
func cutOrigin(text []byte) (id int64, ok bool) {
	after, ok := bytes.CutPrefix(text, originStart)
	if !ok {
		return 0, false
	}
	id, rest, ok := cutInt(after)
	return id, ok && bytes.Equal(rest, []byte("]:"))
}

// A position is what the line below a function line says.
type position struct {
	place  []byte // FILE:LINE, empty where only a pc is printed
	offset bool   // +0x… follows: the call is not inlined
	pc     bool   // pc=0x… follows: a crash, or a frame outside Go
}

// cutPosition splits a position line, already without leading blanks. File
// names may hold blanks, so the known words are taken off from the right.
func cutPosition(text []byte) position {
	var p position
	for {
		i := bytes.LastIndexByte(text, ' ')
		word := text[i+1:]
		kind := word[:min(len("pc="), len(word))]
		digits := word[len(kind):]
		if len(word) > 3 && word[0] == '+' { // much the most frequent
			kind, digits = word[:1], word[1:]
		}
		if len(digits) < 3 || digits[0] != '0' || digits[1] != 'x' {
			break
		}
		if _, rest, ok := cutHex(digits[2:]); !ok || len(rest) > 0 {
			break
		}
		switch string(kind) {
		case "+":
			p.offset = true
		case "pc=":
			p.pc = true
		case "fp=", "sp=":
		default:
			p.place = text
			return p
		}
		if i < 0 {
			return p
		}
		text = text[:i]
	}
	p.place = text
	return p
}
