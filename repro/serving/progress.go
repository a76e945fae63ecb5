package serving

import "example.com/wedge/pacer"

// Progress says what has reached the client by now, with the monitor held. Bytes and events are those
// of a stream with an event for each token.
func (h *Handle) Progress() pacer.Progress {
	if h.severed {
		return h.frozen
	}
	h.s.enter()
	r := &h.r
	var p pacer.Progress
	if tokens, last := r.seen(); tokens > 0 {
		p.Tokens, p.LastByte, p.LastEvent, p.LastToken = tokens, last, last, last
		p.Events = 1 + tokens                    // the first has the role
		if r.holdFrom == 0 && r.heldUntil == 0 { // else many come together
			p.GapMax = r.gapSoFar()
		}
		if r.closed && !r.cut && r.inBand == nil {
			p.Events += 2 // finish and usage
		}
	}
	if r.closed && r.inBand != nil {
		p.Events++
		_, until := r.held(h.s.now())
		p.LastByte = max(r.closedAt, until)
		p.LastEvent = p.LastByte
	}
	p.Bytes = int64(p.Events)*eventBytes + int64(p.Tokens)*pacer.BytesPerToken
	if n, last := r.comments(); n > 0 {
		p.Bytes += int64(n) * commentBytes
		p.LastByte = last
	}
	return p
}

const (
	// eventBytes is what an event has besides its text: the frame, ids and nulls of a chunk.
	eventBytes = 232
	// commentBytes is the size of a comment such as ": keep-alive" with its line breaks.
	commentBytes = 14
)
