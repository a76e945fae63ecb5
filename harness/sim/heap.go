package sim

// event is something due at an instant: a process to resume, or else a function to call. It is
// embedded in its owner, so that queueing one allocates nothing.
type event struct {
	seq  uint64 // of the heap's entry that counts; 0 when not queued
	proc *Process
	fn   func()
}

// entry holds the key beside the pointer, so that comparing entries touches no event.
type entry struct {
	at  Instant
	seq uint64
	ev  *event
}

func (a entry) before(b entry) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// eventHeap is a 4-ary heap in the total order (instant, sequence). Four children fit into two cache
// lines, which beats a binary heap from a few dozen entries on.
//
// Taking an event out leaves its entry behind, dead: the event does not know its place, so that
// moving entries about writes nowhere else (with a thousand processes each such write is a cache
// miss). Dead entries are thrown away when they reach the top, or all at once when they are the
// majority, so that they cost a constant each and at most double the heap.
type eventHeap struct {
	entries  []entry
	dead     int    // at least as many as there are dead entries
	removals uint64 // calls of remove that took something out
}

// push queues ev, which must not be queued.
func (h *eventHeap) push(at Instant, seq uint64, ev *event) {
	ev.seq = seq
	h.entries = append(h.entries, entry{})
	h.up(len(h.entries)-1, entry{at: at, seq: seq, ev: ev})
}

// first returns the earliest entry without taking it, and whether there is one.
func (h *eventHeap) first() (entry, bool) {
	for len(h.entries) > 0 {
		top := h.entries[0]
		if top.ev.seq == top.seq {
			return top, true
		}
		h.dead--
		h.dropTop()
	}
	return entry{}, false
}

// pop takes the entry that first returned.
func (h *eventHeap) pop() {
	h.entries[0].ev.seq = 0
	h.dropTop()
}

// remove takes ev out of the queue, and says whether it was in it.
func (h *eventHeap) remove(ev *event) bool {
	if ev.seq == 0 {
		return false
	}
	ev.seq = 0
	h.dead++
	h.removals++
	const fewEnough = 64 // entries for which a sweep is not worth its while
	if h.dead > fewEnough && h.dead > len(h.entries)/2 {
		h.sweep()
	}
	return true
}

// sweep throws the dead entries away and makes a heap of the others. Since the order is total, what
// comes out of it later does not depend on how it was made.
func (h *eventHeap) sweep() {
	alive := h.entries[:0]
	for _, e := range h.entries {
		if e.ev.seq == e.seq {
			alive = append(alive, e)
		}
	}
	clear(h.entries[len(alive):])
	h.entries, h.dead = alive, 0
	for i := (len(alive)+2)/4 - 1; i >= 0; i-- {
		h.down(i, alive[i])
	}
}

func (h *eventHeap) dropTop() {
	n := len(h.entries) - 1
	last := h.entries[n]
	h.entries[n] = entry{}
	h.entries = h.entries[:n]
	if n > 0 {
		h.down(0, last)
	}
}

// up and down move the hole at i until e fits into it.
func (h *eventHeap) up(i int, e entry) {
	a := h.entries
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(a[parent]) {
			break
		}
		a[i] = a[parent]
		i = parent
	}
	a[i] = e
}

func (h *eventHeap) down(i int, e entry) {
	a := h.entries
	for {
		child := 4*i + 1
		if child >= len(a) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(a)); c++ {
			if a[c].before(a[least]) {
				least = c
			}
		}
		if !a[least].before(e) {
			break
		}
		a[i] = a[least]
		i = least
	}
	a[i] = e
}
