package queue

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// codel is the state of RFC 8289, section 5, with a call for a packet.
type codel struct {
	above    sim.Instant // when waits will have been above the target for an interval; 0: they are not
	next     sim.Instant // of the next drop, while dropping
	count    int         // drops since dropping began
	last     int         // count when dropping began
	dropping bool
}

// controlled is take under RFC 8289.
func (q *Queue) controlled(now sim.Instant, shed []Shed) (*entry, []Shed) {
	c, interval := &q.codel, q.c.interval()
	drop := func(e *entry) { shed = append(shed, Shed{e.w.ID, Delayed, now.Sub(e.since)}) }
	e, shed := q.take(now, shed)
	late := q.late(e, now)
	if c.dropping {
		for c.dropping = late; c.dropping && now >= c.next; {
			drop(e)
			c.count++
			e, shed = q.take(now, shed)
			if c.dropping = q.late(e, now); c.dropping {
				c.next = after(c.next, interval, c.count)
			}
		}
		return e, shed
	}
	if !late {
		return e, shed
	}
	drop(e)
	e, shed = q.take(now, shed)
	// The state of this one counts for the estimator, but it is let in whatever it is.
	_ = q.late(e, now)
	c.dropping = true
	// Dropping that begins again soon after it had ended goes on about where it was.
	since := c.count - c.last
	c.count = 1
	if since > 1 && now.Sub(c.next) < 16*interval {
		c.count = since
	}
	c.next, c.last = after(now, interval, c.count), c.count
	return e, shed
}

// late says whether waits have been above the target for an interval by the time that e, which may be
// nil, has come to its turn. Nothing is late while hardly anybody waits behind it: the RFC never drops
// when the rest is a packet or less.
func (q *Queue) late(e *entry, now sim.Instant) bool {
	c := &q.codel
	if e == nil || now.Sub(e.since) < q.c.target() || q.n <= 1 {
		c.above = 0
		return false
	}
	if c.above == 0 {
		c.above = now.Add(q.c.interval())
		return false
	}
	return now >= c.above
}

// after is the control law: the next drop comes sooner the more there were.
func after(t sim.Instant, interval time.Duration, count int) sim.Instant {
	return t.Add(time.Duration(float64(interval) / math.Sqrt(float64(count))))
}
