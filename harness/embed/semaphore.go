package embed

import (
	"context"
	"errors"
	"sync"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Acquire waits for one of Options.Slots, first come first served, and begins a call: it is in stage
// slot until it has one, and requests with the context of the same agent are its attempts. The call
// ends with its first complete answer, or with release, which gives the slot back, unless an answer is
// still under way then; a second release does nothing. Without a limit it returns at once. The error is the cause of ctx, or that the
// watchdog is closed.
func (d *Watchdog) Acquire(ctx context.Context) (release func(), err error) {
	a := d.agentOf(ctx)
	d.w.Lock()
	if a == nil {
		a = d.nobody()
	}
	a.abandoned()
	c := a.begin()
	if a.held == nil {
		a.held = c
	}
	if d.slots != nil {
		c.stage(pacer.StageSlot)
	}
	d.w.Unlock()
	var lease sim.Lease
	if d.slots != nil {
		lease, err = d.slots.Acquire(ctx, a.party(c.state.ID))
	}
	d.w.Lock()
	defer d.w.Unlock()
	if err != nil {
		c.end(err)
		return nil, err
	}
	c.state.HoldsSlot = d.slots != nil
	return sync.OnceFunc(func() {
		c.released()
		_ = lease.Release() // it is the only one
	}), nil
}

// errReleased is the end of a call whose slot was given back before it had an answer.
var errReleased = errors.New("embed: the slot was given back without a complete answer")

// released says that the call's slot is being given back.
func (c *call) released() {
	w := c.agent.dog.w
	w.Lock()
	defer w.Unlock()
	c.state.HoldsSlot = false
	if c.agent.held == c {
		c.agent.held = nil
	}
	if !c.out {
		c.end(errReleased)
	}
}

// nobody returns an agent for one call of a context that belongs to none. The monitor is held.
func (d *Watchdog) nobody() *Agent {
	a := &Agent{dog: d, process: context.Background(), nameless: true}
	d.nameless++
	d.begin(a, "call", "", nil)
	return a
}

// Semaphore is a number of permits with a name, of which the evidence tells who holds and who waits.
// With one permit it is a lock. Make one with [Watchdog.Semaphore].
type Semaphore struct {
	dog *Watchdog
	s   *sim.Semaphore
}

// Semaphore returns a new semaphore: of a program's own pool, or lock. It panics if permits is not
// positive. Semaphores stay in the evidence for good, so they are for things that live as long as the
// program.
func (d *Watchdog) Semaphore(name string, permits int) *Semaphore {
	return &Semaphore{dog: d, s: sim.NewSemaphore(d.w, name, permits)}
}

// Acquire waits for a permit, first come first served. release gives it back; a second release does
// nothing. The error is the cause of ctx, or that the watchdog is closed.
func (s *Semaphore) Acquire(ctx context.Context) (release func(), err error) {
	who := sim.Party{Name: "somebody"}
	if a := s.dog.agentOf(ctx); a != nil {
		who = a.party("")
	}
	lease, err := s.s.Acquire(ctx, who)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { _ = lease.Release() }), nil
}

// Waiting says that the agent of ctx waits in stage rate or backoff: in a rate limiter of the program's
// own, or before it tries again. The wait ends with the call's next request. It belongs to the call
// that Acquire has begun; without one, nothing is noted.
func (d *Watchdog) Waiting(ctx context.Context, stage pacer.Stage) {
	a := d.agentOf(ctx)
	if a == nil || stage != pacer.StageRate && stage != pacer.StageBackoff {
		return
	}
	d.w.Lock()
	defer d.w.Unlock()
	if c := a.held; c != nil && !c.out {
		c.stage(stage)
	}
}
