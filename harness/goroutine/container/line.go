package container

import (
	"bytes"
	"time"
)

// An origin is where a text comes from.
type origin struct {
	offset, size int64
	source       int
	at           time.Time
	cut, long    bool
}

// line takes the next size bytes of input, a line or with more a piece of one
// that is too long, and queues what they give.
func (r *Reader) line(size int, more bool) {
	if r.dump.on || r.dump.long {
		r.rest(size, more)
		return
	}
	p, key := r.unwrap(size)
	if r.looksAgain(p.text) {
		r.rewind()
		r.detect()
		p, key = r.unwrap(size) // detect may have moved the bytes
	}
	r.count(size)
	raw := r.in.buf[r.in.start : r.in.start+size]
	from := origin{offset: r.in.offset, at: p.at, cut: raw[size-1] != '\n' && !more}
	from.size = r.in.take(size)
	if p.joins && !more && (p.partial || len(r.parts) > 0) {
		r.rewind()
		r.descend(trimEnd(raw), from)
		return
	}
	from.source = r.sources.index(key)
	if more {
		r.long(p.text, from)
		return
	}
	r.give(p.text, from)
}

// rewind forgets that unwrap has seen the line at hand.
func (r *Reader) rewind() {
	for i := range r.depth {
		r.stack[i].memo.cursor = r.stack[i].before
	}
}

// descend undoes the formats anew, one after the other, joining what each of them
// has cut before it goes on to the next.
func (r *Reader) descend(text []byte, from origin) {
	r.keys = r.keys[:0]
	for i := range r.depth {
		l := &r.stack[i]
		p, ok := l.format.unwrap(text, &l.memo)
		if !ok && bytes.IndexByte(text, esc) >= 0 {
			r.room(&text, AppendPlain) // not before, since a sequence may go on in the next part
			p, ok = l.format.unwrap(text, &l.memo)
		}
		if !ok {
			continue
		}
		text = p.text
		r.addKey(p.source)
		if p.joins {
			if text, from, ok = r.join(i, p, from); !ok {
				return
			}
		}
	}
	if bytes.IndexByte(text, esc) >= 0 {
		r.room(&text, AppendPlain)
	}
	from.source = r.sources.index(r.keys)
	r.give(text, from)
}

// unwrap undoes the formats of the line that the next size bytes are, and returns
// what is left and the key of its source.
func (r *Reader) unwrap(size int) (p piece, key []byte) {
	p.text = trimEnd(r.in.buf[r.in.start : r.in.start+size]) // blanks may be in the middle of a line cut in two
	if r.in.offset == 0 {
		p.text = bytes.TrimPrefix(p.text, []byte(bom))
	}
	r.keys = r.keys[:0]
	r.missed, r.hit = false, [depthMax]bool{}
	for i := range r.depth + 1 {
		if bytes.IndexByte(p.text, esc) >= 0 {
			r.room(&p.text, AppendPlain)
		}
		if i == r.depth {
			break
		}
		l := &r.stack[i]
		l.before = l.memo.cursor
		inner, ok := l.format.unwrap(p.text, &l.memo)
		if !ok {
			r.missed = r.missed || i == 0 && len(p.text) > 0
			continue
		}
		r.hit[i] = true
		if inner.at.IsZero() {
			inner.at = p.at
		}
		inner.joins, inner.partial = inner.joins || p.joins, inner.partial || p.partial
		r.addKey(inner.source)
		p = inner
	}
	return p, r.keys
}

// addKey adds a source within those so far.
func (r *Reader) addKey(source []byte) {
	if len(source) > 0 && len(r.keys) > 0 {
		r.keys = append(r.keys, '/')
	}
	r.keys = append(r.keys, source...)
}

// room replaces a text by what change appends of it, in a room that holds until
// the next line.
func (r *Reader) room(text *[]byte, change func(to, b []byte) []byte) {
	n := len(r.texts)
	r.texts = change(r.texts, *text)
	*text = r.texts[n:len(r.texts):len(r.texts)]
}

// looksAgain says whether what is left of a line asks for a new look at the
// formats.
func (r *Reader) looksAgain(text []byte) bool {
	if r.depth > 0 && r.missed {
		if r.misses++; r.misses >= missesMax {
			return true
		}
	} else {
		r.misses = 0
	}
	return r.mayBegin(text)
}

// count notes what was undone for a line.
func (r *Reader) count(size int) {
	raw := r.in.buf[r.in.start : r.in.start+size]
	if r.in.offset == 0 && r.in.wide == nil && bytes.HasPrefix(raw, []byte(bom)) {
		r.layers.add(layerBOM)
	}
	if bytes.HasSuffix(raw, []byte("\r\n")) {
		r.layers.add(layerCRLF)
	}
	if len(r.texts) > 0 {
		r.layers.add(layerANSI)
	}
	for i := range r.depth {
		if r.hit[i] {
			r.layers.add(layer(r.stack[i].format))
		}
	}
}

// give queues the lines of a text: one, or more if it is a dump in a string or
// has line ends that were escaped.
func (r *Reader) give(text []byte, from origin) {
	if r.dump.begins(text) {
		r.layers.add(layerString)
		r.unfold(text, from, false)
		return
	}
	r.split(text, from)
}

// split queues the lines of a text. Each takes as many bytes of the input as it
// has, which it had at least; the last one takes the rest.
func (r *Reader) split(text []byte, from origin) {
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		part := from
		part.cut = false
		part.size = min(int64(end)+1, from.size)
		r.add(text[:end], part)
		from.offset += part.size
		from.size -= part.size
		text = text[end+1:]
	}
	r.add(text, from)
}

// add queues one line.
func (r *Reader) add(text []byte, from origin) {
	if bytes.IndexByte(text, esc) >= 0 { // it was escaped itself
		r.layers.add(layerANSI)
		r.room(&text, AppendPlain)
	}
	if text = trimRight(text); !from.long {
		text = r.mend(text)
	}
	r.queue = append(r.queue, Line{Text: text, Offset: from.offset, Size: from.size, Source: from.source,
		Time: from.at, Cut: from.cut, Long: from.long})
}
