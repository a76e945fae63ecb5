package sim

// event is something due at an instant: a process to resume, or else a function to call. It is
// embedded in its owner, so that queueing one allocates nothing.
type event struct {
	pos  int // index in the heap plus one; 0 when not queued
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
type eventHeap []entry

func (h *eventHeap) push(e entry) {
	*h = append(*h, e)
	h.up(len(*h)-1, e)
}

func (h *eventHeap) pop() entry {
	top := (*h)[0]
	h.removeAt(0)
	return top
}

// remove takes ev out of the queue, and says whether it was in it.
func (h *eventHeap) remove(ev *event) bool {
	if ev.pos == 0 {
		return false
	}
	h.removeAt(ev.pos - 1)
	return true
}

func (h *eventHeap) removeAt(i int) {
	a := *h
	a[i].ev.pos = 0
	last := a[len(a)-1]
	a[len(a)-1] = entry{}
	*h = a[:len(a)-1]
	if i == len(*h) {
		return
	}
	if i > 0 && last.before((*h)[(i-1)/4]) {
		h.up(i, last)
		return
	}
	h.down(i, last)
}

// up and down move the hole at i until e fits into it.
func (h *eventHeap) up(i int, e entry) {
	a := *h
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(a[parent]) {
			break
		}
		a[i] = a[parent]
		a[i].ev.pos = i + 1
		i = parent
	}
	a[i] = e
	e.ev.pos = i + 1
}

func (h *eventHeap) down(i int, e entry) {
	a := *h
	for {
		first := 4*i + 1
		if first >= len(a) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(a)); c++ {
			if a[c].before(a[least]) {
				least = c
			}
		}
		if !a[least].before(e) {
			break
		}
		a[i] = a[least]
		a[i].ev.pos = i + 1
		i = least
	}
	a[i] = e
	e.ev.pos = i + 1
}
