package sim

import "context"

// Latch is a door that opens once. It is safe for concurrent use. Make one with [NewLatch].
type Latch struct {
	w       World
	name    string
	label   string
	open    bool
	waiters waitList
}

// NewLatch returns a closed latch. If name is not empty, the world's Objects shows it for good.
func NewLatch(w World, name string) *Latch {
	l := &Latch{w: w, name: name, label: "latch " + name}
	if name != "" {
		w.register(l)
	}
	return l
}

// Open opens the latch for good. The monitor must not be held.
func (l *Latch) Open() {
	l.w.Lock()
	defer l.w.Unlock()
	l.OpenLocked()
}

// OpenLocked is Open with the monitor held, for the functions of timers.
func (l *Latch) OpenLocked() {
	l.open = true
	l.waiters.wakeAll(l.w)
}

// Wait waits until the latch is open. The monitor must not be held.
func (l *Latch) Wait(ctx context.Context) error {
	l.w.Lock()
	defer l.w.Unlock()
	if err := Cause(ctx); err != nil {
		return err
	}
	if l.open {
		return nil
	}
	return l.waiters.wait(ctx, l.w, l.label)
}

// Retire takes the latch off the world's Objects: for one of many that are made in the course of a run. It works
// as before. The monitor may be held or not.
func (l *Latch) Retire() { l.w.retire(l) }

func (l *Latch) state() ObjectState {
	st := ObjectState{Kind: "latch", Name: l.name, Capacity: 1, Holders: []Party{}, Waiters: l.waiters.parties()}
	if l.open {
		st.InUse = 1
	}
	return st
}
