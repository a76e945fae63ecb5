package engine

import (
	"net/http"
	"time"

	"example.com/wedge/harness/sim"
)

// deadlineText is what an engine says of a request that it has come to too late.
const deadlineText = "The deadline of the request was exceeded before it was served."

// dropDead ends the legs at the head of a queue that there is no use in serving, if the engine looks for
// that: their clients have left, noticed or not, or will have before they have an answer of usual length.
// Legs that have been served in part are not among them.
func (r *rank) dropDead(q *fifo) {
	if !r.e.cfg.Abort.DropDead {
		return
	}
	for l := q.head; l != nil && r.dead(l); l = q.head {
		r.counts.aborted++
		mate := l.mate
		r.drop(l)
		if mate != nil && mate.stage == StageBootstrap { // it would wait for this one
			mate.rank.drop(mate)
		}
	}
}

func (r *rank) dead(l *Leg) bool {
	late := l.Job.Deadline != 0 && r.e.now.Add(r.turns.serve) >= l.Job.Deadline
	return !l.begun && l.verdict == StageNone && (l.left || late)
}

func (r *rank) drop(l *Leg) {
	if l.left {
		r.end(l, StageAborted, nil)
		return
	}
	r.end(l, StageFailed, newFailure(http.StatusGatewayTimeout, deadlineText))
}

// turns is how fast a rank comes to its legs, and how long they are in its batch then.
type turns struct {
	last  sim.Instant
	every time.Duration // smoothed; of the time in which anybody waited
	n     int           // so far, turnsSmoothed at most

	serve  time.Duration // smoothed; of those that came to their end
	served int           // so far, turnsSmoothed at most
}

// turnsSmoothed is how many turns the mean goes back, more or less.
const turnsSmoothed = 16

// took notes the turn of a leg that has been there since an instant.
func (t *turns) took(arrived, now sim.Instant) {
	gap := now.Sub(max(t.last, arrived))
	t.n = min(t.n+1, turnsSmoothed)
	t.every += (gap - t.every) / time.Duration(t.n)
	t.last = now
}

// finished notes that a leg has been served to its end.
func (t *turns) finished(took time.Duration) {
	t.served = min(t.served+1, turnsSmoothed)
	t.serve += (took - t.serve) / time.Duration(t.served)
}

// Expect estimates how long a request that came now would wait for its first token at the worker, by how
// many wait there and how fast turns have come, and how long it would take from there on. It knows nothing
// before the first turn and the first end, and says 0.
func (w *Worker) Expect() (turn, serve time.Duration) {
	for i, r := range w.ranks {
		t := time.Duration(r.legs-r.batch.size+1) * r.turns.every
		if i == 0 || t+r.turns.serve < turn+serve {
			turn, serve = t, r.turns.serve
		}
	}
	return turn, serve
}
