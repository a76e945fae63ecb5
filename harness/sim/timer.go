package sim

import (
	"sync/atomic"
	"time"
)

// Timer calls a function once, later. Make one with World.AfterFunc. Its methods may be called with
// or without the monitor held, also from the function itself.
type Timer struct {
	// virtual
	k  *Virtual
	ev event
	// wall
	x     *Wall
	f     func()
	armed atomic.Uint64 // counts arms and stops: a call that finds another count came too late
	t     atomic.Pointer[time.Timer]
}

// AfterFunc implements World.
func (k *Virtual) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{k: k}
	t.ev.fn = f
	k.schedule(&t.ev, k.now.Add(max(d, 0)))
	return t
}

// AfterFunc implements World.
func (x *Wall) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{x: x, f: f}
	t.arm(d)
	return t
}

func (t *Timer) arm(d time.Duration) {
	turn := t.armed.Add(1)
	old := t.t.Swap(time.AfterFunc(t.x.real(d), func() {
		t.x.Lock()
		defer t.x.Unlock()
		defer t.x.caught("timer")
		if t.armed.CompareAndSwap(turn, turn+1) && !t.x.isStopped() {
			t.f()
		}
	}))
	if old != nil {
		old.Stop()
	}
}

// Stop prevents the call if it has not been made yet, and says whether it did.
func (t *Timer) Stop() bool {
	if t.k != nil {
		return t.k.heap.remove(&t.ev)
	}
	t.armed.Add(1)
	return t.t.Load().Stop()
}

// Reset puts the call off to d from now, whether it has been made or not.
func (t *Timer) Reset(d time.Duration) {
	if t.k == nil {
		t.arm(d)
		return
	}
	t.k.heap.remove(&t.ev)
	t.k.schedule(&t.ev, t.k.now.Add(max(d, 0)))
}
