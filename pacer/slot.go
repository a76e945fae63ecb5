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

	lease  sim.Lease
	taken  bool
	closed bool // its time is over
}

type holdKey struct{}

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
	if p.config.Hold != HoldAgent || p.slots == nil || p.holdOf(ctx, id.Agent) != nil {
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
	lease := h.lease
	h.closed, h.taken, h.lease = true, false, sim.Lease{}
	h.p.w.Unlock()
	giveBack(lease)
}

// takeSlot waits for a slot, unless the call has one. It only enters StageSlot if it has to wait.
func (c *call) takeSlot(ctx context.Context) error {
	if err := sim.Cause(ctx); err != nil {
		return err
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
	c.gotSlot(lease)
	return nil
}

// useHeld uses the slot that the agent keeps, if it has one by now.
func (c *call) useHeld() bool {
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.state.HoldsSlot = c.held.taken
	return c.held.taken
}

// gotSlot notes a fresh slot. It becomes the agent's to keep if there is a hold without one, else it
// is the call's own.
func (c *call) gotSlot(lease sim.Lease) {
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.state.HoldsSlot = true
	if h := c.held; h != nil && !h.taken && !h.closed {
		h.lease, h.taken = lease, true
		return
	}
	c.lease = lease
}

// giveSlot gives the call's own slot back, if it has one. One that the agent keeps is not its own.
func (c *call) giveSlot() {
	if c.lease == (sim.Lease{}) {
		return
	}
	c.p.w.Lock()
	lease := c.lease
	c.lease, c.state.HoldsSlot = sim.Lease{}, false
	c.p.w.Unlock()
	giveBack(lease)
}

// forgetSlot loses track of the slot without giving it back: the classic bug. The monitor is held.
func (c *call) forgetSlot() {
	c.state.HoldsSlot = false
	if c.lease != (sim.Lease{}) {
		c.lease = sim.Lease{}
	} else if c.held != nil {
		c.held.lease, c.held.taken = sim.Lease{}, false
	}
}

func giveBack(lease sim.Lease) {
	if err := lease.Release(); err != nil {
		panic(err) // each lease is kept in one place, and taken out of it to come here
	}
}
