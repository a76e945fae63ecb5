package container

import (
	"bytes"
	"io"
)

const (
	// inputBytes is what is read at a time, and lookBytes what is looked at to
	// tell a container.
	inputBytes = 128 << 10
	lookBytes  = 64 << 10
	// lineBytesMax bounds memory: a longer line is handed on in pieces.
	lineBytesMax = 1 << 20
	// emptyReadsMax is when a source that returns nothing is given up.
	emptyReadsMax = 100
)

// An input is the bytes that are read and not yet handed out, buf[start:end].
type input struct {
	src        io.Reader
	buf        []byte
	start, end int
	offset     int64       // of buf[start] in the source
	err        error       // from src, kept until everything before it is handed out
	wide       *wideReader // between src and buf if src is UTF-16: sizes are not those of buf
	// What buf[start:] may hold: before is true of bytes up to seam, since of
	// those behind it.
	before, since marks
	seam          int
}

// line returns the length of the line at start with its line end, reading as
// much as it takes. more says that it is only a piece: the line is too long. The
// error is that of the source, when nothing is left.
func (in *input) line() (size int, more bool, err error) {
	searched := 0
	for {
		if i := bytes.IndexByte(in.buf[in.start+searched:in.end], '\n'); i >= 0 {
			return searched + i + 1, false, nil
		}
		searched = in.end - in.start
		if in.err != nil {
			if searched == 0 {
				return 0, false, in.err
			}
			return searched, false, nil
		}
		if searched >= lineBytesMax {
			return in.seamless(searched), true, nil
		}
		in.fill()
	}
}

// seamless returns where a piece of no more than size bytes may end without
// tearing an escape or a character, as far as that can be had: before a run of
// backslashes, which begins an escape, though not before the second half of a
// pair of \u; else before ASCII.
func (in *input) seamless(size int) int {
	const searchBytes = 64 << 10
	b := in.buf[in.start : in.start+size]
	ascii := 0
	for i := size - 2; i > 0 && i > size-searchBytes; i-- {
		if ascii == 0 && b[i] < 0x80 && b[i] != '\\' && b[i] != esc {
			ascii = i
		}
		if b[i] != '\\' || b[i-1] == '\\' {
			continue
		}
		behind := i
		for behind < size && b[behind] == '\\' {
			behind++
		}
		if behind < size && b[behind] != 'u' {
			return i
		}
	}
	if ascii > 0 {
		return ascii
	}
	return size
}

// ahead returns up to lookBytes of what comes, beginning at start. It may move
// the bytes of the buffer.
func (in *input) ahead() []byte {
	for in.end-in.start < lookBytes && in.err == nil {
		in.fill()
	}
	return in.buf[in.start:min(in.end, in.start+lookBytes)]
}

// take hands out the first n bytes and returns how many of the source they are.
func (in *input) take(n int) (size int64) {
	size = int64(n)
	if in.wide != nil {
		size = wideBytes(in.buf[in.start : in.start+n])
		if in.err != nil && in.start+n == in.end {
			size = in.wide.read - in.offset // whatever was odd about it
		}
	}
	in.start += n
	in.offset += size
	if in.start >= in.seam {
		in.before = in.since
	}
	return size
}

// marks returns what the line at start may hold.
func (in *input) marks() marks { return in.before | in.since }

// fill reads more, making room first.
func (in *input) fill() {
	if in.start > 0 {
		in.end = copy(in.buf, in.buf[in.start:in.end])
		in.start = 0
	}
	if in.end == len(in.buf) {
		grown := make([]byte, max(inputBytes, 2*len(in.buf)))
		copy(grown, in.buf[:in.end])
		in.buf = grown
	}
	for range emptyReadsMax {
		n, err := in.src.Read(in.buf[in.end:])
		fresh := in.buf[max(0, in.end-1) : in.end+n] // two bytes may make a mark
		in.before, in.seam = in.before|in.since, in.end
		if in.end == 0 {
			in.before = 0
		}
		in.since = marksAll.in(fresh)
		in.end += n
		in.err = err
		if n > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// marks are what makes a text worth a closer look.
type marks uint8

const (
	markEscape  marks = 1 << iota // ESC
	markSlash                     // a backslash
	markPipe                      // |
	markEntity                    // & of HTML
	markPercent                   // % of a URL
	markLatin                     // what a middle dot may have become
	markLink                      // Markdown's ]( and fences
	markStar                      // (_ for (*
	marksAll    = marks(1<<iota - 1)
)

// markBytes are the marks that one byte makes.
var markBytes = [...]struct {
	c byte
	m marks
}{{esc, markEscape}, {'\\', markSlash}, {'|', markPipe}, {'&', markEntity}, {'%', markPercent}, {0xb7, markLatin}, {'`', markLink}}

// in returns which of the marks a text has. It looks at all bytes of much text,
// so it is made of what is fast.
func (m marks) in(b []byte) (found marks) {
	for _, look := range markBytes {
		if m&look.m != 0 && bytes.IndexByte(b, look.c) >= 0 {
			found |= look.m
		}
	}
	if m&markLink != 0 && bytes.Contains(b, []byte("](")) {
		found |= markLink
	}
	if m&markStar != 0 && bytes.Contains(b, []byte("(_")) {
		found |= markStar
	}
	return found
}

// esc begins an ANSI escape sequence.
const esc = 0x1b

// trimRight removes the line end, CRLF or LF, and blanks before it.
func trimRight(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// trimEnd removes the line end only.
func trimEnd(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
		if n > 1 && b[n-2] == '\r' {
			b = b[:n-2]
		}
	}
	return b
}
