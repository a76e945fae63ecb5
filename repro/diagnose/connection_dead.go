package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/pacer"
)

// connectionDead: requests were sent into a connection that nobody reads any more.
func connectionDead() cause {
	return cause{
		name: CauseConnectionDead, outcome: Wedged, layer: LayerConnection,
		judge: judgeConnectionDead,
		because: func(r *reading) string {
			n, most := r.neverReached()
			return fmt.Sprintf("%s sent, up to %s ago, and never reached the servers: they are held before the router, on a connection that is dead.", does(n, "request", "was", "were"), secs(most))
		},
		next: func(r *reading) []string {
			return []string{
				"--set policy.response_header=120s ends a request that gets no answer, and the next attempt can take another connection",
				"send one request through the router by hand on a new connection: if it is answered, the old ones are dead",
			}
		},
	}
}

// neverReached counts requests that are out for deadMin or more and unknown to the servers.
func (r *reading) neverReached() (n int, most time.Duration) {
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == fateNeverReached && c.quiet >= deadMin {
			n++
			most = max(most, c.quiet)
		}
	}
	return n, most
}

// withoutHeaders counts requests that have had nothing at all when nothing is known of the servers.
func (r *reading) withoutHeaders() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == fateUnanswered && c.Stage == pacer.StageHeaders {
			n++
		}
	}
	return n
}

func judgeConnectionDead(r *reading, j *judgement) {
	n, most := r.neverReached()
	silent := r.withoutHeaders()
	switch {
	case n == 0 && silent > 0:
		j.open(0.2*r.share(silent), "the router's log: did it get the requests? Or one request by hand")
		j.pro("%s no answer, not even headers, and nothing is known of the servers", does(silent, "request", "has", "have"))
		return
	case n == 0 && r.n[fateNeverReached] > 0:
		j.open(0.2*r.share(r.n[fateNeverReached]), "a capture half a minute later")
		j.pro("the router has no open request for %s", count(r.n[fateNeverReached], "call"))
		return
	case n == 0:
		j.refute("no request is out that the servers do not know")
		return
	}
	sure := 0.7 // gauges name no requests
	if r.sides.Usable {
		sure = 0.9
		j.pro("the router has no open request for %s sent up to %s ago, and none of them has had an answer", count(n, "attempt"), secs(most))
	} else {
		j.pro("the gauges account for %s fewer than the agents have out, for up to %s", count(n, "request"), secs(most))
	}
	j.support(sure * r.share(n))
	j.beside = fmt.Sprintf("%s sent and never reached the servers", does(n, "request", "was", "were"))
	if r.now.Setup.HeaderLimit > 0 {
		j.con("the response header limit of %s will end them", secs(r.now.Setup.HeaderLimit))
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "other call"))
	}
}
