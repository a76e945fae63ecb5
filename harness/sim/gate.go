package sim

import (
	"context"
	"fmt"
)

// Gate hands out permits whose number may change, in an order that is its owner's: it knows by name
// who holds one and who waits, and parks and wakes them, but who is let in next, and when, and who is
// turned away, somebody else decides. See [Semaphore] for a fixed number, first come first served.
//
// All its methods but State must be called with the monitor held. In evidence it is a semaphore. Make
// one with [NewGate].
type Gate struct {
	w        World
	name     string
	label    string // what a process that waits for it says
	capacity int
	inUse    int
	holds    []hold // grows to the most that were ever held at once
	free     []int  // indices into holds, last one used first
	waiters  waitList
	twice    int // permits given back again
}

// Pass is a permit of a [Gate] held. The zero value is none. Copies stand for the same permit.
type Pass struct {
	g    *Gate
	slot int
	turn uint64
}

// Visitor is one wait at a [Gate]. It is used once.
type Visitor struct {
	Who Party // as evidence shows it; an empty name stands for the process that waits

	wt      *waiter // nil: does not wait
	pass    Pass
	refused error
}

// NewGate returns a gate with the given number of permits. If name is not empty, the world's Objects
// shows it for good. It panics if capacity is not positive.
func NewGate(w World, name string, capacity int) *Gate {
	if capacity <= 0 {
		panic(fmt.Sprintf("sim: NewGate %q: %d permits, want at least 1", name, capacity))
	}
	g := &Gate{w: w, name: name, label: "semaphore " + name, capacity: capacity}
	if name != "" {
		w.register(g)
	}
	return g
}

// CapacityLocked returns the number of permits.
func (g *Gate) CapacityLocked() int { return g.capacity }

// SetCapacityLocked changes the number of permits. Those that are held stay held, if need be above it,
// and nobody is let in by it.
func (g *Gate) SetCapacityLocked(n int) { g.capacity = max(1, n) }

// InUseLocked returns how many permits are held.
func (g *Gate) InUseLocked() int { return g.inUse }

// EnterLocked takes a permit at once, whatever the capacity.
func (g *Gate) EnterLocked(who Party) Pass {
	if len(g.free) == 0 {
		g.free = append(g.free, len(g.holds))
		g.holds = append(g.holds, hold{})
	}
	slot := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	g.inUse++
	who.Since = g.w.Now()
	g.holds[slot] = hold{who: who, turn: g.holds[slot].turn + 1, held: true}
	return Pass{g: g, slot: slot, turn: g.holds[slot].turn}
}

// WaitLocked waits until v is admitted or refused, or ctx is cancelled. The monitor is free during the
// wait, and held again at the return. Without an error the caller has the permit, even if ctx was
// cancelled after it had been admitted: then it is the caller's to give back.
func (g *Gate) WaitLocked(ctx context.Context, v *Visitor) (Pass, error) {
	if err := Cause(ctx); err != nil {
		return Pass{}, err
	}
	wt := g.w.waiterFor(ctx)
	if v.Who.Name == "" && wt.proc != nil {
		v.Who.Name = wt.proc.name
	}
	v.wt = wt
	defer func() { v.wt = nil }() // also when the process is unwound
	err := g.waiters.park(ctx, g.w, g.label, wt, v.Who)
	if err == nil {
		err = v.refused
	}
	return v.pass, err
}

// AdmitLocked ends the wait of v with a permit in its name. It panics if v does not wait.
func (g *Gate) AdmitLocked(v *Visitor) {
	g.take("AdmitLocked", v)
	v.pass = g.EnterLocked(v.Who)
	g.w.wake(v.wt)
}

// RefuseLocked ends the wait of v with an error. It panics if v does not wait.
func (g *Gate) RefuseLocked(v *Visitor, err error) {
	g.take("RefuseLocked", v)
	v.refused = err
	g.w.wake(v.wt)
}

func (g *Gate) take(op string, v *Visitor) {
	if v.wt == nil || v.wt.list != &g.waiters {
		panic(fmt.Sprintf("sim: gate %q: %s of %q, who does not wait", g.name, op, v.Who.Name))
	}
	g.waiters.remove(v.wt)
}

// LeaveLocked gives the permit back, and lets nobody in. Giving the same permit back twice is an error
// and changes nothing but a count in the gate's state; the zero Pass is ignored.
func (p Pass) LeaveLocked() error {
	if p.g == nil {
		return nil
	}
	h := &p.g.holds[p.slot]
	if !h.held || h.turn != p.turn {
		p.g.twice++
		return fmt.Errorf("sim: gate %q: permit %d was given back already", p.g.name, p.slot)
	}
	h.held = false
	p.g.free = append(p.g.free, p.slot)
	p.g.inUse--
	return nil
}

// State returns who holds and who waits, in the order in which they came.
func (g *Gate) State() ObjectState {
	g.w.Lock()
	defer g.w.Unlock()
	return g.state()
}

func (g *Gate) state() ObjectState {
	st := ObjectState{
		Kind: "semaphore", Name: g.name, Capacity: g.capacity, InUse: g.inUse,
		Waiters: g.waiters.parties(), GivenBackTwice: g.twice,
	}
	st.Holders = make([]Party, 0, g.inUse)
	for _, h := range g.holds {
		if h.held {
			st.Holders = append(st.Holders, h.who)
		}
	}
	return st
}
