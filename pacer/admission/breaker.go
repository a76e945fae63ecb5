package admission

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// State is that of a breaker.
type State string

// The states.
const (
	Closed   State = "closed"    // everything passes
	Open     State = "open"      // nothing does
	HalfOpen State = "half_open" // some probes do
)

// Ticket belongs to an attempt that a breaker let through, and goes back to it at the end. The zero
// value is an attempt that does not count.
type Ticket struct {
	generation int // of the breaker's states; 0: none
}

// Breaker stops attempts for a while after too many failed. Use [NewBreaker]; nil stops nothing. It is
// not safe for concurrent use, and is shared by all calls of a client.
type Breaker struct {
	c          BreakerConfig // with its defaults spelled out
	state      State
	generation int         // how many states there have been, this one included
	since      sim.Instant // of the state

	open, halfOpen time.Duration // in states before this one

	failures  int     // in a row, when closed
	n         buckets // a: attempts, b: failures, when closed
	places    int     // left for probes, when half-open; of no account with AllProbes
	succeeded int     // probes
	failed    int     // probes
}

// NewBreaker returns a closed breaker, or nil if the configuration, which must be valid, has none.
func NewBreaker(c BreakerConfig) *Breaker {
	if c.Off() {
		return nil
	}
	b := &Breaker{c: c.WithDefaults()}
	if c.Rule == BreakerRate {
		b.n = newBuckets(b.c.FailureThresholdingPeriod, 10)
	}
	b.enter(0, Closed)
	return b
}

// Allow says whether an attempt may be sent, and gives it its ticket. retry: it is not the first of
// its call.
func (b *Breaker) Allow(now sim.Instant, retry bool) (Ticket, bool) {
	if b == nil {
		return Ticket{}, true
	}
	if b.State(now) != b.state {
		b.enter(now, HalfOpen)
	}
	switch {
	case b.state == Closed:
		return Ticket{b.generation}, true
	case b.c.RetryOnly && retry:
		return Ticket{}, false
	case b.state == HalfOpen && (b.places > 0 || b.c.AllProbes):
		b.places--
		return Ticket{b.generation}, true
	default:
		return Ticket{}, b.c.RetryOnly
	}
}

// Ended tells that an attempt that was let through has come to the point at which it is judged, and
// whether it went well. It is said once for a ticket.
func (b *Breaker) Ended(now sim.Instant, t Ticket, ok bool) {
	if b == nil || !b.counts(t) {
		return
	}
	switch {
	case b.state == HalfOpen:
		b.probed(now, ok)
	case b.state == Closed && b.trips(now, ok):
		b.enter(now, Open)
	}
}

// Canceled tells that an attempt is over without having come to that point, and says nothing of the
// server, such as one that its agent has given up. A probe's place becomes free.
func (b *Breaker) Canceled(t Ticket) {
	if b != nil && b.state == HalfOpen && b.counts(t) {
		b.places++
	}
}

// counts says whether an attempt with the ticket counts in the present state.
func (b *Breaker) counts(t Ticket) bool {
	return t.generation == b.generation || b.c.LateCounts && t.generation != 0
}

// State returns the state at an instant. A breaker whose delay is over is half-open, although nothing
// has asked yet.
func (b *Breaker) State(now sim.Instant) State {
	switch {
	case b == nil:
		return Closed
	case b.state == Open && now.Sub(b.since) >= b.c.Delay:
		return HalfOpen
	default:
		return b.state
	}
}

// Spent returns how long the breaker has been open so far, and half-open.
func (b *Breaker) Spent(now sim.Instant) (open, halfOpen time.Duration) {
	if b == nil {
		return 0, 0
	}
	in := now.Sub(b.since)
	switch b.state {
	case Open:
		open = min(in, b.c.Delay)
		halfOpen = in - open // although nothing has asked yet
	case HalfOpen:
		halfOpen = in
	}
	return b.open + open, b.halfOpen + halfOpen
}

// JudgeBy says when [Breaker.Ended] is to be called.
func (b *Breaker) JudgeBy() JudgeBy {
	if b == nil {
		return JudgeByEnd
	}
	return b.c.JudgeBy
}

// trips counts an attempt that ended in the closed state, and says whether it opens the breaker.
func (b *Breaker) trips(now sim.Instant, ok bool) bool {
	if b.c.Rule == BreakerConsecutive {
		b.failures++
		if ok {
			b.failures = 0
		}
		return b.failures >= b.c.FailureThreshold
	}
	failed := int64(1)
	if ok {
		failed = 0
	}
	b.n.add(now, 1, failed)
	n, bad := b.n.sums(now)
	rate := math.Round(100*float64(bad)/float64(n)) / 100
	return n >= int64(b.c.FailureExecutionThreshold) && rate >= b.c.FailureRateThreshold
}

// probed counts a probe's end.
func (b *Breaker) probed(now sim.Instant, ok bool) {
	if ok {
		b.succeeded++
	} else {
		b.failed++
	}
	if b.c.LateCounts {
		b.places++
	}
	switch {
	case b.succeeded >= b.c.ProbeSuccesses:
		b.enter(now, Closed)
	case b.failed > max(0, b.c.Probes-b.c.ProbeSuccesses):
		b.enter(now, Open)
	}
}

func (b *Breaker) enter(now sim.Instant, s State) {
	b.open, b.halfOpen = b.Spent(now)
	b.state, b.since = s, now
	b.generation++
	b.failures, b.succeeded, b.failed = 0, 0, 0
	b.places = b.c.Probes
	b.n.clear()
}
