package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// lockOrder: two locks are taken in two orders, and two holders wait for each other.
func lockOrder() cause {
	return cause{
		name: CauseLockOrder, outcome: Deadlocked, layer: LayerHarness,
		judge: judgeLockOrder,
		because: func(r *reading) string {
			return fmt.Sprintf("Agents wait for each other in a cycle: %s. Nothing outside can break it; %s stuck, those that queue behind included.",
				r.cycleText(), does(r.knot.stuck, "agent", "is", "are"))
		},
		next: func(r *reading) []string {
			return []string{
				"take the locks in one order everywhere, or hold one at a time",
				"look in the goroutine dump for the two stacks: each holds one of the locks further up",
			}
		},
	}
}

func judgeLockOrder(r *reading, j *judgement) {
	k := &r.knot
	switch {
	case k.found && (len(k.objects) > 0 || !k.slots):
		j.support(0.98)
		j.beside = "two agents deadlock: " + r.cycleText()
		j.pro("a cycle of waits: %s", r.cycleText())
		j.pro("each of these waits has stood for at least %s", secs(r.cycleAge()))
		if n := k.stuck - k.agents; n > 0 {
			j.pro("%s behind the cycle", does(n, "agent", "waits", "wait"))
		}
	case k.found:
		j.refute("the cycle of waits is over slots alone, no lock is part of it")
	default:
		if n := r.lockWaiters(); n > 0 {
			j.refute("%s for a lock, but there is no cycle: its holder can go on", does(n, "agent", "waits", "wait"))
			return
		}
		j.refute("nobody waits for a lock")
	}
}

// cycleAge is how long all waits and holds along the cycle have stood.
func (r *reading) cycleAge() time.Duration {
	g := &r.graph
	var least time.Duration
	for i, n := range g.cycle {
		next := g.cycle[(i+1)%len(g.cycle)]
		for _, e := range g.out[n] {
			if g.Edges[e].To == next && (i == 0 || g.Edges[e].For < least) {
				least = g.Edges[e].For
			}
		}
	}
	return least
}

// lockWaiters counts waits for semaphores other than slots and connections, so for locks.
func (r *reading) lockWaiters() int {
	n := 0
	for i := range r.now.Objects {
		if o := &r.now.Objects[i]; isLock(o) {
			n += len(o.Waiters)
		}
	}
	return n
}

func isLock(o *sim.ObjectState) bool {
	return o.Kind == "semaphore" && o.Name != SlotObject && o.Name != ConnectionObject
}
