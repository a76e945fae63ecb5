package sim

import "slices"

// stepShuffled is step for a world whose scheduler chooses among all that could happen next at this
// instant: the runnable processes in their order, then the due events in theirs. Always choosing the
// first is what step does.
func (k *Virtual) stepShuffled() {
	k.collectDue()
	n := k.ready.n + len(k.due)
	if n == 0 {
		k.deadlock()
		return
	}
	i := k.Choose("runnable", n)
	if i < k.ready.n {
		k.resume(k.ready.take(i))
		return
	}
	i -= k.ready.n
	e := k.due[i]
	k.due[i] = k.due[0] // as ring.take does
	k.due = k.due[1:]
	e.ev.seq = 0
	k.happen(e)
}

// collectDue moves the events of the current instant, or of the next one if nothing is left to do in
// this, from the heap to due. Sequence numbers grow, so that due stays in order.
func (k *Virtual) collectDue() {
	if k.dueSeen != k.heap.removals { // one of them may have been stopped
		k.dueSeen = k.heap.removals
		k.due = slices.DeleteFunc(k.due, func(e entry) bool { return e.ev.seq != e.seq })
	}
	e, ok := k.heap.first()
	at := k.now
	if ok && k.ready.n+len(k.due) == 0 {
		at = e.at
	}
	for ok && e.at <= at {
		k.heap.dropTop()
		k.due = append(k.due, e)
		e, ok = k.heap.first()
	}
}
