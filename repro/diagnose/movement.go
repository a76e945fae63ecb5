package diagnose

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// movement is what changed between two captures. The zero value is no comparison.
type movement struct {
	ok     bool
	over   time.Duration
	same   int // attempts that were in flight in both
	still  int // of these, those that got no token in between
	before map[string]*pacer.CallState
}

// compare looks at two captures of one run. An earlier capture that is not earlier is ignored.
func compare(now, before *harness.Evidence) movement {
	if before == nil || before.At >= now.At || before.Run != now.Run {
		return movement{}
	}
	m := movement{
		ok:     true,
		over:   age(now.At, before.At),
		before: make(map[string]*pacer.CallState, len(before.Calls)),
	}
	for i := range before.Calls {
		if c := &before.Calls[i]; c.AttemptID != "" {
			m.before[c.AttemptID] = c
		}
	}
	for i := range now.Calls {
		c := &now.Calls[i]
		if old := m.before[c.AttemptID]; old != nil && sent(c) {
			m.same++
			if c.Tokens <= old.Tokens {
				m.still++
			}
		}
	}
	return m
}

// quietFor is how long the call's attempt has gone without a token: since its last one, or, if it
// has had none or is not under way, since its stage began.
func (r *reading) quietFor(c *pacer.CallState) time.Duration {
	switch {
	case !sent(c): // what it received was of an attempt that has ended
		return age(r.now.At, c.Since)
	case c.Tokens > 0 && c.LastToken > 0:
		return age(r.now.At, c.LastToken)
	case c.Tokens > 0:
		// Nobody noted the instant. Two captures can still tell.
		if old := r.moved.before[c.AttemptID]; old != nil && c.Tokens > old.Tokens {
			return 0
		}
		return age(r.now.At, max(c.LastByte, c.Since))
	default:
		return age(r.now.At, c.Since)
	}
}

// gapOf is the call's own time between tokens, or between events if the server sends several tokens
// in one; 0 if it has had too few of them.
func gapOf(c *pacer.CallState) time.Duration {
	n := c.Tokens
	if c.Events > 1 && c.Events < n {
		n = c.Events
	}
	if c.Stage != pacer.StageStream || n < 2 || c.LastToken <= c.Since {
		return 0
	}
	return age(c.LastToken, c.Since) / time.Duration(n-1)
}

// soon is how long nothing may come from a server before that means anything. Where the servers are
// seen, they say what the silence means, and there is no hurry.
func (r *reading) soon() time.Duration {
	if r.now.Setup.StallAfter <= 0 || !r.blind() {
		return quietMin
	}
	return min(quietMin, max(soonMin, time.Duration(soonStalls*float64(r.now.Setup.StallAfter))))
}

// quietLimit is how long a stream with that gap between tokens may be quiet and count as moving.
func (r *reading) quietLimit(gap time.Duration) time.Duration {
	if gap > quietMax/quietGaps {
		return quietMax
	}
	return max(r.soon(), quietGaps*gap)
}

// silentLimit is how long a stream with that gap between tokens must be quiet to be called silent
// when nothing is known of the servers.
func (r *reading) silentLimit(gap time.Duration) time.Duration {
	if gap > time.Hour/quietGaps {
		return time.Hour
	}
	return max(quietMin, r.now.Setup.StallAfter, quietGaps*gap)
}

// unansweredLimit is how long a request must be without a first token to be given up when nothing is
// known of the servers.
func (r *reading) unansweredLimit() time.Duration {
	return max(unansweredMin, r.stalls(unansweredStalls))
}

// stalls is so many times the watchdog's patience.
func (r *reading) stalls(n int) time.Duration {
	const most = 100_000 * time.Hour // far above any setting
	return time.Duration(n) * min(max(0, r.now.Setup.StallAfter), most)
}

// blind says whether nothing at all is known of the servers.
func (r *reading) blind() bool { return !r.sides.Usable && r.gauges.loaded == 0 }

// counting says whether a counter of the servers moves: they produce something.
func (r *reading) counting() bool {
	for _, i := range [...]gaugeIndex{prefillTokens, decodeTokens} {
		if rate, _, ok := r.gauges.recent[i].rate(); ok && rate > 0 {
			return true
		}
	}
	return false
}

// bytesFlow says whether bytes arrive on a stream whose tokens have stopped: comments, or events
// without content.
func (r *reading) bytesFlow(c *callReading) bool {
	if old := r.moved.before[c.AttemptID]; old != nil && c.Bytes > old.Bytes && c.Tokens == old.Tokens {
		return true
	}
	last := max(c.LastToken, c.Since)
	return c.LastByte > last.Add(r.soon()) && age(r.now.At, c.LastByte) <= quietMax
}
