package reprotest

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/api"
)

// Counts are numbers of requests, as the servers see them.
type Counts struct {
	Requests  int // that have come; one that is sent again counts again
	Completed int // answered in full
	Refused   int // answered with an error status, or an error event
	Left      int // by the harness, before the end of the answer
	Cut       int // broken off by the servers
	Open      int // still there
}

// front keeps the books of the servers' side. It is safe for concurrent use.
type front struct {
	w *sim.Wall

	mu      sync.Mutex
	n       Counts
	visits  map[string]*visit // by the id of the request
	failed  int               // requests as the harness has them, since the latest one that was answered in full
	failing sim.Instant       // when the first of these failed
	token   sim.Instant       // the latest one of any answer
}

// visit is a request.
type visit struct {
	at       sim.Instant
	status   int // of its headers; 0: none yet
	answered sim.Instant
	tokens   int
	wrote    sim.Instant // the latest piece
	token    sim.Instant // the latest token
	ended    sim.Instant
	how      api.End
	message  string
}

// nothing says whether nothing has become of it yet.
func (v *visit) nothing() bool { return v.ended == 0 && v.status == 0 }

// visitsMax bounds the books: those that have ended are forgotten then.
const visitsMax = 4096

func newFront(w *sim.Wall) *front { return &front{w: w, visits: map[string]*visit{}} }

var _ api.Observer = (*front)(nil)

// Arrived implements api.Observer.
func (f *front) Arrived(v *api.Visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n.Requests++
	f.n.Open++
	if len(f.visits) >= visitsMax {
		for id, old := range f.visits {
			if old.ended != 0 {
				delete(f.visits, id)
			}
		}
	}
	f.visits[v.ID] = &visit{at: v.At}
}

// Answered implements api.Observer.
func (f *front) Answered(v *api.Visit, at sim.Instant, status int) {
	f.of(v, func(o *visit) { o.status, o.answered = status, at })
}

// Wrote implements api.Observer.
func (f *front) Wrote(v *api.Visit, at sim.Instant, tokens, _ int) {
	f.of(v, func(o *visit) {
		o.wrote = at
		if tokens > 0 {
			o.tokens += tokens
			o.token, f.token = at, at
		}
	})
}

// Ended implements api.Observer.
func (f *front) Ended(v *api.Visit, at sim.Instant, how api.End, message string) {
	f.of(v, func(o *visit) {
		o.ended, o.how, o.message = at, how, message
		f.n.Open--
		switch how {
		case api.EndComplete:
			f.n.Completed++
			f.failed = 0
		case api.EndRefused, api.EndError:
			f.n.Refused++
		case api.EndLeft:
			f.n.Left++
		case api.EndCut:
			f.n.Cut++
		}
	})
}

// Elsewhere implements api.Observer.
func (f *front) Elsewhere(sim.Instant, string, string, int, string) {}

func (f *front) of(v *api.Visit, do func(*visit)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.visits[v.ID]; o != nil {
		do(o)
	}
}

func (f *front) counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// failedHere says that a request has failed for the harness, whatever the servers know of it.
func (f *front) failedHere() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == 0 {
		f.failing = f.w.Now()
	}
	f.failed++
}

// inVain returns how many requests have failed since one was answered in full, and for how long that has gone on.
func (f *front) inVain() (failed int, since time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == 0 {
		return 0, 0
	}
	return f.failed, f.w.Now().Sub(f.failing)
}

// sinceToken returns for how long no token has gone out, or since the start.
func (f *front) sinceToken() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.w.Now().Sub(f.token)
}

// place is where a request is by what the servers know of it, in a few words for a table. lost says that the router
// has not logged it: it went into a connection that is dead.
func (f *front) place(id string, lost bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.visits[id]
	switch {
	case v == nil, lost && v.nothing():
		return "not there"
	case v.ended != 0:
		return v.how.String()
	case v.status == 0:
		return "no headers yet"
	case v.tokens == 0:
		return "no token yet"
	}
	return "tokens sent"
}

// tell says what the servers know of a request.
func (f *front) tell(id string, lost bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.visits[id]
	if v == nil || lost && v.nothing() {
		return "it has not come"
	}
	now := f.w.Now()
	switch {
	case v.ended != 0 && v.how == api.EndComplete:
		return fmt.Sprintf("answered in full %s ago, %d tokens", length(now.Sub(v.ended)), v.tokens)
	case v.ended != 0 && v.message != "":
		return fmt.Sprintf("%s %s ago: %s", v.how, length(now.Sub(v.ended)), v.message)
	case v.ended != 0:
		return fmt.Sprintf("%s %s ago", v.how, length(now.Sub(v.ended)))
	case v.status == 0:
		return fmt.Sprintf("came %s ago, no headers yet", length(now.Sub(v.at)))
	case v.status != http.StatusOK:
		return fmt.Sprintf("answered with status %d", v.status)
	case v.tokens == 0:
		return fmt.Sprintf("headers %s ago, no token yet", length(now.Sub(v.answered)))
	case v.wrote > v.token:
		return fmt.Sprintf("%d tokens sent, the last %s ago; other events since, the last %s ago", v.tokens, length(now.Sub(v.token)), length(now.Sub(v.wrote)))
	}
	return fmt.Sprintf("%d tokens sent, the last %s ago", v.tokens, length(now.Sub(v.token)))
}
