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
// has had none, since its stage began.
func (r *reading) quietFor(c *pacer.CallState) time.Duration {
	switch {
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

// quietLimit is how long a stream with that gap between tokens may be quiet and count as moving.
func quietLimit(gap time.Duration) time.Duration {
	if gap > quietMax/quietGaps {
		return quietMax
	}
	return max(quietMin, quietGaps*gap)
}

// bytesFlow says whether bytes arrive on a stream whose tokens have stopped: comments, or events
// without content.
func (r *reading) bytesFlow(c *callReading) bool {
	if old := r.moved.before[c.AttemptID]; old != nil && c.Bytes > old.Bytes && c.Tokens == old.Tokens {
		return true
	}
	last := max(c.LastToken, c.Since)
	return c.LastByte > last.Add(quietMin) && age(r.now.At, c.LastByte) <= quietMax
}
