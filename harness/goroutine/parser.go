package goroutine

import (
	"bytes"

	"example.com/wedge/harness/goroutine/container"
)

// A parser reads the lines of one source.
type parser struct {
	r        *Reader
	source   int
	dump     *Dump // the dump that lines are accounted to
	snapshot int   // its index in r.dumps, -1 while it has no block
	turn     turn
	preamble preamble
	blocks   [2]block // the one being filled and the one handed out last
	cur      *block
	call     call
	tail     tail
}

// A call is a line that waits for the line below, which confirms it.
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
	callBucket           // what may head a bucket of panicparse
)

func newParser(r *Reader, source int) *parser {
	p := &parser{r: r, source: source, dump: new(Dump), snapshot: -1}
	p.cur = &p.blocks[0]
	return p
}

// line takes a line and returns the block that it completed, if any.
func (p *parser) line(l container.Line) *Goroutine {
	before := p.tail.used
	p.tail.used = false
	g := p.take(l)
	if l.Cut {
		p.tail.cut = true
		p.tail.unfinished = !p.isUsed() && len(l.Text) > 0 && (before && looksUnfinished(l.Text) || startsHeader(l.Text))
	}
	p.tail.size = l.Offset + l.Size
	return g
}

func (p *parser) take(l container.Line) *Goroutine {
	switch {
	case l.Long:
		p.skip(l.Offset, l.Size, l.Text)
	case len(l.Text) == 0:
		p.preamble.inside = false
		// Separators inside a dump are used, but separate nothing: logs and
		// mail both lose and add them.
		if p.cur.open || p.turn.head {
			p.use(l.Size)
		} else {
			p.skip(l.Offset, l.Size, nil)
		}
	case l.Text[0] == '\t' || l.Text[0] == ' ':
		return p.indented(l)
	case isHeader(l.Text):
		return p.header(l)
	default:
		return p.margin(l)
	}
	return nil
}

// end ends the source and returns its last block.
func (p *parser) end(failed bool) *Goroutine {
	truncated := failed || p.isTruncated()
	p.dropCall()
	p.preamble.flush(p.dump)
	p.finish()
	p.dump.Truncated = p.dump.Truncated || truncated
	return p.cur.end()
}

func (p *parser) use(size int64) {
	p.dump.UsedBytes += size
	p.dump.Bytes += size
	p.tail.used = true
}

func (p *parser) skip(offset, size int64, text []byte) {
	p.dump.skip(offset, size, text)
}

// isUsed reports whether the last line was used, as far as is known.
func (p *parser) isUsed() bool { return p.tail.used || p.call.kind == callGo }

// header begins a block and returns the one before.
func (p *parser) header(l container.Line) *Goroutine {
	done := p.close()
	if !parseHeader(l.Text, &p.cur.g, &p.r.names) {
		p.cur.g.Kind, p.cur.lost = KindHeadless, true
		p.skip(l.Offset, l.Size, l.Text)
		return done
	}
	form := FormDump
	if p.cur.g.Count > 0 {
		form = FormInspect
	}
	p.place(form)
	p.use(l.Size)
	return done
}

// begin opens a block of a form that has no header like the runtime's, and
// returns the one before.
func (p *parser) begin(form Form, kind Kind, id int64) *Goroutine {
	done := p.close()
	p.cur.g.Kind, p.cur.g.ID = kind, id
	p.place(form)
	return done
}

// close makes cur an empty open block and returns the one before.
func (p *parser) close() *Goroutine {
	p.dropCall()
	if p.cur.open && p.cur.g.NoStack {
		p.turn.noteBare(p.cur.g.ID)
	}
	done := p.cur.end()
	if done != nil {
		p.cur = &p.blocks[0]
		if done == &p.cur.g {
			p.cur = &p.blocks[1]
		}
	}
	p.cur.begin()
	return done
}

// margin takes a line at the left margin that is no header.
func (p *parser) margin(l container.Line) *Goroutine {
	if nameBytes, ok := callName(l.Text); ok {
		p.await(l, callGo, nameBytes)
		return nil
	}
	if p.mark(l.Text) {
		p.use(l.Size)
		return nil
	}
	if used, done := p.otherForm(l); used {
		return done
	}
	// Any line may name a frame outside Go. A log line may also fall between a
	// function line and its position, so it does not displace what waits already.
	if p.inStack() && p.call.kind != callGo && p.call.kind != callCreator {
		p.await(l, callForeign, len(l.Text))
		return nil
	}
	p.skip(l.Offset, l.Size, l.Text)
	return nil
}

// inStack reports whether the block takes more frames.
func (p *parser) inStack() bool { return p.cur.open && !p.cur.full }

// mark takes the lines of a stack that mean something by themselves; ok is false
// for any other line.
func (p *parser) mark(text []byte) (ok bool) {
	if !p.cur.open {
		return false
	}
	if bytes.HasPrefix(text, createdBy) {
		name, parentID := cutCreator(text)
		p.cur.setCreator(p.r.names.text(name), parentID)
		p.await(container.Line{}, callCreator, 0)
		return true
	}
	if id, ok := cutOrigin(text); ok {
		p.dropCall()
		p.cur.addAncestor(id)
		return true
	}
	if !p.inStack() {
		return false
	}
	if count, ok := cutElided(text); ok {
		p.dropCall()
		p.cur.addGap(count)
		return true
	}
	if bytes.HasPrefix(text, nonGoAt) {
		p.dropCall()
		p.addFrame(Frame{Func: "non-Go function"}, nil)
		return true
	}
	return false
}

// await makes the line wait for the one below.
func (p *parser) await(l container.Line, kind callKind, nameBytes int) {
	p.dropCall()
	text := append(p.call.text[:0], l.Text...)
	p.call = call{kind: kind, text: text, nameBytes: nameBytes, offset: l.Offset, size: l.Size}
}

// dropCall gives up waiting.
func (p *parser) dropCall() {
	if p.call.size > 0 {
		p.skip(p.call.offset, p.call.size, p.call.text)
	}
	p.call = call{text: p.call.text[:0]}
}

// indented takes a line that begins with blanks: a position, or the excuse for
// having no stack, or what other forms and messages indent.
func (p *parser) indented(l container.Line) *Goroutine {
	text := l.Text[1:]
	if len(text) == 0 || text[0] == ' ' || text[0] == '\t' {
		text = bytes.TrimLeft(text, " \t")
	}
	if bytes.Equal(text, stackElse) && p.cur.open && p.cur.isBare() {
		p.cur.g.NoStack = true
		p.use(l.Size)
		return nil
	}
	if p.call.kind != callNone && p.call.kind != callBucket {
		pos := cutPosition(text)
		at, ok := p.r.names.place(pos.place)
		if ok && (pos.pc || p.call.kind != callForeign) || pos.pc && len(pos.place) == 0 && p.call.kind != callCreator {
			p.tail.offset = pos.offset
			p.use(l.Size + p.call.size)
			p.call.size = 0
			return p.position(at)
		}
	}
	if used, done := p.otherIndented(l, text); used {
		return done
	}
	if p.call.kind == callForeign || p.call.kind == callBucket {
		p.dropCall() // prose after all
	}
	p.skip(l.Offset, l.Size, l.Text)
	return nil
}

// position completes the call that waits, and returns the block before if the
// call's frame begins a headless one.
func (p *parser) position(at place) (done *Goroutine) {
	if p.call.kind == callCreator {
		f := p.cur.creator()
		f.File, f.Line = at.file, at.line
		p.dropCall()
		return nil
	}
	name, args := p.call.text[:p.call.nameBytes], p.call.text[p.call.nameBytes:]
	if len(args) > 0 {
		args = args[1 : len(args)-1]
	}
	if !p.inStack() {
		done = p.begin(FormDump, KindHeadless, 0)
	}
	p.addFrame(Frame{Func: p.r.names.text(name), File: at.file, Line: at.line}, args)
	p.dropCall()
	return done
}

// addFrame adds a frame, which makes a block with a damaged header count.
func (p *parser) addFrame(f Frame, args []byte) {
	if p.cur.lost {
		p.cur.lost = false
		p.place(FormDump)
	}
	p.cur.addFrame(f, args)
}
