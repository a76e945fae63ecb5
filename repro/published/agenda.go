package published

import "example.com/wedge/harness/sim"

// agenda holds attempts that are to be made later, ordered by instant, then by when they were added.
// The zero value is empty.
type agenda struct {
	heap  []entry
	added uint64
}

type entry struct {
	at    sim.Instant
	order uint64
	what  try
}

func (e *entry) before(other *entry) bool {
	return e.at < other.at || e.at == other.at && e.order < other.order
}

// next is the instant of the first entry, or Never.
func (a *agenda) next() sim.Instant {
	if len(a.heap) == 0 {
		return sim.Never
	}
	return a.heap[0].at
}

func (a *agenda) add(at sim.Instant, what try) {
	a.heap = append(a.heap, entry{at, a.added, what})
	a.added++
	for i := len(a.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.heap[i].before(&a.heap[parent]) {
			return
		}
		a.heap[i], a.heap[parent] = a.heap[parent], a.heap[i]
		i = parent
	}
}

// take removes the first entry, of which there must be one.
func (a *agenda) take() try {
	first, last := a.heap[0].what, len(a.heap)-1
	a.heap[0] = a.heap[last]
	a.heap = a.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.heap[child].before(&a.heap[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}
