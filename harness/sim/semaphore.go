package sim

import (
	"context"
	"fmt"
)

// Semaphore hands out a fixed number of permits, first come first served, and knows by name who
// holds one and who waits. With one permit it is a mutex. It is safe for concurrent use; its methods
// must be called without the monitor held, unless their names end in Locked. Make one with [NewSemaphore].
type Semaphore struct {
	w       World
	name    string
	label   string // what a process that waits for it says
	holds   []hold // one for each permit
	free    []int  // indices into holds, last one used first
	waiters waitList
	twice   int // releases of what had been given back
}

type hold struct {
	who  Party
	turn uint64 // counts the uses of this permit, so that an old lease cannot end a new hold
	held bool
}

// Lease is a permit held. The zero value is no lease. Leases are values: copies stand for the same
// permit.
type Lease struct {
	s    *Semaphore
	slot int
	turn uint64
}

// NewSemaphore returns a semaphore with the given number of permits. If name is not empty, the
// world's Objects shows it for good. It panics if permits is not positive.
func NewSemaphore(w World, name string, permits int) *Semaphore {
	if permits <= 0 {
		panic(fmt.Sprintf("sim: NewSemaphore %q: %d permits, want at least 1", name, permits))
	}
	s := &Semaphore{w: w, name: name, label: "semaphore " + name, holds: make([]hold, permits), free: make([]int, permits)}
	for i := range s.free {
		s.free[i] = permits - 1 - i
	}
	if name != "" {
		w.register(s)
	}
	return s
}

// Acquire waits for a permit. The party's name and purpose are shown to whoever asks for the state
// of the semaphore; an empty name stands for the calling process, and its Since is filled in.
func (s *Semaphore) Acquire(ctx context.Context, who Party) (Lease, error) {
	s.w.Lock()
	defer s.w.Unlock()
	if err := Cause(ctx); err != nil {
		return Lease{}, err
	}
	if who.Name == "" {
		if p := ProcessOf(ctx); p != nil {
			who.Name = p.name
		}
	}
	if len(s.free) > 0 { // then nobody waits: release hands permits on
		return s.take(who), nil
	}
	wt, err := s.waiters.waitFor(ctx, s.w, s.label, who)
	if err != nil {
		return Lease{}, err
	}
	// Release has put the permit in our name before it woke us, so nobody can have come in between.
	// A context that was cancelled after that gives it on to the next in line.
	lease := Lease{s: s, slot: wt.slot, turn: s.holds[wt.slot].turn}
	if err := Cause(ctx); err != nil {
		s.release(lease.slot)
		return Lease{}, err
	}
	return lease, nil
}

// TryAcquire takes a permit if one is free; while anybody waits, none is.
func (s *Semaphore) TryAcquire(who Party) (Lease, bool) {
	s.w.Lock()
	defer s.w.Unlock()
	if len(s.free) == 0 {
		return Lease{}, false
	}
	return s.take(who), true
}

// take puts a free permit in who's name.
func (s *Semaphore) take(who Party) Lease {
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	who.Since = s.w.Now()
	s.holds[slot] = hold{who: who, turn: s.holds[slot].turn + 1, held: true}
	return Lease{s: s, slot: slot, turn: s.holds[slot].turn}
}

// release hands a held permit to the first waiter, or frees it.
func (s *Semaphore) release(slot int) {
	s.holds[slot].held = false
	s.free = append(s.free, slot)
	if wt := s.waiters.pop(); wt != nil {
		wt.slot = s.take(wt.who).slot
		s.w.wake(wt)
	}
}

// Release gives the permit back. Giving the same permit back twice is an error and changes nothing but
// a count in the semaphore's state; the zero Lease is ignored.
func (l Lease) Release() error {
	if l.s == nil {
		return nil
	}
	l.s.w.Lock()
	defer l.s.w.Unlock()
	if h := l.s.holds[l.slot]; !h.held || h.turn != l.turn {
		l.s.twice++
		return fmt.Errorf("sim: semaphore %q: permit %d was given back already", l.s.name, l.slot)
	}
	l.s.release(l.slot)
	return nil
}

// InUseLocked returns how many permits are held. The monitor is held.
func (s *Semaphore) InUseLocked() int { return len(s.holds) - len(s.free) }

// State returns who holds and who waits.
func (s *Semaphore) State() ObjectState {
	s.w.Lock()
	defer s.w.Unlock()
	return s.state()
}

func (s *Semaphore) state() ObjectState {
	st := ObjectState{
		Kind: "semaphore", Name: s.name, Capacity: len(s.holds), InUse: s.InUseLocked(),
		Waiters: s.waiters.parties(), GivenBackTwice: s.twice,
	}
	st.Holders = make([]Party, 0, st.InUse)
	for _, h := range s.holds {
		if h.held {
			st.Holders = append(st.Holders, h.who)
		}
	}
	return st
}
