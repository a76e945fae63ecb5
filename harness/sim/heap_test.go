package sim

import (
	"slices"
	"testing"
)

// sortedQueue is the event queue's naive twin: a slice kept in order.
type sortedQueue []entry

func (q *sortedQueue) push(e entry) {
	i, _ := slices.BinarySearchFunc(*q, e, func(a, b entry) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	*q = slices.Insert(*q, i, e)
}

func (q *sortedQueue) remove(ev *event) bool {
	i := slices.IndexFunc(*q, func(e entry) bool { return e.ev == ev })
	if i >= 0 {
		*q = slices.Delete(*q, i, i+1)
	}
	return i >= 0
}

// TestHeapAgainstSort drives both with the same random operations, mostly growing, then mostly
// removing, then mostly taking, over and over.
func TestHeapAgainstSort(t *testing.T) {
	s := NewStream(1, "heap", "operations")
	var pushed, popped, removed, refused, swept int
	for round := range 200 {
		var h eventHeap
		var twin sortedQueue
		events := make([]event, 1+s.IntN(300))
		seq := uint64(0)
		instants := 1 + s.IntN(50) // few, so that there are ties
		for range 2000 {
			mood := s.IntN(3)
			for range s.IntN(100) {
				ev := &events[s.IntN(len(events))]
				op := s.IntN(4)
				if op == 3 {
					op = mood
				}
				switch op {
				case 0:
					if ev.seq != 0 {
						continue
					}
					seq++
					e := entry{at: Instant(s.IntN(instants)), seq: seq, ev: ev}
					h.push(e.at, e.seq, ev)
					twin.push(e)
					pushed++
				case 1:
					before := len(h.entries)
					got, want := h.remove(ev), twin.remove(ev)
					if got != want {
						t.Fatalf("round %d: remove %v, want %v", round, got, want)
					}
					if got {
						removed++
					} else {
						refused++
					}
					if len(h.entries) < before {
						swept++
					}
				case 2:
					e, ok := h.first()
					if ok != (len(twin) > 0) || ok && e != twin[0] {
						t.Fatalf("round %d: first %v %v, want the first of %d", round, e, ok, len(twin))
					}
					if ok {
						h.pop()
						twin = twin[1:]
						popped++
					}
				}
				if len(h.entries) > 2*len(twin)+130 {
					t.Fatalf("round %d: %d entries for %d events", round, len(h.entries), len(twin))
				}
			}
			if s.IntN(100) == 0 {
				break
			}
		}
		for _, want := range twin {
			if e, ok := h.first(); !ok || e != want {
				t.Fatalf("round %d: at the end %v %v, want %v", round, e, ok, want)
			}
			h.pop()
		}
		if _, ok := h.first(); ok {
			t.Fatalf("round %d: more comes out than went in", round)
		}
	}
	for what, n := range map[string]int{"pushed": pushed, "popped": popped, "removed": removed, "refused": refused, "swept": swept} {
		if n == 0 {
			t.Errorf("never %s: the test tests nothing", what)
		}
	}
}

// TestRing compares with a slice; taking from the middle puts the first in the gap.
func TestRing(t *testing.T) {
	s := NewStream(1, "ring", "operations")
	var r ring
	var twin []*Process
	longest := 0
	for range 100_000 {
		if s.IntN(1000) < 499 && len(twin) > 0 {
			i := s.IntN(len(twin))
			want := twin[i]
			twin[i] = twin[0]
			twin = twin[1:]
			if r.take(i) != want {
				t.Fatal("the ring gave another process")
			}
		} else {
			p := new(Process)
			r.put(p)
			twin = append(twin, p)
		}
		longest = max(longest, r.n)
		if r.n != len(twin) {
			t.Fatalf("%d in the ring, want %d", r.n, len(twin))
		}
	}
	if longest <= 64 {
		t.Errorf("the ring never grew: at most %d", longest)
	}
}
