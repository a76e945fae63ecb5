package diagnose

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// pool is the state of the pacer's slots.
type pool struct {
	limited  bool             // there is a limit
	object   *sim.ObjectState // nil: only the calls' own word is known
	at       int              // index of object in the evidence
	capacity int              // slots
	inUse    int              // slots held
	waiting  int              // calls, and agents between calls, that wait for a slot
	longest  time.Duration    // longest of these waits
	kept     []sim.Party      // holders that no longer work on what they took a slot for
	keeps    []bool           // per holder of object
}

// full says whether everybody who wants a slot has to wait for somebody to give one back.
func (p *pool) full() bool { return p.limited && p.inUse >= p.capacity }

// blocks says whether somebody waits because the pool is full.
func (p *pool) blocks() bool { return p.full() && p.waiting > 0 }

func poolOf(ev *harness.Evidence) pool {
	p := pool{capacity: ev.Setup.Slots, limited: ev.Setup.Slots > 0}
	for i := range ev.Objects {
		if o := &ev.Objects[i]; o.Name == SlotObject && o.Kind == "semaphore" {
			p.object, p.at, p.limited = o, i, true
			p.capacity, p.inUse, p.waiting = o.Capacity, o.InUse, len(o.Waiters)
			for _, w := range o.Waiters {
				p.longest = max(p.longest, age(ev.At, w.Since))
			}
			p.findKept(ev)
			break
		}
	}
	held, calls, agents := 0, 0, 0
	for i := range ev.Calls {
		c := &ev.Calls[i]
		if c.HoldsSlot {
			held++
		}
		if c.Stage == pacer.StageSlot {
			calls++
			p.longest = max(p.longest, age(ev.At, c.Since))
		}
	}
	for i := range ev.Agents {
		if ev.Agents[i].Stage == pacer.StageSlot {
			agents++
		}
	}
	if p.object == nil {
		p.inUse = held
	}
	p.waiting = max(p.waiting, calls, agents)
	return p
}

// findKept compares the holders with the calls in flight. A slot is taken for a call: a holder whose
// call has ended, or does not hold it any longer by its own account, keeps it for nothing. With hold
// "agent" a slot is taken for the agent's life instead, and one permit is its due as long as it
// lives.
func (p *pool) findKept(ev *harness.Evidence) {
	p.keeps = make([]bool, len(p.object.Holders))
	rightful := rightfulHolders(ev, p.object)
	for h, who := range p.object.Holders {
		if !rightful[h] && age(ev.At, who.Since) >= waitMin {
			p.keeps[h] = true
			p.kept = append(p.kept, who)
		}
	}
}

// rightfulHolders says of each holder of a slot whether it still has use for it. Of several permits
// with one name the latest is the rightful one: an attempt that leaks its slot is followed by one
// that takes another.
func rightfulHolders(ev *harness.Evidence, o *sim.ObjectState) []bool {
	claims := make(map[string]bool, len(ev.Calls))
	byAgent := ev.Setup.Hold == "agent"
	if byAgent {
		for i := range ev.Agents {
			claims[ev.Agents[i].Name] = true
		}
	}
	for i := range ev.Calls {
		switch c := &ev.Calls[i]; {
		case byAgent && c.HoldsSlot:
			claims[c.Agent] = true
		case c.HoldsSlot:
			claims[c.ID] = true
		}
	}
	latest := make(map[string]int, len(o.Holders))
	for h, who := range o.Holders {
		key := slotKey(who, byAgent)
		if best, ok := latest[key]; claims[key] && (!ok || who.Since >= o.Holders[best].Since) {
			latest[key] = h
		}
	}
	rightful := make([]bool, len(o.Holders))
	for h, who := range o.Holders {
		key := slotKey(who, byAgent)
		best, ok := latest[key]
		// A holder that does not say what for cannot be told from a rightful one.
		rightful[h] = ok && best == h || key == ""
	}
	return rightful
}

func slotKey(who sim.Party, byAgent bool) string {
	if byAgent {
		return who.Name
	}
	return who.What
}

// keptOf says of a holder of any object whether it keeps its permit for nothing: for the slots as
// above, elsewhere if nobody of that name lives.
func (p *pool) keptOf(ev *harness.Evidence) func(object, holder int) bool {
	alive := make(map[string]bool, len(ev.Agents)+len(ev.Processes))
	for i := range ev.Agents {
		alive[ev.Agents[i].Name] = true
	}
	for i := range ev.Processes {
		alive[ev.Processes[i].Name] = true
	}
	for i := range ev.Calls {
		alive[ev.Calls[i].Agent] = true
	}
	return func(object, holder int) bool {
		if p.object != nil && object == p.at {
			return p.keeps[holder]
		}
		who := &ev.Objects[object].Holders[holder]
		return len(ev.Processes) > 0 && who.Name != "" && !alive[who.Name] && age(ev.At, who.Since) >= waitMin
	}
}
