package goroutine

import (
	"bytes"
	"io"
)

const (
	// lineBufferBytes is what is read at a time.
	lineBufferBytes = 128 << 10
	// lineBytesMax bounds memory: a longer line is no part of a dump and is
	// handed on in pieces marked long.
	lineBytesMax = 1 << 20
	// emptyReadsMax is when a source that returns nothing is given up.
	emptyReadsMax = 100
)

// A line is one line of the input as the grammar sees it. A container (log
// prefixes, JSON, CRI) would produce the same from a different text, which is
// why size and offset are carried apart from text.
type line struct {
	text   []byte // without line end, trailing blanks and byte order mark; valid until the next call
	offset int64  // of its first byte in the input
	size   int64  // bytes of input it stands for
	cut    bool   // the input ended without a line end
	long   bool   // part of a line beyond lineBytesMax; text is not the grammar's
}

// lines splits an input into lines.
type lines struct {
	src        io.Reader
	buf        []byte
	start, end int   // buf[start:end] is read and not yet handed out
	offset     int64 // of buf[start] in the input
	long       bool  // the line at start has been handed out in part
	err        error // from src, kept until everything before it is handed out
}

// next returns the next line, or the error of the source after the last one.
func (l *lines) next() (line, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			return l.take(searched+i+1, false), nil
		}
		searched = l.end - l.start
		if l.err != nil {
			if searched == 0 {
				return line{}, l.err
			}
			return l.take(searched, true), nil
		}
		if searched >= lineBytesMax {
			piece := l.take(searched, false)
			piece.long, l.long = true, true
			return piece, nil
		}
		l.fill()
	}
}

// take hands out the first size bytes.
func (l *lines) take(size int, cut bool) line {
	raw := l.buf[l.start : l.start+size]
	got := line{text: raw, offset: l.offset, size: int64(size), cut: cut, long: l.long}
	if l.offset == 0 {
		got.text = bytes.TrimPrefix(got.text, []byte("\xef\xbb\xbf"))
	}
	got.text = trimRight(got.text)
	l.start += size
	l.offset += int64(size)
	l.long = false
	return got
}

// trimRight removes the line end, CRLF or LF, and blanks before it.
func trimRight(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// fill reads more, making room first.
func (l *lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		grown := make([]byte, max(lineBufferBytes, 2*len(l.buf)))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	for range emptyReadsMax {
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
