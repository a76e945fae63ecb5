package goroutine

import (
	"cmp"
	"io"
	"slices"

	"example.com/wedge/harness/goroutine/container"
)

// A Reader reads a text block by block: dumps of any form, one or several, from
// one source or several mixed. Its memory does not grow with the text, but for a
// bit for each ID and a page for each dump. It is for use by one goroutine at a
// time.
type Reader struct {
	src     io.Reader
	lines   *container.Reader // nil before the first Next, and for a profile in pprof's format
	names   names
	parsers []*parser         // by source
	dumps   []*Dump           // by Goroutine.Snapshot, without goroutines
	queue   []*Goroutine      // the rest of a profile
	layers  []container.Layer // undone before there were lines
	ended   int               // parsers whose last block was handed out, at the end of the text
	err     error
}

// NewReader returns a Reader of the text.
func NewReader(text io.Reader) *Reader { return &Reader{src: text} }

// Next returns the next block, of any Kind, or the error of the underlying
// reader after the last one: io.EOF at the end. The block is valid until the
// next call; Clone keeps it. Text that is no dump is no error: see Stats.
// Whoever counts leaves out blocks that are Again.
func (r *Reader) Next() (*Goroutine, error) {
	if r.src != nil {
		r.open()
	}
	if len(r.queue) > 0 {
		g := r.queue[0]
		r.queue = r.queue[1:]
		return g, nil
	}
	for r.err == nil {
		l, err := r.lines.Next()
		if err != nil {
			r.err = err
			break
		}
		if g := r.parser(l.Source).line(l); g != nil {
			return g, nil
		}
	}
	for r.ended < len(r.parsers) {
		p := r.parsers[r.ended]
		r.ended++
		if g := p.end(r.err != io.EOF); g != nil {
			return g, nil
		}
	}
	return nil, r.err
}

// parser returns the parser of a source's lines.
func (r *Reader) parser(source int) *parser {
	for source >= len(r.parsers) {
		r.parsers = append(r.parsers, newParser(r, len(r.parsers)))
	}
	return r.parsers[source]
}

// Dumps returns what is known so far of the dumps of the text, by the Snapshot of
// their goroutines, which it leaves to Next. Layers is that of the whole text. It
// is final, but for nothing else, once Next has returned an error.
func (r *Reader) Dumps() []*Dump {
	layers := r.layers
	if r.lines != nil {
		layers = slices.Concat(layers, r.lines.Layers())
	}
	for _, d := range r.dumps {
		d.Layers = layers
	}
	return r.dumps
}

// Stats returns the account of what has been read so far. Truncated is known
// once Next has returned an error; it is that of the last dump of each source.
func (r *Reader) Stats() Stats {
	var s Stats
	for _, d := range r.dumps {
		s.add(&d.Stats)
	}
	for _, p := range r.parsers {
		if p.snapshot < 0 {
			s.add(&p.dump.Stats)
		}
	}
	slices.SortStableFunc(s.Skipped, func(a, b Skip) int { return cmp.Compare(a.Offset, b.Offset) })
	s.Skipped = slices.Clip(s.Skipped[:min(len(s.Skipped), skipsMax)])
	return s
}
