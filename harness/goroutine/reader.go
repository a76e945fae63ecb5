package goroutine

import (
	"bytes"
	"fmt"
	"io"
)

// A Reader reads a dump block by block, in memory that does not grow with it.
// It is for use by one goroutine at a time.
type Reader struct {
	lines  lines
	names  names
	stats  Stats
	blocks [2]block // the one being filled and the one handed out last
	cur    *block
	call   call
	tail   tail
	err    error
}

// A call is a line that waits for its position line, which confirms it.
type call struct {
	kind         callKind
	text         []byte // a copy: the line itself is gone by then
	nameBytes    int    // text[:nameBytes] is the name, the arguments are between the parentheses after it
	offset, size int64  // of the line, not yet counted as used or skipped
}

type callKind uint8

const (
	callNone    callKind = iota
	callGo               // NAME(ARGS)
	callForeign          // any line: the name of a frame outside Go, or prose
	callCreator          // "created by", itself counted already
)

// NewReader returns a Reader of the text.
func NewReader(text io.Reader) *Reader {
	r := &Reader{lines: lines{src: text}}
	r.cur = &r.blocks[0]
	return r
}

// Next returns the next block, of any Kind, or the error of the underlying
// reader after the last one: io.EOF at the end. The block is valid until the
// next call; Clone keeps it. Text that is no dump is no error: see Stats.
func (r *Reader) Next() (*Goroutine, error) {
	for r.err == nil {
		l, err := r.lines.next()
		if err != nil {
			r.err = err
			r.stats.Truncated = err != io.EOF || r.isTruncated()
			r.dropCall()
			if g := r.cur.end(); g != nil {
				return g, nil
			}
			break
		}
		r.stats.Bytes += l.size
		g := r.take(l)
		r.tail.note(l, &r.stats, &r.call)
		if g != nil {
			return g, nil
		}
	}
	return nil, r.err
}

// Stats returns the account of what has been read so far. Truncated is known
// once Next has returned an error.
func (r *Reader) Stats() Stats { return r.stats }

// Parse reads a text that holds one dump. It returns what was read also when
// the underlying reader fails.
func Parse(text io.Reader) (*Dump, error) {
	r := NewReader(text)
	d := &Dump{Form: FormDump}
	bare := map[int64]int{} // goroutines without a stack so far: index in d.Goroutines
	for {
		g, err := r.Next()
		if err != nil {
			d.Stats = r.Stats()
			if err != io.EOF {
				return d, fmt.Errorf("goroutine: reading a dump, at byte %d: %w", d.Bytes, err)
			}
			return d, nil
		}
		if g.Kind != KindGoroutine {
			d.Others = append(d.Others, *g.Clone())
			continue
		}
		if i, ok := bare[g.ID]; ok {
			// A crash lists the goroutines that were running elsewhere, then has
			// each of their threads print its own.
			d.Goroutines[i] = *g.Clone()
			delete(bare, g.ID)
			continue
		}
		if g.NoStack {
			bare[g.ID] = len(d.Goroutines)
		}
		d.Goroutines = append(d.Goroutines, *g.Clone())
	}
}

// ParseAll reads a text that holds any number of dumps and returns them in order,
// none for a text without any goroutine. IDs that come again begin a new one.
func ParseAll(text io.Reader) ([]*Dump, error) {
	d, err := Parse(text)
	if len(d.Goroutines)+len(d.Others) == 0 {
		return nil, err
	}
	return []*Dump{d}, err
}

// take adds a line and returns the block that it completed, if any.
func (r *Reader) take(l line) *Goroutine {
	switch {
	case l.long:
		r.stats.skip(l.offset, l.size, l.text)
	case len(l.text) == 0:
		// Separators inside a dump are used, but separate nothing: logs and
		// mail both lose and add them.
		if r.cur.open {
			r.stats.UsedBytes += l.size
		} else {
			r.stats.skip(l.offset, l.size, l.text)
		}
	case l.text[0] == '\t' || l.text[0] == ' ':
		return r.indented(l)
	case isHeader(l.text):
		return r.header(l)
	default:
		r.margin(l)
	}
	return nil
}

// header begins a block and returns the one before.
func (r *Reader) header(l line) *Goroutine {
	done := r.begin()
	if parseHeader(l.text, &r.cur.g, &r.names) {
		r.stats.UsedBytes += l.size
	} else {
		r.cur.g.Kind = KindHeadless
		r.stats.skip(l.offset, l.size, l.text)
	}
	return done
}

// begin opens a new block and returns the one before.
func (r *Reader) begin() *Goroutine {
	r.dropCall()
	done := r.cur.end()
	if done != nil {
		r.cur = &r.blocks[0]
		if done == &r.cur.g {
			r.cur = &r.blocks[1]
		}
	}
	r.cur.begin()
	return done
}

// margin takes a line at the left margin that is no header.
func (r *Reader) margin(l line) {
	if nameBytes, ok := callName(l.text); ok {
		r.await(l, callGo, nameBytes)
		return
	}
	if r.mark(l.text) {
		r.stats.UsedBytes += l.size
		return
	}
	// Any line may name a frame outside Go. A log line may also fall between a
	// function line and its position, so it does not displace what waits already.
	if r.inStack() && r.call.kind != callGo && r.call.kind != callCreator {
		r.await(l, callForeign, len(l.text))
		return
	}
	r.stats.skip(l.offset, l.size, l.text)
}

// inStack reports whether the block takes more frames.
func (r *Reader) inStack() bool { return r.cur.open && !r.cur.full }

// mark takes the lines of a stack that mean something by themselves; ok is false
// for any other line.
func (r *Reader) mark(text []byte) (ok bool) {
	if !r.cur.open {
		return false
	}
	if bytes.HasPrefix(text, createdBy) {
		name, parentID := cutCreator(text)
		r.cur.setCreator(r.names.text(name), parentID)
		r.await(line{}, callCreator, 0)
		return true
	}
	if id, ok := cutOrigin(text); ok {
		r.dropCall()
		r.cur.addAncestor(id)
		return true
	}
	if !r.inStack() {
		return false
	}
	if count, ok := cutElided(text); ok {
		r.dropCall()
		r.cur.addGap(count)
		return true
	}
	if bytes.HasPrefix(text, nonGoAt) {
		r.dropCall()
		r.cur.addFrame(Frame{Func: "non-Go function"}, nil)
		return true
	}
	return false
}

// await makes the line wait for its position.
func (r *Reader) await(l line, kind callKind, nameBytes int) {
	r.dropCall()
	text := append(r.call.text[:0], l.text...)
	r.call = call{kind: kind, text: text, nameBytes: nameBytes, offset: l.offset, size: l.size}
}

// dropCall gives up waiting.
func (r *Reader) dropCall() {
	if r.call.size > 0 {
		r.stats.skip(r.call.offset, r.call.size, r.call.text)
	}
	r.call = call{text: r.call.text[:0]}
}

// indented takes a line that begins with blanks: a position, or the excuse for
// having no stack.
func (r *Reader) indented(l line) *Goroutine {
	text := bytes.TrimLeft(l.text, " \t")
	if bytes.Equal(text, stackElse) && r.cur.open && r.cur.isBare() {
		r.cur.g.NoStack = true
		r.stats.UsedBytes += l.size
		return nil
	}
	if r.call.kind != callNone {
		p := cutPosition(text)
		at, ok := r.names.place(p.place)
		if ok && (p.pc || r.call.kind != callForeign) || p.pc && len(p.place) == 0 && r.call.kind != callCreator {
			r.tail.offset = p.offset
			r.stats.UsedBytes += l.size + r.call.size
			r.call.size = 0
			return r.position(at)
		}
	}
	if r.call.kind == callForeign {
		r.dropCall() // prose after all
	}
	r.stats.skip(l.offset, l.size, l.text)
	return nil
}

// position completes the call that waits, and returns the block before if the
// call's frame begins a headless one.
func (r *Reader) position(at place) (done *Goroutine) {
	if r.call.kind == callCreator {
		f := r.cur.creator()
		f.File, f.Line = at.file, at.line
		r.dropCall()
		return nil
	}
	name, args := r.call.text[:r.call.nameBytes], r.call.text[r.call.nameBytes:]
	if len(args) > 0 {
		args = args[1 : len(args)-1]
	}
	if !r.inStack() {
		done = r.begin()
		r.cur.g.Kind = KindHeadless
	}
	r.cur.addFrame(Frame{Func: r.names.text(name), File: at.file, Line: at.line}, args)
	r.dropCall()
	return done
}
