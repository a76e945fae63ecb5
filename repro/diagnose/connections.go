package diagnose

import (
	"time"

	"example.com/wedge/harness/sim"
)

// connections is the state of the client's connections, as far as it can be seen: a client in memory
// has an object for them; one that dials shows only calls in stage connect.
type connections struct {
	limit   int // 0: none known
	have    int // requests that have one
	waiting int // calls that have waited for one for at least connectMin
	longest time.Duration
	full    bool // calls wait, and as many requests as may have a connection have one
	moving  int  // of those that have one: tokens arrive, or the servers work on them
}

func (r *reading) readConnections() connections {
	k := connections{limit: max(0, r.now.Setup.ConnectionsMax)}
	for i := range r.calls {
		switch c := &r.calls[i]; {
		case c.fate == fateConnect && c.quiet >= connectMin:
			k.waiting++
			k.longest = max(k.longest, c.quiet)
		case sent(c.CallState):
			k.have++
			if c.fate.alive() > 0 {
				k.moving++
			}
		}
	}
	if o := objectNamed(r.now.Objects, ConnectionObject); o != nil && o.Capacity > 0 {
		k.limit, k.have = o.Capacity, max(k.have, o.InUse)
	}
	k.full = k.waiting > 0 && k.limit > 0 && k.have >= k.limit
	return k
}

// objectNamed returns the semaphore of that name, or nil.
func objectNamed(objects []sim.ObjectState, name string) *sim.ObjectState {
	for i := range objects {
		if objects[i].Name == name && objects[i].Kind == "semaphore" {
			return &objects[i]
		}
	}
	return nil
}

// alive is how surely a call that holds a slot or a connection will finish by itself, 0 to 1. It
// weighs holders, not outcomes: a call that waits for an engine's queue is alive, but the queue is
// the better explanation if most holders are in it, so it counts half.
func (f fate) alive() float64 {
	switch f {
	case fateMoving, fateServed, fateFresh:
		return 1
	case fatePrefill, fateDecodeWait, fateRetracted, fateOpen, fateBackoff:
		return 0.5
	case fateUnanswered:
		return 0.25
	}
	return 0
}
