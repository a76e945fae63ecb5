package queue

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Waiter is somebody who wants a slot.
type Waiter struct {
	ID    uint64 // unique among those that wait
	Agent string // whose turn it is, under fair
	Retry bool   // it has had an attempt before
	// Deadline is when there is no use in it any more. sim.Never and 0: none.
	Deadline sim.Instant
}

// Reason says why a waiter was turned away.
type Reason string

// The reasons.
const (
	Full     Reason = "full"     // as many as Max wait
	Rejected Reason = "rejected" // by chance, since many wait: RejectFrom
	TooLong  Reason = "wait"     // it has waited for Wait
	Delayed  Reason = "codel"    // by controlled delay
	Dead     Reason = "dead"     // it cannot meet its deadline any more
)

// Shed is a waiter that is turned away.
type Shed struct {
	ID     uint64
	Reason Reason
	Waited time.Duration
}

// Queue is the line before the slots. Make one with [New].
type Queue struct {
	c      Config
	head   *entry // in the order in which they came
	tail   *entry
	n      int
	agents map[string]*agent
	turns  uint64      // of agents served
	wake   sim.Instant // nobody has waited for too long before
	empty  sim.Instant // when the queue was last empty
	codel  codel
}

// entry is one that waits.
type entry struct {
	w          Waiter
	since      sim.Instant
	expires    sim.Instant // sim.Never: it may wait for ever
	reason     Reason      // of being turned away then
	agent      *agent
	prev, next *entry
}

// agent is whose turn it is, under fair.
type agent struct {
	waiting int
	served  uint64 // the turn in which one of its calls was let in, or in which it came
}

// New returns an empty queue under a valid configuration.
func New(c Config) *Queue {
	return &Queue{c: c, agents: map[string]*agent{}, wake: sim.Never}
}

// Len returns how many wait.
func (q *Queue) Len() int { return q.n }

// Push takes in somebody who has found no free slot, or turns it away: then ok is false. limit is how
// many slots there are, and draw is uniform in [0, 1). Instants do not go back.
func (q *Queue) Push(now sim.Instant, w Waiter, limit int, draw float64) (reason Reason, ok bool) {
	if q.c.Max > 0 && q.n >= q.c.Max {
		return Full, false
	}
	if share := q.rejection(limit); share > 0 && share >= draw {
		return Rejected, false
	}
	if q.n == 0 {
		q.empty = now
	}
	e := &entry{w: w, since: now, expires: sim.Never, agent: q.agentOf(w.Agent)}
	if q.c.Wait > 0 {
		e.expires, e.reason = now.Add(q.c.Wait), TooLong
	}
	if q.c.CoDel == CoDelServer {
		if at := now.Add(q.patience(now)); at < e.expires {
			e.expires, e.reason = at, Delayed
		}
	}
	q.wake = min(q.wake, e.expires)
	q.link(e)
	return "", true
}

// rejection is the chance of being turned away at the door: failsafe-go's queueStats.
func (q *Queue) rejection(limit int) float64 {
	if q.c.RejectTo == 0 {
		return 0
	}
	from, to := int(float64(limit)*q.c.RejectFrom), int(float64(limit)*q.c.RejectTo)
	switch {
	case q.n < from:
		return 0
	case q.n >= to:
		return 1
	}
	return float64(q.n-from) / float64(to-from)
}

// patience is how long who comes now may wait under CoDelServer.
func (q *Queue) patience(now sim.Instant) time.Duration {
	if now.Sub(q.empty) <= q.c.interval() {
		return q.c.interval()
	}
	return q.c.target()
}

// Next takes out who is let in now, if anybody is: then ok is true. Those that are turned away on the
// way are appended to shed.
func (q *Queue) Next(now sim.Instant, shed []Shed) (id uint64, out []Shed, ok bool) {
	shed = q.Expire(now, shed)
	var e *entry
	if q.c.CoDel == CoDelRFC8289 {
		e, shed = q.controlled(now, shed)
	} else {
		e, shed = q.take(now, shed)
	}
	if e == nil {
		return 0, shed, false
	}
	q.turns++
	e.agent.served = q.turns
	return e.w.ID, shed, true
}

// take takes out whose turn it is, past those that are dead. nil: nobody waits.
func (q *Queue) take(now sim.Instant, shed []Shed) (*entry, []Shed) {
	for e := q.pick(); e != nil; e = q.pick() {
		q.unlink(e, now)
		d := e.w.Deadline
		if !q.c.DropDead || d == 0 || d == sim.Never || now.Add(q.c.Need) <= d {
			return e, shed
		}
		shed = append(shed, Shed{e.w.ID, Dead, now.Sub(e.since)})
	}
	return nil, shed
}

// pick returns whose turn it is, or nil.
func (q *Queue) pick() *entry {
	switch {
	case q.head == nil:
		return nil
	case q.c.Order == LIFO, q.c.Order == AdaptiveLIFO && q.n > q.c.LIFOAbove:
		return q.tail
	case q.c.Order == Fair:
		best := q.head
		for e := best.next; e != nil; e = e.next {
			if e.agent.served < best.agent.served {
				best = e
			}
		}
		return best
	case q.c.Order == RetriesFirst, q.c.Order == FirstTriesFirst:
		for e := q.head; e != nil; e = e.next {
			if e.w.Retry == (q.c.Order == RetriesFirst) {
				return e
			}
		}
	}
	return q.head
}

// Expire takes out those that have waited for too long, in the order in which they came, and appends
// them to shed.
func (q *Queue) Expire(now sim.Instant, shed []Shed) []Shed {
	if now < q.wake {
		return shed
	}
	q.wake = sim.Never
	for e := q.head; e != nil; {
		next := e.next
		if e.expires <= now {
			q.unlink(e, now)
			shed = append(shed, Shed{e.w.ID, e.reason, now.Sub(e.since)})
		} else {
			q.wake = min(q.wake, e.expires)
		}
		e = next
	}
	return shed
}

// NextWake returns when Expire should be called next. It may be too early, when who would have been
// turned away then has left, but not too late. sim.Never: not at all.
func (q *Queue) NextWake() sim.Instant { return q.wake }

// Remove takes out one that does not want to wait any more. It does nothing if it does not wait.
func (q *Queue) Remove(now sim.Instant, id uint64) {
	for e := q.head; e != nil; e = e.next {
		if e.w.ID == id {
			q.unlink(e, now)
			return
		}
	}
}

func (q *Queue) link(e *entry) {
	e.prev = q.tail
	if q.tail != nil {
		q.tail.next = e
	} else {
		q.head = e
	}
	q.tail = e
	q.n++
}

func (q *Queue) unlink(e *entry, now sim.Instant) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		q.head = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		q.tail = e.prev
	}
	e.prev, e.next = nil, nil
	q.n--
	if q.n == 0 {
		q.empty = now
	}
	if e.agent.waiting--; e.agent.waiting == 0 {
		delete(q.agents, e.w.Agent)
	}
}

// agentOf returns the agent's place in the round. Who comes with nothing waiting joins at its end, as
// if it had just been served.
func (q *Queue) agentOf(name string) *agent {
	a := q.agents[name]
	if a == nil {
		q.turns++
		a = &agent{served: q.turns}
		q.agents[name] = a
	}
	a.waiting++
	return a
}
