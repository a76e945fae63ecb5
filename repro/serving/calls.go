package serving

import (
	"net/http"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// calls is the router's calls to the engines that are not over, by their start, which is also the
// order of their deadlines.
type calls struct {
	s              *Stack
	oldest, newest *attempt
	deadline       engine.Entry

	// Those that are done with, in a queue: an engine may still know their legs.
	done, doneLast *attempt
}

func (c *calls) start(s *Stack) {
	c.s = s
	c.deadline.Do = doFunc(c.due)
}

// begin returns the attempt of a request, of which nothing is set but that.
func (c *calls) begin(r *request) *attempt {
	a := c.unused()
	a.s, a.r, a.id = c.s, r, r.ID
	c.s.dispatched++
	r.a = a
	a.older = c.newest
	if c.newest != nil {
		c.newest.younger = a
	} else {
		c.oldest = a
	}
	c.newest = a
	if limit := c.s.cfg.Router.RequestTimeout; limit > 0 && !c.deadline.Scheduled() {
		c.s.engines.Schedule(c.s.now().Add(limit), &c.deadline)
	}
	return a
}

// unused returns a zero attempt: one that is done with and forgotten by its engines, or a new one.
// One that its engines go on to know when its turn comes is left to them.
func (c *calls) unused() *attempt {
	for range 2 {
		a := c.done
		if a == nil {
			break
		}
		if c.done = a.next; c.done == nil {
			c.doneLast = nil
		}
		if a.forgotten() {
			*a = attempt{}
			return a
		}
	}
	return new(attempt)
}

// forgotten says whether no engine knows the attempt's legs any more.
func (a *attempt) forgotten() bool {
	return a.decode.Gone() && (a.p == nil || a.prefill.Gone())
}

// release is the end of the router's calls to the engines, or of its interest in them.
func (s *Stack) release(a *attempt) {
	if a.counted {
		a.counted = false
		a.d.active--
		if a.p != nil {
			a.p.active--
		}
	}
	c := &s.calls
	if a.older != nil {
		a.older.younger = a.younger
	} else {
		c.oldest = a.younger
	}
	if a.younger != nil {
		a.younger.older = a.older
	} else {
		c.newest = a.older
	}
	a.older, a.younger = nil, nil
	if c.oldest == nil {
		s.engines.Schedule(sim.Never, &c.deadline)
	}
	if c.doneLast != nil {
		c.doneLast.next = a
	} else {
		c.done = a
	}
	c.doneLast = a
}

// count makes the workers' loads know of the attempt.
func (a *attempt) count() {
	if a.counted {
		return
	}
	a.counted = true
	a.d.active++
	if a.p != nil {
		a.p.active++
	}
}

// due ends the calls that have taken too long.
func (c *calls) due() {
	limit := c.s.cfg.Router.RequestTimeout
	for c.oldest != nil && c.s.now() >= c.oldest.began.Add(limit) {
		c.oldest.timedOut()
	}
	if c.oldest != nil {
		c.s.engines.Schedule(c.oldest.began.Add(limit), &c.deadline)
	}
}

// timedOut ends a call that has taken too long: with an error if the client has no headers yet,
// otherwise the body ends where it is.
func (a *attempt) timedOut() {
	s, r := a.s, a.r
	side := "decode"
	failure := &engine.Failure{Status: http.StatusBadGateway, Message: "operation timed out"}
	if !a.answered {
		side = "prefill"
		a.p.answered(failure)
	} else if r.status == 0 {
		a.d.answered(failure)
	}
	if r.status == 0 && !r.lost {
		s.failed(r, own(http.StatusBadGateway, side+"_server_error", "Failed to send request to "+side+" server: operation timed out"))
		return
	}
	a.abort()
	r.cut, r.closed, r.closedAt = true, !r.stopped(), s.now()
	s.end(r, phaseAborted, Failed)
}
