package soak

import (
	"time"

	"example.com/wedge/repro/series"
)

// keptMax bounds how many windows are kept in memory, and readings of the process. Beyond it neighbours become one.
const keptMax = 512

// history is what is kept of the windows of a soak: those of the warm-up, and the others. Each has room for so many;
// then neighbours are merged, so that a soak of any length takes the same memory. The zero value is empty.
type history struct {
	warmUpS float64 // windows that begin before do not count
	early   []series.Window
	rest    []series.Window
	totals  Totals
}

// add takes in a window that has been closed.
func (h *history) add(w series.Window) error {
	h.totals.add(&w)
	list := &h.rest
	if w.FromS < h.warmUpS {
		list = &h.early
	}
	*list = append(*list, w)
	if len(*list) <= keptMax {
		return nil
	}
	merged, err := halve(*list)
	*list = merged
	return err
}

// halve merges windows in pairs.
func halve(all []series.Window) ([]series.Window, error) {
	out := all[:0]
	for i := 0; i+1 < len(all); i += 2 {
		both, err := series.Merge(all[i], all[i+1])
		if err != nil {
			return all, err
		}
		out = append(out, both)
	}
	if len(all)%2 == 1 {
		out = append(out, all[len(all)-1])
	}
	clear(all[len(out):])
	return out, nil
}

// all returns the windows in order.
func (h *history) all() []series.Window {
	return append(append(make([]series.Window, 0, len(h.early)+len(h.rest)), h.early...), h.rest...)
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
