package goroutine

import "bytes"

// A tail is what must be remembered of the last lines to tell whether the text
// was cut off.
type tail struct {
	used       bool // the last line was used
	usedBytes  int64
	offset     bool // the last position line had +0x…
	cut        bool // the last line has no line end
	unfinished bool // …, was not used, and looks like the start of a line that would be
}

// note is told each line after it was taken.
func (t *tail) note(l line, s *Stats, c *call) {
	before := t.used
	t.used = s.UsedBytes > t.usedBytes || c.kind == callGo
	t.usedBytes = s.UsedBytes
	if l.cut {
		t.cut = true
		t.unfinished = !t.used && len(l.text) > 0 && (before && looksUnfinished(l.text) || startsHeader(l.text))
	}
}

// looksUnfinished reports whether more text could make this a line of a dump.
func looksUnfinished(text []byte) bool {
	blank := bytes.IndexAny(text, " \t")
	open := bytes.IndexByte(text, '(')
	return blank <= 0 || open > 0 && open < blank || text[0] == '.' || text[0] == '[' || bytes.HasPrefix(createdBy, text)
}

// startsHeader reports whether more text could make this a header.
func startsHeader(text []byte) bool {
	id, ok := bytes.CutPrefix(text, headerStart)
	if !ok {
		return bytes.HasPrefix(headerStart, text)
	}
	rest := bytes.TrimLeft(id, "0123456789")
	return isHeader(text) || bytes.HasPrefix([]byte(" ["), rest) || bytes.HasPrefix([]byte(" gp="), rest)
}

// isTruncated reports whether the text, now at its end, ends inside a block.
func (r *Reader) isTruncated() bool {
	b, t := r.cur, &r.tail
	switch {
	case r.call.kind == callGo, r.call.kind == callCreator:
		return true
	case b.open && b.isBare() && b.g.Kind != KindHeadless:
		return true
	case !t.cut:
		return false
	case t.unfinished:
		return true
	case !t.used:
		return false
	case r.stats.Bytes >= 1<<10 && r.stats.Bytes&(r.stats.Bytes-1) == 0:
		return true // the size of a buffer that was too small
	}
	// Somebody may only have trimmed the last line end. The stack is whole if it
	// ends in a position with its offset, and in a creator unless it has none.
	id := b.g.ID
	if a := b.ancestor(); a != nil {
		id = a.ID
	}
	return !b.g.NoStack && !(t.offset && (b.full || id <= 1))
}
