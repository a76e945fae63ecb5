package container

import (
	"bytes"
	"io"
	"time"
)

// A Line is one line that a program printed, with the bytes of the input that it
// stands for.
type Line struct {
	// Text is the line as the program printed it, without line end, trailing
	// blanks and byte order mark. It is valid until the next call of [Reader.Next].
	Text []byte
	// Offset and Size are the input bytes that the line stands for: those of its
	// prefix and line end are included, and the sizes of all lines add up to the
	// input. A line that was put together from several stands for all of them,
	// though they need not be neighbours; Offset is that of the first.
	Offset, Size int64
	// Source is which program's output the line is: the index in
	// [Reader.Sources].
	Source int
	// Time is from the prefix, in year 0 if that has no year; zero if there is
	// none.
	Time time.Time
	// Cut says that the input ended without a line end.
	Cut bool
	// Long says that this is a piece of a line beyond 1 MiB, which is not to be
	// taken for a line.
	Long bool
}

// A Layer is something that was undone.
type Layer struct {
	// Name is such as "journald/syslog", "docker json" or "CRLF".
	Name string
	// Lines is how many lines of the input had it.
	Lines int64
}

// A Reader reads lines. It is for use by one goroutine at a time.
type Reader struct {
	in      input
	started bool

	stack  [depthMax]level // the formats to undo, from outside in
	depth  int
	hit    [depthMax]bool // which of them the line at hand had
	missed bool           // whether it did not have the outermost
	misses int            // lines in a row that did not
	keys   []byte         // room for the key of a source
	patience

	queue   []Line // what one line of input gave, not yet handed out
	head    int
	texts   []byte    // room for texts of the queue that are not in the input as they are
	parts   []part    // lines that wait for their rest
	dump    unfolding // of a whole dump in one string
	sources sources
	layers  counts
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader {
	return &Reader{in: input{src: src}}
}

// Next returns the next line, or the error of the underlying reader after the
// last one: io.EOF at the end.
func (r *Reader) Next() (Line, error) {
	for {
		if len(r.queue) > 0 {
			if r.head < len(r.queue) {
				r.head++
				return r.queue[r.head-1], nil
			}
			r.queue, r.head = r.queue[:0], 0
		}
		if len(r.texts) > 0 {
			r.texts = r.texts[:0]
		}
		if !r.started {
			r.start()
		}
		size, more, err := r.in.line()
		if err != nil {
			if r.flush(); len(r.queue) > 0 {
				continue
			}
			return Line{}, err
		}
		if !r.isPlain(r.in.buf[r.in.start:r.in.start+size]) || more || r.in.offset == 0 {
			r.line(size, more)
			continue
		}
		return r.plain(size), nil
	}
}

// plain hands out a line that is as the program printed it.
func (r *Reader) plain(size int) Line {
	raw := r.in.buf[r.in.start : r.in.start+size]
	l := Line{Text: trimRight(raw), Offset: r.in.offset, Cut: raw[size-1] != '\n'}
	if size > 1 && raw[size-2] == '\r' && !l.Cut {
		r.layers.add(layerCRLF)
	}
	l.Source = r.sources.index(nil)
	l.Size = r.in.take(size)
	return l
}

// start looks at what the input begins with.
func (r *Reader) start() {
	r.started = true
	head := r.in.ahead()
	if len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff) {
		r.widen(head[0] == 0xfe)
	}
	r.detect()
}

// widen puts a decoder of UTF-16 between the source and the buffer.
func (r *Reader) widen(big bool) {
	in := &r.in
	src := in.src
	if in.err != nil {
		src = failure{in.err}
	}
	wide := &wideReader{src: io.MultiReader(bytes.NewReader(in.buf[in.start:in.end]), src), big: big}
	*in = input{src: wide, wide: wide}
	r.layers.add(layerWide)
	in.ahead()
}

// A failure is a source that has failed.
type failure struct{ err error }

// Read implements io.Reader.
func (f failure) Read([]byte) (int, error) { return 0, f.err }

// Layers returns what has been undone so far, from outside in.
func (r *Reader) Layers() []Layer { return r.layers.list() }

// Sources returns the names of the sources by index, as prefixes have them; ""
// for one without a prefix.
func (r *Reader) Sources() []string { return r.sources.names }
