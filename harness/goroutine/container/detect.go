package container

import "bytes"

const (
	// depthMax is how many formats may be around a line.
	depthMax = 5
	// sampleLines is how many lines decide about a format.
	sampleLines = 24
	// missesMax is after how many lines without the outermost format the input is
	// looked at again.
	missesMax = 16
)

// A level is a format in use.
type level struct {
	format format
	memo   memo
	before cursor // of the memo, before the line at hand
}

// patience keeps lines that only look like a container from being looked at
// again and again.
type patience struct {
	lines int // to let pass before the next look
	next  int // how many to let pass if that fails
}

func (p *patience) fail() {
	p.next = min(max(2*p.next, 8), 1024)
	p.lines = p.next
}

// firstLooks is true of bytes that a line of some container may begin with. Lines
// of dumps begin with lower case letters and tabs.
var firstLooks = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'{': true, '[': true, '<': true, '>': true, ' ': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
}

// isPlain says that nothing is to be undone for a line of the input, raw, and
// that it does not begin a container.
func (r *Reader) isPlain(raw []byte) bool {
	if r.depth > 0 || firstLooks[raw[0]] || len(r.parts) > 0 || r.dump.on || r.dump.long {
		return false
	}
	m := r.in.marks()
	return m == 0 || m.in(raw) == 0
}

// detect decides anew about the formats from the lines that come.
func (r *Reader) detect() {
	var sample [][]byte
	for rest := r.in.ahead(); len(rest) > 0 && len(sample) < sampleLines; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		if text := plainly(trimEnd(rest[:end])); len(trimRight(text)) > 0 {
			sample = append(sample, text)
		}
		rest = rest[end:]
	}
	var found [depthMax]level
	depth, _ := find(sample, found[:])
	same := depth == r.depth
	for i := range depth {
		same = same && r.stack[i].format == found[i].format
	}
	r.misses = 0
	if same {
		r.fail()
		return
	}
	r.patience = patience{}
	for i := range depth {
		r.stack[i] = found[i]
	}
	r.depth = depth
}

// plainly returns a text without byte order mark and escape sequences.
func plainly(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte(bom))
	if bytes.IndexByte(text, esc) < 0 {
		return text
	}
	return AppendPlain(nil, text)
}

const bom = "\xef\xbb\xbf"

// find fills found with the formats of a sample of lines, from outside in.
// dumpLines is how many lines of it are of a dump once they are undone.
func find(sample [][]byte, found []level) (depth, dumpLines int) {
	for _, text := range sample {
		if isDumpLine(text) {
			dumpLines++
		}
	}
	if len(found) == 0 || len(sample) == 0 {
		return 0, dumpLines
	}
	for f := format(0); f < formatNumber; f++ {
		hits, inner := f.try(sample)
		if hits == 0 {
			continue
		}
		below, lines := find(inner, found[1:])
		if !isEnough(f, hits, len(sample), lines, dumpLines) {
			continue
		}
		found[0] = level{format: f, memo: newMemo(sample)}
		return 1 + below, lines
	}
	return 0, dumpLines
}

// try undoes one format; hits is how many of the lines had it, inner what is left
// of them.
func (f format) try(sample [][]byte) (hits int, inner [][]byte) {
	m := newMemo(sample)
	joins := false
	for _, text := range sample {
		p, ok := f.unwrap(text, &m)
		if !ok {
			continue
		}
		hits++
		for _, text := range bytes.Split(plainly(p.text), []byte("\n")) {
			if n := len(inner); joins && p.joins {
				inner[n-1] = append(inner[n-1], text...)
			} else {
				inner = append(inner, bytes.Clone(text))
			}
			joins = false
		}
		joins = p.partial
	}
	return hits, inner
}

// isEnough judges whether hits of n lines make a format. Of them, lines would be
// lines of a dump then, and bare are so without.
func isEnough(f format, hits, n, lines, bare int) bool {
	if lines > bare {
		return hits*4 >= n
	}
	if f.isWeak() || bare > 0 {
		return false
	}
	return hits*5 >= n*4 && (hits >= 3 || f == formatDocker || f == formatCRI)
}

// looksWrapped is a quick look that spares most lines the one of mayBegin.
func (r *Reader) looksWrapped(text []byte) bool {
	inner := bytes.TrimLeft(text, " ")
	if len(inner) == 0 {
		return false
	}
	if firstLooks[inner[0]] || len(inner) < len(text) && announces(inner) {
		return true
	}
	return r.in.marks()&markPipe != 0 && bytes.IndexByte(text[:min(len(text), prefixBytesMax)], '|') > 0
}

// mayBegin says whether to look at the input again because of this line, which
// is without the formats known so far.
func (r *Reader) mayBegin(text []byte) bool {
	if r.depth == depthMax || !r.looksWrapped(text) {
		return false
	}
	r.lines--
	announced := mentions(text)
	if !announced && r.lines >= 0 {
		return false
	}
	m := newMemo([][]byte{text})
	for f := format(0); f < formatNumber && (announced || !f.isWeak()); f++ {
		p, ok := f.unwrap(text, &m)
		if !ok || len(p.text) == len(text) { // nothing is undone
			continue
		}
		if !f.isWeak() && r.lines < 0 || announced && isAnnounced(p.text) {
			return true
		}
	}
	return false
}

// isAnnounced says that a dump begins in the text, or in what one more format
// leaves of it.
func isAnnounced(text []byte) bool {
	if announces(plainly(text)) {
		return true
	}
	text = bytes.Clone(text)
	for f := format(0); f < formatNumber; f++ {
		if inner, ok := f.unwrap(text, new(memo)); ok && announces(inner.text) {
			return true
		}
	}
	return false
}

// mentions is a quick look for a text that announces a dump somewhere.
func mentions(text []byte) bool {
	for _, word := range [...]string{"oroutine ", "panic: ", "fatal error: ", "SIGQUIT: ", "SIGABRT: ", "(dlv) ", "(gdb) "} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return bytes.Contains(text, []byte("goroutineleak profile"))
}
