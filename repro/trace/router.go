package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/record"
	"example.com/wedge/harness/requestlog"
	"example.com/wedge/harness/sim"
)

// router draws the requests of the router's log on as many tracks as it had requests at once, and leads an
// arrow to each from the attempt that sent it. It reads the log beside the journal, a little behind it: its
// lines have whole seconds, and the journal knows better when a request was sent.
type router struct {
	*out
	in    io.Reader // nil: there is no log
	files []fs.File
	lines *bufio.Scanner
	next  requestlog.Event // read ahead
	at    sim.Instant      // of it
	have  bool

	asked []asked             // lately sent, oldest first
	byID  map[string]asked    // of these, those whose request has not been seen
	open  map[string]*request // started and not finished
	lanes []*request          // by track; nil: free
	until []sim.Instant       // up to where a track is drawn, if it is
	named []bool              // of tracks
	begun bool                // the journal has
	from  sim.Instant         // where
	flows int
}

// asked is an attempt that has been sent.
type asked struct {
	id string
	at sim.Instant
	by track
}

// request is one that the router has started.
type request struct {
	id     string
	from   sim.Instant
	lane   int
	sentBy asked // zero if no attempt is known
}

// Bounds of what is waited for.
const (
	resolution = sim.Instant(time.Second)      // of the log's times
	askedFor   = sim.Instant(10 * time.Minute) // how long an attempt waits for its line; the router may have its own queue
	openMax    = 64 << 10                      // requests without an end
	tidRouter  = 100                           // first of the router's tracks
)

// openRouter opens the router's log of a bundle, if there is one.
func openRouter(o *out, fsys fs.FS) (*router, error) {
	r := &router{out: o, byID: map[string]asked{}, open: map[string]*request{}}
	names, err := bundle.Logs(fsys, bundle.RouterLogFile)
	if err != nil || len(names) == 0 {
		return r, err
	}
	var all []io.Reader
	for _, name := range names {
		f, err := fsys.Open(name)
		if err != nil {
			r.close()
			return nil, err
		}
		r.files = append(r.files, f)
		all = append(all, f)
	}
	r.in = io.MultiReader(all...)
	r.lines = bufio.NewScanner(r.in)
	r.lines.Buffer(nil, 1<<20)
	r.advance()
	return r, nil
}

func (r *router) close() {
	for _, f := range r.files {
		_ = f.Close() // it was only read
	}
}

// advance reads the next line that is about a request.
func (r *router) advance() {
	for r.lines.Scan() {
		ev, ok := requestlog.ParseRouterLine(r.lines.Bytes())
		if ok && !ev.Probe && !ev.At.IsZero() {
			r.next, r.at, r.have = ev, sim.InstantOf(ev.At), true
			return
		}
	}
	r.have = false
}

// sent notes that an attempt has been sent: in its x-request-id, attempts of a call are counted.
func (r *router) sent(e record.StageEvent, by track) {
	if !r.have && len(r.open) == 0 {
		return
	}
	a := asked{e.Call + "-a" + strconv.Itoa(e.Attempt), e.At, by}
	r.byID[a.id] = a
	r.asked = append(r.asked, a)
	old := 0
	for old < len(r.asked) && (r.asked[old].at < e.At-askedFor || len(r.asked)-old > openMax) {
		if b := r.asked[old]; r.byID[b.id].at == b.at {
			delete(r.byID, b.id)
		}
		old++
	}
	if old > 1024 || old == len(r.asked) {
		r.asked = append([]asked(nil), r.asked[old:]...)
	}
}

// upTo takes the lines that were written before the journal's instant, for the second that they name is
// over then.
func (r *router) upTo(now sim.Instant) {
	if !r.begun {
		r.begun, r.from = true, now
	}
	for r.have && r.at+resolution <= now {
		r.take()
		r.advance()
	}
}

// take draws what the next line says.
func (r *router) take() {
	id := string(r.next.ID)
	if !r.next.Finished {
		r.start(id)
		return
	}
	q := r.open[id]
	if q == nil {
		return // its start is not there
	}
	to := max(q.from, r.at)
	if took, ok := r.next.Latency.Duration(requestlog.Microseconds); ok {
		to = q.from + sim.Instant(took)
	}
	r.finished(q, to, r.next.Status)
}

func (r *router) start(id string) {
	q := &request{id: id, from: r.at}
	if a, ok := r.byID[id]; ok {
		delete(r.byID, id)
		q.sentBy = a
		q.from = clamp(a.at, r.at, r.at+resolution)
	}
	if len(r.open) >= openMax || r.open[id] != nil {
		return
	}
	for q.lane < len(r.lanes) && r.lanes[q.lane] != nil {
		q.lane++
	}
	if q.lane == len(r.lanes) {
		r.lanes = append(r.lanes, nil)
		r.until = append(r.until, 0)
		r.named = append(r.named, false)
	}
	q.from = max(q.from, r.until[q.lane])
	r.lanes[q.lane], r.open[id] = q, q
}

func (r *router) finished(q *request, to sim.Instant, status int) {
	delete(r.open, q.id)
	r.lanes[q.lane], r.until[q.lane] = nil, max(q.from, to)
	r.draw(q, r.until[q.lane], status, false)
}

func (r *router) draw(q *request, to sim.Instant, status int, open bool) {
	if to < r.from {
		return // what sent it is left out
	}
	t := track{pidServers, tidRouter + q.lane}
	if !r.named[q.lane] {
		r.named[q.lane] = true
		r.name("thread", t, "router, request "+strconv.Itoa(q.lane+1), t.tid)
	}
	r.categorized('X', t, q.from, "until headers", "request")
	r.length(q.from, to)
	r.text("id", q.id)
	r.num("status", status)
	r.flag("open", open)
	r.end()
	if q.sentBy.id == "" {
		return
	}
	r.flows++
	r.flow('s', q.sentBy.by, q.sentBy.at)
	r.flow('f', t, q.from)
}

// flow writes one end of an arrow, which binds to the slice that is under way there.
func (r *router) flow(phase byte, t track, at sim.Instant) {
	r.categorized(phase, t, at, "request", "request")
	if phase == 'f' {
		r.field("bp", "e")
	}
	r.line = strconv.AppendInt(append(r.line, `,"id":`...), int64(r.flows), 10)
	r.end()
}

// finish takes the rest of the log, and draws what is open up to where the trace ends.
func (r *router) finish(to sim.Instant) error {
	for r.have {
		r.take()
		r.advance()
	}
	for _, q := range r.lanes {
		if q != nil {
			r.draw(q, max(q.from, to), 0, true)
		}
	}
	if r.lines != nil && r.lines.Err() != nil && !errors.Is(r.lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("trace: %s: %w", bundle.RouterLogFile, r.lines.Err())
	}
	return nil
}
