package harness

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"time"

	"example.com/wedge/harness/goroutine/container"
	"example.com/wedge/harness/requestlog"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// RouterLog is an io.Writer for the log of SGLang's router. It passes whole lines on, and keeps book
// of the requests that have a started line and no finished one. It does not mind colours, junk, and
// lines that come in pieces. It takes bounded memory, and never fails. Write is to be called with the
// monitor held, as simulated servers do, all else without. Make one with [NewRouterLog].
type RouterLog struct {
	w     sim.World
	tee   io.Writer
	start time.Time

	// Guarded by the monitor.

	partial    []byte     // of a line whose end has not come
	drop       bool       // the rest of the line is dropped, for it is too long
	plain      []byte     // scratch: a line without colours
	view       RouterView // without Open
	byID       map[string]*routerEntry
	started    routerList   // open ones, in the order of their start, but for:
	abandoned  routerList   // open ones of attempts that have ended, in the order of their end
	finished   routerList   // the latest that are not open any more, in the order of their end
	spare      *routerEntry // those used up, by newer
	latencies  int          // finished lines that had one
	latencySum float64      // ns; a sum of durations could overflow
	open       int          // requests, so the sum of n
}

// routerEntry is an open request, or several with one id, or one that has been answered.
type routerEntry struct {
	RouterRequest
	n            int          // open ones; 0: it has been answered
	left         bool         // it is of an attempt that has ended
	number       int          // of its started line
	answer       RouterAnswer // without ID; of the latest one with this id
	older, newer *routerEntry
}

// routerList is a list of entries.
type routerList struct {
	oldest, newest *routerEntry
	n              int
}

func (l *routerList) add(e *routerEntry) {
	e.older, e.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = e
	} else {
		l.oldest = e
	}
	l.newest = e
	l.n++
}

func (l *routerList) remove(e *routerEntry) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		l.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		l.newest = e.older
	}
	l.n--
}

// Bounds of a RouterLog.
const (
	routerLineMax = 64 << 10 // bytes of a line
	routerOpenMax = 64 << 10 // open requests; beyond that the oldest are forgotten, and counted
	routerLeftMax = 1 << 10  // of these, those whose attempts have ended
	routerDoneMax = 16 << 10 // finished ones that are remembered
)

// NewRouterLog returns a reader that passes lines on to tee, which may be nil. start is the calendar
// time at which the run began, for the log of a real router. The zero time is for a simulated router,
// whose timestamps are those of [sim.Instant.Time].
func NewRouterLog(w sim.World, tee io.Writer, start time.Time) *RouterLog {
	if tee == nil {
		tee = io.Discard
	}
	return &RouterLog{w: w, tee: tee, start: start, byID: map[string]*routerEntry{}}
}

// Write implements io.Writer. It never fails. The monitor must be held.
func (r *RouterLog) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			r.hold(rest)
			break
		}
		r.complete(rest[:end+1])
		rest = rest[end+1:]
	}
	return len(p), nil
}

// hold keeps the start of a line, unless it is too long to be one.
func (r *RouterLog) hold(piece []byte) {
	if r.drop || len(r.partial)+len(piece) > routerLineMax {
		r.partial, r.drop = r.partial[:0], true
		return
	}
	r.partial = append(r.partial, piece...)
}

// complete takes the end of a line, its line end included.
func (r *RouterLog) complete(line []byte) {
	if len(r.partial) > 0 || r.drop {
		r.hold(line)
		line = r.partial
		r.partial = r.partial[:0]
	}
	if r.drop || len(line) > routerLineMax {
		r.drop = false
		r.view.Skipped++
		return
	}
	_, _ = r.tee.Write(line) // a log keeps its errors
	if bytes.IndexByte(line, '\x1b') >= 0 {
		r.plain = container.AppendPlain(r.plain[:0], line)
		line = r.plain
	}
	ev, ok := requestlog.ParseRouterLine(line)
	if !ok || ev.Probe {
		r.view.Skipped++
		return
	}
	at := r.w.Now()
	if !ev.At.IsZero() {
		at = r.instant(ev.At)
	}
	r.view.Last = max(r.view.Last, at)
	if ev.Finished {
		r.finish(&ev, at)
	} else {
		r.begin(&ev, at)
	}
}

func (r *RouterLog) instant(at time.Time) sim.Instant {
	if r.start.IsZero() {
		return sim.InstantOf(at)
	}
	return sim.Instant(at.Sub(r.start))
}

func (r *RouterLog) begin(ev *requestlog.Event, at sim.Instant) {
	r.view.Started++
	r.open++
	e := r.byID[string(ev.ID)]
	switch {
	case e == nil:
		e = r.entry()
		*e = routerEntry{RouterRequest: RouterRequest{ID: string(ev.ID)}, number: r.view.Started}
		r.byID[e.ID] = e
	case e.n == 0: // one after the other with one id
		r.finished.remove(e)
		e.number = r.view.Started
	}
	if e.n == 0 {
		e.Since, e.Size = at, ev.Size
		r.started.add(e)
	}
	e.n++
	r.forget()
}

// entry returns room for a request: that of an earlier one, if there is any.
func (r *RouterLog) entry() *routerEntry {
	e := r.spare
	if e == nil {
		return new(routerEntry)
	}
	r.spare = e.newer
	return e
}

// forget keeps the bounds.
func (r *RouterLog) forget() {
	for r.abandoned.n > routerLeftMax {
		r.view.Abandoned += r.dropOldest(&r.abandoned)
	}
	for r.open > routerOpenMax && r.started.n > 0 {
		r.view.Forgotten += r.dropOldest(&r.started)
	}
	for r.finished.n > routerDoneMax {
		e := r.finished.oldest
		r.view.AnsweredFrom = max(r.view.AnsweredFrom, e.answer.At)
		r.finished.remove(e)
		r.discard(e)
	}
}

// dropOldest forgets the oldest of a list of open requests, and returns how many they were.
func (r *RouterLog) dropOldest(l *routerList) int {
	e := l.oldest
	r.open -= e.n
	l.remove(e)
	r.discard(e)
	return e.n
}

// discard keeps the room of an entry that is on no list any more.
func (r *RouterLog) discard(e *routerEntry) {
	delete(r.byID, e.ID)
	e.newer, r.spare = r.spare, e
}

func (r *RouterLog) finish(ev *requestlog.Event, at sim.Instant) {
	r.view.Finished++
	if ev.Status >= 400 {
		r.view.Errors++
	}
	answer := RouterAnswer{At: at, Status: ev.Status}
	// The router's latencies are in microseconds without saying so.
	if latency, ok := ev.Latency.Duration(requestlog.Microseconds); ok && latency <= lengthMax {
		answer.Latency = latency
		r.latencies++
		r.latencySum += float64(latency)
		r.view.LatencyMax = max(r.view.LatencyMax, latency)
	}
	e := r.byID[string(ev.ID)]
	if e == nil || e.n == 0 {
		return
	}
	r.open--
	e.answer = answer
	if e.n--; e.n > 0 {
		return
	}
	if e.left {
		r.abandoned.remove(e)
		r.discard(e)
		return
	}
	r.started.remove(e)
	r.finished.add(e)
	r.forget()
}

// attemptEnded says that nobody waits any more for the answer to the request of an id: it need not be
// remembered once it has been given. Only where somebody says so does the log of a long run keep to what is
// under way; otherwise it remembers the latest ones. The monitor is held.
func (r *RouterLog) attemptEnded(id string) {
	e := r.byID[id]
	switch {
	case e == nil:
	case e.left:
	case e.n > 0:
		e.left = true
		r.started.remove(e)
		r.abandoned.add(e)
		r.forget()
	default:
		r.finished.remove(e)
		r.discard(e)
	}
}

// answers returns the finished lines of the attempts in flight, and no line of one that is open again.
func (r *RouterLog) answers(calls []pacer.CallState) []RouterAnswer {
	r.w.Lock()
	defer r.w.Unlock()
	var out []RouterAnswer
	for i := range calls {
		if e := r.byID[calls[i].AttemptID]; e != nil && e.n == 0 {
			a := e.answer
			a.ID = e.ID
			out = append(out, a)
		}
	}
	return out
}

// View returns what the log has said so far, without Answered. The monitor must not be held.
func (r *RouterLog) View() RouterView {
	r.w.Lock()
	defer r.w.Unlock()
	v := r.view
	v.Open = make([]RouterRequest, 0, r.open)
	for _, e := range r.openOnes() {
		for range e.n {
			v.Open = append(v.Open, e.RouterRequest)
		}
	}
	if r.latencies > 0 {
		v.LatencyMean = time.Duration(r.latencySum / float64(r.latencies))
	}
	return v
}

// openOnes returns the open requests in the order of their start.
func (r *RouterLog) openOnes() []*routerEntry {
	all := make([]*routerEntry, 0, r.started.n+r.abandoned.n)
	for _, first := range [...]*routerEntry{r.abandoned.oldest, r.started.oldest} {
		for e := first; e != nil; e = e.newer {
			all = append(all, e)
		}
	}
	if r.abandoned.n > 0 {
		slices.SortFunc(all, func(x, y *routerEntry) int { return cmp.Compare(x.number, y.number) })
	}
	return all
}
