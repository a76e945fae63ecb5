package requestlog

import "time"

// A request is one that has started, or several with one id.
type request struct {
	id    string
	since time.Time
	n     int // that are open
}

// waiting are the open requests.
type waiting struct {
	byID  map[string]*request
	order []*request // by start; those with n == 0 are not open any more
	n     int
}

// start opens a request, and returns how many old ones were forgotten for it.
func (w *waiting) start(id []byte, at time.Time) (forgotten int64) {
	w.n++
	if r := w.byID[string(id)]; r != nil {
		r.n++
		return 0
	}
	r := &request{id: string(id), since: at, n: 1}
	w.byID[r.id] = r
	w.order = append(w.order, r)
	if len(w.byID) > openMax {
		forgotten = int64(w.forget())
	}
	if len(w.order) > 2*len(w.byID)+1024 {
		w.order = w.listed()
	}
	return forgotten
}

// forget drops the oldest.
func (w *waiting) forget() (n int) {
	for i, r := range w.order {
		if r.n > 0 {
			n, r.n = r.n, 0
			w.n -= n
			delete(w.byID, r.id)
			w.order = w.order[i+1:]
			return n
		}
	}
	return 0
}

// finish closes a request and returns since when it was open; ok is false if it
// was not. Of several with one id, which was the first is not known once one has
// ended.
func (w *waiting) finish(id []byte) (since time.Time, ok bool) {
	r := w.byID[string(id)]
	if r == nil {
		return since, false
	}
	w.n--
	if r.n--; r.n == 0 {
		delete(w.byID, r.id)
		return r.since, true
	}
	return time.Time{}, true
}

// listed returns the open ones by start.
func (w *waiting) listed() []*request {
	out := make([]*request, 0, len(w.byID))
	for _, r := range w.order {
		if r.n > 0 {
			out = append(out, r)
		}
	}
	return out
}

// early are finished requests whose started line has not come.
type early struct {
	byID  map[string]Event
	order []string
}

func (e *early) add(ev *Event) {
	id := string(ev.ID)
	if _, ok := e.byID[id]; !ok {
		e.order = append(e.order, id)
	}
	e.byID[id] = Event{At: ev.At, Latency: ev.Latency}
	if len(e.order) > earlyMax {
		delete(e.byID, e.order[0])
		e.order = e.order[1:]
	}
}

// take returns the end that belongs to a start: one that is not before it.
func (e *early) take(start *Event) (end Event, ok bool) {
	end, ok = e.byID[string(start.ID)]
	if !ok || end.At.Before(start.At) || end.At.IsZero() {
		return end, false
	}
	delete(e.byID, string(start.ID))
	return end, true
}
