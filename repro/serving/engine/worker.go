package engine

import (
	"io"
	"strings"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Worker is an engine: one HTTP server with one or more data-parallel ranks.
type Worker struct {
	Name string
	Kind Kind

	e       *Engines
	balance Balance
	ranks   []*rank
	turn    int // of round_robin
	log     io.Writer
	logErr  error
}

// rankOf chooses the rank of a request.
func (w *Worker) rankOf(room int64) *rank {
	if w.balance == FollowRoom {
		return w.ranks[int(uint64(room)%uint64(len(w.ranks)))]
	}
	r := w.ranks[w.turn%len(w.ranks)]
	w.turn++
	return r
}

// Submit hands a leg to the worker.
func (w *Worker) Submit(l *Leg) {
	e := w.e
	l.worker, l.rank = w, w.rankOf(l.Job.Room)
	l.arrived, l.since = e.now, e.now
	l.timed.leg, l.stop.leg, l.leave.leg = l, l, l
	l.leave.act = actLeave
	l.factor = 1
	l.rank.touch()
	switch w.Kind {
	case KindPrefill:
		l.rank.acceptPrefill(l)
	case KindDecode:
		l.rank.acceptDecode(l)
	default:
		l.rank.acceptUnified(l)
	}
	e.settle()
}

// occasion is the moment of the leg at which a fault may fire.
func (l *Leg) occasion() fault.Occasion {
	o := l.Job.Occasion
	o.At, o.Worker = l.worker.e.now, l.worker.Name
	return o
}

// fires asks the faults about the leg.
func (l *Leg) fires(where fault.Where, what fault.What) *fault.Fault {
	if l.worker.e.faults == nil {
		return nil
	}
	return l.worker.e.faults.Fires(where, what, l.occasion())
}

// Abort says that whoever waits for the leg has left, or closed its connection. What becomes of it,
// and when, is the engine's affair (see [AbortConfig]); its owner is told nothing of it any more. It
// does nothing to a leg that has ended.
func (w *Worker) Abort(l *Leg) {
	if l.left || l.ended() {
		l.left = true
		return
	}
	l.left = true
	e := w.e
	c := &e.cfg.Abort
	if w.Kind != KindPrefill && l.fires(fault.Decode, fault.IgnoreAbort) != nil {
		return
	}
	streaming := l.begun && l.Job.Stream
	if c.ZombieDecode && streaming {
		return
	}
	at := e.now
	switch c.Detect {
	case DetectNever:
		return
	case DetectNextToken:
		at = sim.Never
		if l.begun {
			at = l.NextToken(e.now)
		}
	case DetectPoll:
		if streaming {
			at = e.now.Add(c.Lag)
		} else if c.Poll > 0 {
			at = l.arrived.Add((e.now.Sub(l.arrived)/c.Poll + 1) * c.Poll)
		}
	}
	if at > e.now {
		e.schedule(at, &l.leave)
		return
	}
	l.rank.touch()
	l.rank.drop(l)
	e.settle()
}

// AbortMatching is the endpoint /abort_request: it aborts all legs at once whose occasion keys begin
// with the prefix, and tells their owners with Ended and a Failure. It returns how many.
func (w *Worker) AbortMatching(prefix string) int {
	n := 0
	for _, r := range w.ranks {
		r.touch()
		for _, q := range r.queues() {
			for l := q.head; l != nil; {
				next := l.behind
				if strings.HasPrefix(l.Job.Occasion.Key, prefix) && !l.ended() {
					r.drop(l)
					l.failure = &Failure{Status: 500, Type: typeInternal, Message: "Aborted by AbortReq."}
					w.e.notify(noticeEnd, l)
					n++
				}
				l = next
			}
		}
	}
	w.e.settle()
	return n
}

// healthTimeout is how long /health waits for any message of the engine (SGLANG_HEALTH_CHECK_TIMEOUT).
const healthTimeout = 20 * time.Second

// Healthy says what the worker's /health answers, and how long it takes: 503 after 20 s if its loop
// is blocked (a chunk that takes longer), at once and true if it spins, however stuck its queues are.
func (w *Worker) Healthy() (ok bool, after time.Duration) {
	for _, r := range w.ranks {
		if len(r.chunk) == 0 {
			continue
		}
		if r.chunkEnd == sim.Never {
			return false, healthTimeout
		}
		after = max(after, r.chunkEnd.Sub(w.e.now))
	}
	if after > healthTimeout {
		return false, healthTimeout
	}
	return true, after
}

// Ranks returns how many ranks the worker has.
func (w *Worker) Ranks() int { return len(w.ranks) }
