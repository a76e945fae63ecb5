package goroutine

import (
	"bytes"
	"compress/gzip"
	"io"

	"example.com/wedge/harness/goroutine/container"
)

const (
	// emptyReadsMax is when a source that returns nothing is given up.
	emptyReadsMax = 100
	// sniffBytes is how much of a text decides what it is.
	sniffBytes = 512
	// profileBytesMax bounds what is read as one profile in pprof's format, which
	// cannot be read in pieces. A hundred thousand different stacks are 30 MB.
	profileBytesMax = 256 << 20
)

var gzipMagic = []byte{0x1f, 0x8b, 8}

// open looks at the start of the text and sets up how to read it: as lines,
// unpacked if need be, or as a profile.
func (r *Reader) open() {
	src := r.src
	r.src = nil
	var head []byte
	head, src = peek(src)
	if isGzip(head) {
		unpacked, err := gzip.NewReader(src)
		if err != nil { // of the source: the header is good
			r.err = err
			return
		}
		r.layers = append(r.layers, container.Layer{Name: "gzip", Lines: 1})
		head, src = peek(unpacked)
	}
	if looksBinary(head) {
		var whole bool
		if src, whole = r.openProfile(src); whole {
			return
		}
	}
	r.lines = container.NewReader(src)
}

// isGzip reports whether the start has the whole header of a gzip file.
func isGzip(head []byte) bool {
	if !bytes.HasPrefix(head, gzipMagic) {
		return false
	}
	_, err := gzip.NewReader(bytes.NewReader(head))
	return err == nil
}

// peek returns the start of src and a reader that begins with it.
func peek(src io.Reader) (head []byte, again io.Reader) {
	head = make([]byte, 0, sniffBytes)
	var err error
	for empty := 0; len(head) < sniffBytes && err == nil; {
		var n int
		n, err = src.Read(head[len(head):sniffBytes])
		head = head[:len(head)+n]
		if empty++; n > 0 {
			empty = 0
		}
		if empty >= emptyReadsMax {
			err = io.ErrNoProgress
		}
	}
	if err != nil {
		src = failed{err}
	}
	return head, io.MultiReader(bytes.NewReader(head), src)
}

// looksBinary reports whether the start may be that of a profile in protobuf: the
// tag of one of its 14 fields, which are numbers or have a length, and bytes that
// are in no text.
func looksBinary(head []byte) bool {
	if len(head) == 0 || head[0]>>3 < 1 || head[0]>>3 > 14 || head[0]&7 != 0 && head[0]&7 != 2 {
		return false
	}
	return bytes.ContainsFunc(head, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\x1b'
	})
}

// openProfile reads all of src as a profile. If it is none, whole is false and
// rest has the same bytes again.
func (r *Reader) openProfile(src io.Reader) (rest io.Reader, whole bool) {
	data, err := io.ReadAll(io.LimitReader(src, profileBytesMax))
	if err == nil && len(data) < profileBytesMax && r.readProfile(data) {
		r.err = io.EOF
		return nil, true
	}
	if err != nil {
		src = failed{err}
	}
	return io.MultiReader(bytes.NewReader(data), src), false
}

// A failed reader returns the error that ended a source while it was looked at.
type failed struct{ err error }

// Read implements io.Reader.
func (f failed) Read([]byte) (int, error) { return 0, f.err }
