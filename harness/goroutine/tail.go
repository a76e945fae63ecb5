package goroutine

import "bytes"

// A tail is what must be remembered of the last lines to tell whether the text
// was cut off.
type tail struct {
	used       bool  // the last line was used
	size       int64 // of the text so far, in bytes
	offset     bool  // the last position line had +0x…
	cut        bool  // the last line has no line end
	unfinished bool  // …, was not used, and looks like the start of a line that would be
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
func (p *parser) isTruncated() bool {
	b, t := p.cur, &p.tail
	switch {
	case p.call.kind == callGo, p.call.kind == callCreator:
		return true
	case b.open && b.isBare() && b.g.Kind != KindHeadless && p.dump.Form == FormDump:
		return true
	case !t.cut:
		return false
	case t.unfinished:
		return true
	case !t.used || p.dump.Form != FormDump:
		return false
	case t.size >= 1<<10 && t.size&(t.size-1) == 0:
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
