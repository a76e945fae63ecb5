package sim

import (
	"sync"
	"time"
)

// Timer calls a function once, later. Make one with World.AfterFunc. Its methods may be called with
// or without the monitor held, also from the function itself, and several at once.
type Timer struct {
	k    *Virtual // nil on the wall
	ev   event
	wall *wallTimer // nil in a virtual world
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
	t := &wallTimer{x: x, f: f}
	t.reset(d)
	return &Timer{wall: t}
}

// Stop prevents the call if it has not been made yet, and says whether it did.
func (t *Timer) Stop() bool {
	if t.wall != nil {
		return t.wall.stop()
	}
	return t.k.heap.remove(&t.ev)
}

// Reset puts the call off to d from now, whether it has been made or not.
func (t *Timer) Reset(d time.Duration) {
	if t.wall != nil {
		t.wall.reset(d)
		return
	}
	t.k.heap.remove(&t.ev)
	t.k.schedule(&t.ev, t.k.now.Add(max(d, 0)))
}

// wallTimer is a timer of the standard library, whose function may be on its way, waiting for the
// monitor, when it is stopped or reset. Such a latecomer finds that the timer is not armed, or not
// due yet.
type wallTimer struct {
	x *Wall
	f func()

	mu    sync.Mutex // taken after the monitor, if both are
	armed bool
	due   time.Time
	t     *time.Timer // made by the first reset
}

func (t *wallTimer) reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	real := t.x.real(d)
	t.armed, t.due = true, time.Now().Add(real)
	if t.t == nil {
		t.t = time.AfterFunc(real, t.fire)
	} else {
		t.t.Reset(real)
	}
}

func (t *wallTimer) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.armed
	t.armed = false
	t.t.Stop()
	return was
}

func (t *wallTimer) fire() {
	t.x.Lock()
	defer t.x.Unlock()
	returned := false
	defer t.x.caught("timer", &returned)
	if t.disarm() && !t.x.isStopped() {
		t.f()
	}
	returned = true
}

// disarm says whether the call is due, and that it is being made.
func (t *wallTimer) disarm() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.armed || time.Now().Before(t.due) {
		return false
	}
	t.armed = false
	return true
}
