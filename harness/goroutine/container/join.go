package container

const (
	// partsMax is how many lines may wait for their rest, and joinedBytesMax how
	// long one may grow.
	partsMax       = 64
	joinedBytesMax = 16 << 20
)

// A part is the beginning of a line whose rest has not come.
type part struct {
	from   origin
	key    string // of the source
	level  int    // of the format that cut it
	stream byte
	text   []byte
}

// join adds a piece to the part of its source, level and stream. done says that the line
// is complete; the text is the whole line then.
func (r *Reader) join(level int, p piece, from origin) (text []byte, whole origin, done bool) {
	for i := range r.parts {
		part := &r.parts[i]
		if part.key != string(r.keys) || part.stream != p.stream || part.level != level {
			continue
		}
		part.text = append(part.text, p.text...)
		part.from.size += from.size
		part.from.offset = min(part.from.offset, from.offset) // a piece that waited for its own rest comes late
		part.from.cut = from.cut
		if p.partial && len(part.text) < joinedBytesMax {
			return nil, from, false
		}
		text, whole = part.text, part.from
		whole.long = p.partial
		r.parts = append(r.parts[:i], r.parts[i+1:]...)
		return text, whole, true
	}
	if !p.partial {
		return p.text, from, true
	}
	if len(r.parts) == partsMax {
		r.giveUp(r.parts[0])
		r.parts = append(r.parts[:0], r.parts[1:]...)
	}
	r.parts = append(r.parts, part{from, string(r.keys), level, p.stream, append([]byte(nil), p.text...)})
	return nil, from, false
}

// flush queues what has been waiting when the input ends.
func (r *Reader) flush() {
	parts := r.parts
	r.parts = nil
	for _, part := range parts {
		part.from.cut = true
		r.giveUp(part)
	}
	r.endDump()
}

// giveUp queues a line whose rest will not come.
func (r *Reader) giveUp(p part) {
	p.from.source = r.sources.index([]byte(p.key))
	r.give(p.text, p.from)
}
