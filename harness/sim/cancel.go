package sim

import (
	"context"
	"errors"
	"time"
)

// cancelContext is a cancellable context of a virtual world. The standard library's own would start
// goroutines behind the kernel's back; this one wakes the processes parked under it.
type cancelContext struct {
	k      *Virtual
	parent context.Context // for its values
	cause  error           // not nil once cancelled
	done   chan struct{}   // made when asked for, for code that selects on it

	up             *cancelContext
	kids           *cancelContext
	older, younger *cancelContext // its neighbours among up's kids
	parked         *Process       // those parked under it, linked by ctxNext
}

type cancelContextKey struct{}

// cancelContextOf returns the nearest cancelContext that ctx descends from, or nil.
func cancelContextOf(ctx context.Context) *cancelContext {
	if c, ok := ctx.(*cancelContext); ok {
		return c
	}
	c, _ := ctx.Value(cancelContextKey{}).(*cancelContext)
	return c
}

func (c *cancelContext) Value(key any) any {
	if key == (cancelContextKey{}) {
		return c
	}
	return c.parent.Value(key)
}

// Deadline reports none: in a virtual world a deadline is a timer.
func (c *cancelContext) Deadline() (time.Time, bool) { return time.Time{}, false }

func (c *cancelContext) Done() <-chan struct{} {
	if c.done == nil {
		c.done = make(chan struct{})
		if c.cause != nil {
			close(c.done)
		}
	}
	return c.done
}

func (c *cancelContext) Err() error {
	switch {
	case c.cause == nil:
		return nil
	case errors.Is(c.cause, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// WithCancel implements World.
func (k *Virtual) WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	c := &cancelContext{k: k, parent: ctx, up: cancelContextOf(ctx)}
	if c.up != nil {
		if c.up.cause != nil {
			c.cause = c.up.cause
		} else {
			c.up.adopt(c)
		}
	}
	return c, c.cancel
}

func (c *cancelContext) adopt(kid *cancelContext) {
	kid.younger = c.kids
	if c.kids != nil {
		c.kids.older = kid
	}
	c.kids = kid
}

// leave unlinks c from its parent, so that a context that has served its time is not kept alive.
func (c *cancelContext) leave() {
	if c.up == nil {
		return
	}
	if c.older != nil {
		c.older.younger = c.younger
	} else if c.up.kids == c {
		c.up.kids = c.younger
	}
	if c.younger != nil {
		c.younger.older = c.older
	}
	c.up, c.older, c.younger = nil, nil, nil
}

func (c *cancelContext) cancel(cause error) {
	if c.cause != nil {
		return
	}
	if cause == nil {
		cause = context.Canceled
	}
	c.leave()
	c.spread(cause)
}

func (c *cancelContext) spread(cause error) {
	c.cause = cause
	if c.done != nil {
		close(c.done)
	}
	for p := c.parked; p != nil; p = p.ctxNext {
		c.k.makeReady(p)
	}
	for kid := c.kids; kid != nil; {
		next := kid.younger
		kid.up, kid.older, kid.younger = nil, nil, nil
		kid.spread(cause)
		kid = next
	}
	c.kids = nil
}

func (c *cancelContext) attach(p *Process) {
	p.in, p.ctxPrev, p.ctxNext = c, nil, c.parked
	if c.parked != nil {
		c.parked.ctxPrev = p
	}
	c.parked = p
}

func (c *cancelContext) detach(p *Process) {
	if p.ctxPrev != nil {
		p.ctxPrev.ctxNext = p.ctxNext
	} else {
		c.parked = p.ctxNext
	}
	if p.ctxNext != nil {
		p.ctxNext.ctxPrev = p.ctxPrev
	}
	p.in, p.ctxPrev, p.ctxNext = nil, nil, nil
}
