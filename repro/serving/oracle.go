package serving

import (
	"context"
	"errors"
	"time"
)

// ErrDead is what an attempt ends with that an oracle has ended: the servers would never have answered
// it, and have told so, which real ones do not.
var ErrDead = errors.New("serving: nothing more would have come")

// oracle looks after the requests that a client waits for, and ends those that are dead, and no others. It is
// no policy that anybody could have, but the bound of what time limits could achieve: no limit is faster, and none
// kills less.
type oracle struct {
	every time.Duration
	armed bool
}

// oversee begins to look after a request, which is one of the open ones, and returns the context that
// its client is to wait with. The monitor is held.
func (c *Client) oversee(ctx context.Context, b *body) context.Context {
	if c.oracle.every == 0 {
		return ctx
	}
	ctx, b.cancel = c.s.w.WithCancel(ctx)
	c.awaitDeath()
	return ctx
}

// awaitDeath has the oracle look again in a while. It looks only while there is something to see, so that a
// world in which nothing else is to happen has an end.
func (c *Client) awaitDeath() {
	if !c.oracle.armed && c.open != nil {
		c.oracle.armed = true
		c.s.w.AfterFunc(c.oracle.every, c.endDead)
	}
}

// endDead ends the requests that are dead. The monitor is held.
func (c *Client) endDead() {
	c.oracle.armed = false
	c.s.enter()
	for b := c.open; b != nil; b = b.next {
		if b.cancel != nil && b.h.s != nil && (b.h.severed || !b.h.r.over()) && b.h.fate().Kind == FateDead {
			b.cancel(ErrDead)
		}
	}
	c.awaitDeath()
}
