package sim

import (
	"context"
	"time"
)

// cancelContext is a cancellable context of a virtual world. The standard library's own would start
// goroutines behind the kernel's back; this one wakes the processes parked under it.
type cancelContext struct {
	k      *Virtual
	parent context.Context // for its values
	cause  error           // not nil once cancelled
	err    error           // what Err returns then
	done   chan struct{}   // made when asked for, for code that selects on it

	// members are the processes whose latest wait was under this context, linked by ctxNext. A
	// process stays a member when its wait ends, until it waits under another context: most wait
	// under one and the same for most of the time, and then nothing needs to be linked.
	members, lastMember *Process

	up             *cancelContext
	kids, lastKid  *cancelContext
	older, younger *cancelContext // its neighbours among up's kids
}

type cancelContextKey struct{}

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

func (c *cancelContext) Err() error { return c.err }

// cancelContextOf returns the nearest cancelContext whose end is the end of ctx, or nil if there is
// none. sound is false if something else can cancel ctx as well.
func cancelContextOf(ctx context.Context) (c *cancelContext, sound bool) {
	switch t := ctx.(type) {
	case *cancelContext:
		return t, true
	case *processContext:
		if t.owner != nil {
			return t.owner, true
		}
	}
	// What is in between may be a plain value, or context.WithoutCancel, or a cancel of the standard
	// library's: its Done tells.
	done := ctx.Done()
	if done == nil {
		return nil, true
	}
	c, _ = ctx.Value(cancelContextKey{}).(*cancelContext)
	if c == nil || c.Done() != done {
		return nil, false
	}
	return c, true
}

// ownerOf is cancelContextOf for a wait in this world.
func (k *Virtual) ownerOf(ctx context.Context) *cancelContext {
	c, sound := cancelContextOf(ctx)
	if !sound || c != nil && c.k != k {
		panic("sim: a virtual world was given a cancellable context that is not its own")
	}
	return c
}

// WithCancel implements World.
func (k *Virtual) WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	c := &cancelContext{k: k, parent: ctx, up: k.ownerOf(ctx)}
	if c.up != nil {
		if c.up.cause != nil {
			c.cause, c.err, c.up = c.up.cause, c.up.err, nil
		} else {
			c.up.adopt(c)
		}
	}
	return c, c.cancel
}

func (c *cancelContext) cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.cancelAs(cause, context.Canceled)
}

func (c *cancelContext) cancelAs(cause, err error) {
	if c.cause != nil {
		return
	}
	c.leave()
	c.spread(cause, err)
}

// spread cancels c and all below it: first those that wait under c, in the order in which they came
// to it, then its kids, oldest first.
func (c *cancelContext) spread(cause, err error) {
	c.cause, c.err = cause, err
	if c.done != nil {
		close(c.done)
	}
	for p := c.members; p != nil; {
		next := p.ctxNext
		p.in, p.ctxPrev, p.ctxNext = nil, nil, nil
		c.k.makeReady(p)
		p = next
	}
	c.members, c.lastMember = nil, nil
	for kid := c.kids; kid != nil; {
		next := kid.younger
		kid.up, kid.older, kid.younger = nil, nil, nil
		kid.spread(cause, err)
		kid = next
	}
	c.kids, c.lastKid = nil, nil
}

func (c *cancelContext) adopt(kid *cancelContext) {
	kid.older = c.lastKid
	if c.lastKid != nil {
		c.lastKid.younger = kid
	} else {
		c.kids = kid
	}
	c.lastKid = kid
}

// leave unlinks c from its parent, so that a context that has served its time is not kept alive.
func (c *cancelContext) leave() {
	if c.up == nil {
		return
	}
	if c.older != nil {
		c.older.younger = c.younger
	} else {
		c.up.kids = c.younger
	}
	if c.younger != nil {
		c.younger.older = c.older
	} else {
		c.up.lastKid = c.older
	}
	c.up, c.older, c.younger = nil, nil, nil
}

// admit makes p a member of c. It does nothing if c is nil: then nothing ends p's wait.
func (c *cancelContext) admit(p *Process) {
	if c == nil {
		return
	}
	p.in, p.ctxPrev = c, c.lastMember
	if c.lastMember != nil {
		c.lastMember.ctxNext = p
	} else {
		c.members = p
	}
	c.lastMember = p
}

// leaveContext ends p's membership.
func (p *Process) leaveContext() {
	c := p.in
	if c == nil {
		return
	}
	if p.ctxPrev != nil {
		p.ctxPrev.ctxNext = p.ctxNext
	} else {
		c.members = p.ctxNext
	}
	if p.ctxNext != nil {
		p.ctxNext.ctxPrev = p.ctxPrev
	} else {
		c.lastMember = p.ctxPrev
	}
	p.in, p.ctxPrev, p.ctxNext = nil, nil, nil
}
