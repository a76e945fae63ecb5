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
			d := r.dead()
			var parts []string
			if d.never > 0 {
				parts = append(parts, fmt.Sprintf("%s sent, up to %s ago, and never reached the servers", does(d.never, "request", "was", "were"), secs(d.most)))
			}
			if d.withheld > 0 {
				parts = append(parts, fmt.Sprintf("%s answered by the router and got nothing of it", does(d.withheld, "request", "was", "were")))
			}
			if d.cut > 0 {
				parts = append(parts, fmt.Sprintf("%s at the same instant, %s ago, at different places of their answers, while the decode engine went on", does(d.cut, "stream", "stopped", "stopped"), secs(age(r.now.At, r.cut.at))))
			}
			return upper(list(parts)) + ": what is sent is lost between the agents and the router, on a connection that is dead and that nobody has noticed."
		},
		next: func(r *reading) []string {
			return []string{
				"--set policy.response_header=120s --set policy.idle=60s ends a request that gets nothing; the next attempt helps only if it takes another connection",
				"over HTTP/2 all requests share one connection: let the client check it (in Go: http2.Transport.ReadIdleTimeout and PingTimeout, 15 s each)",
				"send one request through the router by hand on a new connection: if it is answered, the old ones are dead",
			}
		},
	}
}

// dead sums up the requests that a dead connection explains.
type dead struct {
	never    int           // out for deadMin or more and unknown to the servers
	withheld int           // answered by the router's log for as long, without headers, and nothing works on them
	cut      int           // streams that stopped together: see stoppedTogether
	most     time.Duration // longest quiet time of the first two
}

func (d *dead) n() int { return d.never + d.withheld + d.cut }

func (r *reading) dead() dead {
	var d dead
	for i := range r.calls {
		c := &r.calls[i]
		switch {
		case c.together:
			d.cut++
			continue
		case c.quiet < deadMin:
			continue
		case c.fate == fateNeverReached:
			d.never++
		case c.fate == fateWithheld:
			d.withheld++
		default:
			continue
		}
		d.most = max(d.most, c.quiet)
	}
	return d
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
	d := r.dead()
	silent := r.withoutHeaders()
	young := r.sum(fateNeverReached, fateWithheld)
	switch {
	case d.n() == 0 && silent > 0:
		j.open(0.2*r.share(silent), "the router's log: did it get the requests? Or one request by hand")
		j.pro("%s no answer, not even headers, and nothing is known of the servers", does(silent, "request", "has", "have"))
		return
	case d.n() == 0 && young > 0:
		j.open(0.2*r.share(young), "a capture half a minute later")
		j.pro("the router has no open request for %s", count(young, "call"))
		return
	case d.n() == 0:
		j.refute("no request is out that the servers do not know, and no streams stopped at one instant while decode went on")
		return
	}
	if d.cut == d.n() && r.gauges.recent[decodeRunning].min > 0 && !r.decodeMoves() {
		j.open(0.3, "decode_tokens_total over some minutes: do the streams go on when it does?")
		j.con("decode has %s in its batch and makes no token: the streams wait for the engine", num(r.gauges.recent[decodeRunning].last))
		return
	}
	sure := 0.7 // gauges name no requests
	if r.sides.Usable {
		sure = 0.93
	}
	j.support((sure*float64(d.never+d.withheld) + 0.9*float64(d.cut)) / float64(d.n()) * r.share(d.n()))
	j.beside = fmt.Sprintf("%s on a connection that is dead", does(d.n(), "request", "is", "are"))
	r.deadObservations(j, &d)
}

func (r *reading) deadObservations(j *judgement, d *dead) {
	switch {
	case d.never > 0 && r.sides.Usable:
		j.pro("the router's log has not one line of %s sent up to %s ago, and none of them has had an answer", count(d.never, "attempt"), secs(d.most))
	case d.never > 0:
		j.pro("the gauges account for %s fewer than the agents have out, for up to %s", count(d.never, "request"), secs(d.most))
	}
	if d.withheld > 0 {
		j.pro("the router's log has answered %s, whose headers have not arrived", count(d.withheld, "attempt"))
	}
	if d.cut > 0 {
		j.pro("%s within %s of each other, having had %d to %d tokens, and decode_tokens_total grew after that", does(d.cut, "stream", "stopped", "stopped"), secs(togetherFor), r.cut.least, r.cut.most)
	}
	if r.now.Setup.HeaderLimit > 0 && d.never > 0 {
		j.con("the response header limit of %s will end those without headers", secs(r.now.Setup.HeaderLimit))
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "other call"))
	}
}
