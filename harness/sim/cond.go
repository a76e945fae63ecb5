package sim

import "context"

// Cond is where processes wait for a change of state that the monitor guards. It remembers nothing:
// whoever waits looks at the state first, with the monitor held, and again after each wake. The zero
// value is ready. It has no name, so that many may come and go; see [Semaphore], [Queue] and [Latch]
// for objects that keep state of their own.
type Cond struct {
	waiters waitList
}

// WaitLocked waits for the next WakeAllLocked. The monitor must be held; it is free during the wait
// and held again at the return. what is what the process says it waits for.
func (c *Cond) WaitLocked(ctx context.Context, w World, what string) error {
	if err := Cause(ctx); err != nil {
		return err
	}
	return c.waiters.wait(ctx, w, what)
}

// WakeAllLocked wakes all that wait. The monitor must be held.
func (c *Cond) WakeAllLocked(w World) { c.waiters.wakeAll(w) }
