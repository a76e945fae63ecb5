package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// readAnswers finds the latest request that has had its headers, in flight or ended.
func (r *reading) readAnswers() {
	t := &r.now.Totals
	r.answered, r.answeredSent = t.Answered > 0, t.AnsweredSent
	for i := range r.calls {
		if c := r.calls[i].CallState; c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream {
			r.answered, r.answeredSent = true, max(r.answeredSent, c.Sent)
		}
	}
}

// waitsStuck says whether a call waits for its headers at the servers, in something that does not move.
// If prefill stands still, so does a call that only the router is seen to have, since gauges may be
// older than the call, one that was sent a moment ago, and one that a time limit or the servers' own
// has just ended.
func (r *reading) waitsStuck(c *callReading) bool {
	switch c.fate {
	case fatePrefillStuck, fateInflight, fateDecodeStuck, fateUnpaired:
		return true
	case fateRetracted:
		return r.gauges.stands(decodeTokens)
	case fateAtRouter:
		return !c.lost && r.gauges.stands(prefillTokens)
	case fateFresh:
		return c.Stage == pacer.StageHeaders && r.gauges.stands(prefillTokens)
	case fateBackoff:
		return r.gauges.stands(prefillTokens) && (limited(c.CallState) || r.gauges.grown(bootstrapFailed) > 0)
	}
	return false
}

// limited says whether the latest failure of a call was a time limit of the policy.
func limited(c *pacer.CallState) bool { return strings.Contains(c.LastError, "(limit ") }

// stuck counts the calls that wait for their headers at the servers, in something that does not move.
func (r *reading) stuck() int {
	n := 0
	for i := range r.calls {
		if r.waitsStuck(&r.calls[i]) {
			n++
		}
	}
	return n
}

// leftEarly is how many attempts the agents have left before their end in this run, and how many of
// those in the stall.
func (r *reading) leftEarly() (run, stall int) {
	return max(r.now.Totals.Left, r.now.Totals.AttemptsTimeout), max(r.now.Window.Left, r.now.Window.AttemptsTimeout)
}

// memoryFree says whether the decode side's memory was not seen to be anywhere near full.
func (r *reading) memoryFree() bool {
	kv := &r.gauges.stall[decodeKV]
	return (!kv.ok() || kv.max < memoryHigh) && r.gauges.grown(decodeRetracted) == 0
}

// together is a set of streams whose last bytes came at the same instant.
type together struct {
	n           int
	at          sim.Instant
	least, most int // tokens that they had received
}

// stoppedTogether finds the streams that stopped at one instant, at different places of their answers,
// while the decode engine went on: what they have in common is the way that their tokens came. Streams
// that a server drops part-way stop one by one, and those of an engine that hangs stop with it.
func (r *reading) stoppedTogether() together {
	var streams []*callReading
	for i := range r.calls {
		if c := &r.calls[i]; c.stopped() {
			streams = append(streams, c)
		}
	}
	slices.SortStableFunc(streams, func(a, b *callReading) int { return cmp.Compare(a.lastSign(), b.lastSign()) })
	from, to := largestGroup(streams)
	group := streams[from:to]
	if len(group) < togetherMin {
		return together{}
	}
	t := together{n: len(group), at: group[len(group)-1].lastSign(), least: group[0].Tokens}
	for _, c := range group {
		t.least, t.most = min(t.least, c.Tokens), max(t.most, c.Tokens)
	}
	if t.most-t.least < t.most/togetherSpread || r.madeSince(t.at.Add(togetherFor)) < float64(togetherTokens*t.n) {
		return together{}
	}
	for _, c := range group {
		c.together = true
	}
	return t
}

// madeSince is how many tokens decode was seen to make after an instant.
func (r *reading) madeSince(at sim.Instant) float64 {
	first, last, ok := 0.0, 0.0, false
	for i := range r.samples {
		v, has := valueOf(&r.samples[i], harness.GaugeDecodeTokens)
		switch {
		case !has || r.samples[i].At < at || r.samples[i].At > r.now.At:
		case !ok:
			first, last, ok = v, v, true
		default:
			last = max(last, v)
		}
	}
	return last - first
}

// largestGroup returns the bounds of the largest group of streams that stopped within togetherFor, of
// streams in the order in which they did.
func largestGroup(streams []*callReading) (from, to int) {
	start := 0
	for end := range streams {
		for streams[end].lastSign().Sub(streams[start].lastSign()) > togetherFor {
			start++
		}
		if end+1-start > to-from {
			from, to = start, end+1
		}
	}
	return from, to
}

// stopped says whether a call is a stream that has had tokens, and gets nothing any more.
func (c *callReading) stopped() bool {
	return c.Stage == pacer.StageStream && c.Tokens > 0 && c.fate != fateMoving && c.fate != fateRetracted && !c.bytes
}

// lastSign is when the call's attempt last got anything.
func (c *callReading) lastSign() sim.Instant { return max(c.LastToken, c.LastByte) }
