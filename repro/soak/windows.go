package soak

import (
	"time"

	"example.com/wedge/repro/series"
)

// keptMax bounds how many windows are kept in memory, and readings of the process. Beyond it neighbours become one.
const keptMax = 512

// history is what is kept of the windows of a soak: those of the warm-up, and the others. Each has room for so many;
// then neighbours are merged, so that a soak of any length takes the same memory. Make one with
// newHistory.
type history struct {
	warmUpS float64 // windows that begin before do not count
	early   shelf
	rest    shelf
	totals  Totals
	packer  packer
}

// shelf has room for windows from the first one on, so that what a soak takes is the same at its end.
type shelf struct {
	windows []packed
	room    []byte // of slotBytes for each
}

func newHistory(warmUpS float64) history {
	return history{warmUpS: warmUpS, early: newShelf(), rest: newShelf()}
}

func newShelf() shelf {
	return shelf{windows: make([]packed, 0, keptMax+1), room: make([]byte, (keptMax+1)*slotBytes)}
}

// slotBytes is enough for most windows when they are packed; a larger one has room of its own.
const slotBytes = 2 << 10

// put puts a window at place i.
func (s *shelf) put(i int, p packed) {
	s.windows[i] = append(s.room[i*slotBytes:i*slotBytes:(i+1)*slotBytes], p...)
}

// add takes in a window that has been closed.
func (h *history) add(w *series.Window) error {
	h.totals.add(w)
	one, err := h.packer.pack(w)
	if err != nil {
		return err
	}
	list := &h.rest
	if w.FromS < h.warmUpS {
		list = &h.early
	}
	list.windows = append(list.windows, nil)
	list.put(len(list.windows)-1, one)
	if len(list.windows) <= keptMax {
		return nil
	}
	return h.halve(list)
}

// halve merges windows in pairs.
func (h *history) halve(list *shelf) error {
	all := list.windows
	n := 0
	for i := 0; i < len(all); i += 2 {
		both := all[i]
		if i+1 < len(all) {
			var err error
			if both, err = h.merge(all[i], all[i+1]); err != nil {
				return err
			}
		}
		list.put(n, both)
		n++
	}
	clear(all[n:])
	list.windows = all[:n]
	return nil
}

func (h *history) merge(a, b packed) (packed, error) {
	first, err := h.packer.unpack(a)
	if err != nil {
		return nil, err
	}
	second, err := h.packer.unpack(b)
	if err != nil {
		return nil, err
	}
	both, err := series.Merge(first, second)
	if err != nil {
		return nil, err
	}
	return h.packer.pack(&both)
}

// after returns the windows after the warm-up, in order.
func (h *history) after() ([]series.Window, error) { return h.unpack(nil, &h.rest) }

// all returns the windows in order.
func (h *history) all() ([]series.Window, error) {
	windows, err := h.unpack(make([]series.Window, 0, len(h.early.windows)+len(h.rest.windows)), &h.early)
	if err != nil {
		return windows, err
	}
	return h.unpack(windows, &h.rest)
}

func (h *history) unpack(to []series.Window, list *shelf) ([]series.Window, error) {
	for _, b := range list.windows {
		w, err := h.packer.unpack(b)
		if err != nil {
			return to, err
		}
		to = append(to, w)
	}
	return to, nil
}

// readings are what is kept of the process: every stride-th reading, and the latest.
type readings struct {
	kept   []series.Process
	stride int // 0: each one
	seen   int
}

func (r *readings) add(p series.Process) {
	r.stride = max(r.stride, 1)
	last := len(r.kept) - 1
	switch {
	case last >= 1 && (r.seen-1)%r.stride != 0: // the latest before is not one to be kept
		r.kept[last] = p
	default:
		r.kept = append(r.kept, p)
	}
	r.seen++
	if len(r.kept) <= keptMax {
		return
	}
	// Readings do not merge: of memory at two instants, each is as good as their mean.
	out := r.kept[:0]
	for i := 0; i < len(r.kept); i += 2 {
		out = append(out, r.kept[i])
	}
	if len(r.kept)%2 == 0 {
		out = append(out, r.kept[len(r.kept)-1])
	}
	r.kept, r.stride = out, r.stride*2
}

// after returns the readings from an instant of the run's clock on.
func (r *readings) after(from time.Duration) []series.Process {
	for i := range r.kept {
		if r.kept[i].AtS >= from.Seconds() {
			return r.kept[i:]
		}
	}
	return nil
}
