package pacer

import (
	"context"

	"example.com/wedge/harness/sim"
)

// hold is a slot that an agent keeps over several calls. Guarded by the monitor.
type hold struct {
	p     *Pacer
	agent string
	outer *hold // of another agent's, or another pacer's; nil: none

	permit permit
	taken  bool
	closed bool // its time is over
}

type holdKey struct{}

// permit is a slot held: of the semaphore, or of the line if there is one. The zero value is none.
type permit struct {
	lease sim.Lease
	pass  sim.Pass
}

// Hold lets an agent keep one slot over the calls that it makes, one after the other, with the
// returned context; the returned function ends that, gives the slot back, and may be called more
// than once. The slot is taken by the first of the calls, so that the wait for it is that call's
// [StageSlot]. A Hold within a Hold of the same agent changes nothing. An agent that was started
// under another's Hold needs a slot of its own: this is how nested calls come to a deadlock.
//
// Unless the configuration says hold: agent, Hold does nothing. The error is the cause of ctx.
func (p *Pacer) Hold(ctx context.Context, id Identity) (context.Context, func(), error) {
	nothing := func() {}
	if err := sim.Cause(ctx); err != nil {
		return ctx, nothing, err
	}
	if p.config.Hold != HoldAgent || p.slots == nil && p.line == nil || p.holdOf(ctx, id.Agent) != nil {
		return ctx, nothing, nil
	}
	outer, _ := ctx.Value(holdKey{}).(*hold)
	h := &hold{p: p, agent: id.Agent, outer: outer}
	return context.WithValue(ctx, holdKey{}, h), h.close, nil
}

// holdOf returns the open hold of an agent that ctx carries, or nil.
func (p *Pacer) holdOf(ctx context.Context, agent string) *hold {
	h, _ := ctx.Value(holdKey{}).(*hold)
	if h == nil {
		return nil
	}
	p.w.Lock()
	defer p.w.Unlock()
	for ; h != nil; h = h.outer {
		if h.p == p && h.agent == agent && !h.closed {
			return h
		}
	}
	return nil
}

func (h *hold) close() {
	h.p.w.Lock()
	held := h.permit
	h.closed, h.taken, h.permit = true, false, permit{}
	h.p.w.Unlock()
	h.p.giveBack(held)
}

// takeSlot waits for a slot, unless the call has one. It only enters StageSlot if it has to wait.
func (c *call) takeSlot(ctx context.Context) error {
	if err := sim.Cause(ctx); err != nil {
		return err
	}
	if c.p.line != nil {
		return c.takeInLine(ctx)
	}
	if c.p.slots == nil || c.state.HoldsSlot || c.held != nil && c.useHeld() {
		return nil
	}
	who := sim.Party{Name: c.state.Agent, What: c.state.ID}
	lease, ok := c.p.slots.TryAcquire(who)
	if !ok {
		c.move(StageSlot)
		var err error
		if lease, err = c.p.slots.Acquire(ctx, who); err != nil {
			return err
		}
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.keep(permit{lease: lease})
	return nil
}

// useHeld uses the slot that the agent keeps, if it has one by now.
func (c *call) useHeld() bool {
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.state.HoldsSlot = c.held.taken
	return c.held.taken
}

// keep notes a fresh slot. It becomes the agent's to keep if there is a hold without one, else it is
// the call's own. The monitor is held.
func (c *call) keep(got permit) {
	c.state.HoldsSlot = true
	if h := c.held; h != nil && !h.taken && !h.closed {
		h.permit, h.taken = got, true
		return
	}
	c.permit = got
}

// passed gives the slot back if it is held only until the first of the call's attempts has come so far.
func (t *try) passed(until Hold) {
	if t.c.p.config.Hold == until {
		t.c.giveSlot()
	}
}

// giveSlot gives the call's own slot back, if it has one. One that the agent keeps is not its own.
func (c *call) giveSlot() {
	if !c.p.hedges && c.permit == (permit{}) { // else other attempts' processes may give it as well
		return
	}
	c.p.w.Lock()
	held := c.permit
	if held != (permit{}) {
		c.permit, c.state.HoldsSlot = permit{}, false
	}
	c.p.w.Unlock()
	if held != (permit{}) {
		c.p.giveBack(held)
	}
}

// forgetSlot loses track of the slot without giving it back: the classic bug. The monitor is held.
func (c *call) forgetSlot() {
	c.state.HoldsSlot = false
	if c.permit != (permit{}) {
		c.permit = permit{}
	} else if c.held != nil {
		c.held.permit, c.held.taken = permit{}, false
	}
}

func (p *Pacer) giveBack(held permit) {
	if p.line != nil {
		p.w.Lock()
		defer p.w.Unlock()
		p.line.leave(held.pass)
		return
	}
	if err := held.lease.Release(); err != nil {
		panic(err) // each lease is kept in one place, and taken out of it to come here
	}
}
