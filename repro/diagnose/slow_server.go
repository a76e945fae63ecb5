package diagnose

import (
	"fmt"

	"example.com/wedge/pacer"
)

// slowServer: all is well, only slower than the watchdog's patience.
func slowServer() cause {
	return cause{
		name: CauseSlowServer, outcome: Slow, layer: LayerNone,
		judge: judgeSlowServer,
		because: func(r *reading) string {
			text := "Nothing is stuck: "
			switch alive := r.sum(fateMoving, fateServed, fateFresh, fatePrefill, fateDecodeWait); {
			case alive < r.sides.Sent:
				text = "Most calls are alive: "
			case r.agents.Failed > 0:
				text = "Of the agents that are left, none is stuck: "
			}
			switch {
			case r.n[fateMoving] > 0 && r.n[fateServed] > 0:
				text += fmt.Sprintf("tokens arrive on %s, and the servers work on %d more that show none yet", count(r.n[fateMoving], "call"), r.n[fateServed])
			case r.n[fateMoving] > 0:
				text += "tokens arrive on " + ofAll(r.n[fateMoving], r.sides.Sent, "call")
			case r.n[fateServed] > 0 && r.uncountedStreams() > 0:
				text += "how many tokens the streams have had was not counted, but the decode engine has " + ofAll(r.n[fateServed], r.sides.Sent, "request") + " in its batch and produces tokens"
			case r.n[fateServed] > 0:
				text += "no call has a token to show yet, but the decode engine has " + ofAll(r.n[fateServed], r.sides.Sent, "request") + " in its batch and produces tokens: the model thinks"
			default:
				text += "the servers have the requests, and their counters of tokens move"
			}
			return text + ", and nobody waits for a slot or a connection. They take long, and will finish."
		},
		next: func(r *reading) []string {
			return []string{"raise watchdog.stall_after above the length of a call, if calls may be this long"}
		},
	}
}

// uncountedStreams counts the streams that are read by a client whose tokens nobody counts.
func (r *reading) uncountedStreams() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.Stage == pacer.StageStream && c.Tokens == 0 {
			n++
		}
	}
	return n
}

func judgeSlowServer(r *reading, j *judgement) {
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case r.pool.blocks():
		j.refute("%s for a slot: more is held up than the calls themselves", does(r.pool.waiting, "call", "waits", "wait"))
		return
	case r.conns.full:
		j.refute("%s for a connection", does(r.conns.waiting, "call", "waits", "wait"))
		return
	}
	if w := &r.now.Window; w.CallsCompleted == 0 && w.AttemptsTimeout >= r.aStorm() && !r.mostFirst() {
		j.refute("%s into a time limit during the stall and no call completed: these will not finish either", does(w.AttemptsTimeout, "attempt", "ran", "ran"))
		return
	}
	weight := 0.0
	for i := range r.calls {
		weight += r.calls[i].fate.alive()
	}
	score := 0.0
	if r.roots > 0 {
		score = 0.9 * weight / float64(r.roots)
	}
	if z := r.zombies(); z.left > 0 && z.tell(&r.gauges) {
		score *= 1 - z.part
		j.con("decode has %s requests more than the agents have out, and is slower by as much", num(z.more))
	}
	if r.atDecode()*2 >= r.sides.Sent {
		j.layer = LayerDecode
	}
	dribbling := r.dribbling()
	switch doubt := r.doubtful() + dribbling; {
	case doubt > r.sum(fateMoving, fateServed, fateFresh, fatePrefill, fateDecodeWait)-dribbling && weight > 0:
		j.open(min(score, 0.5), "decode_running and decode_tokens_total over half a minute: do the servers work on the calls that get nothing?")
	case r.sum(fateMoving, fateServed) > 0 || r.sum(fateFresh, fatePrefill, fateDecodeWait) > 0 && r.counting():
		j.support(score)
		j.pro("nobody waits for a slot or a connection")
		if r.agents.Failed > 0 {
			j.beside = "the calls of the agents that are left are alive"
		}
	case weight > 0:
		j.open(score, "decode_running and decode_tokens_total over half a minute: do the servers work on the calls?")
	default:
		j.refute("no call is seen to be alive")
	}
	r.movingObservation(j)
	if n := r.n[fateOpen]; n > 0 {
		j.con("%s quiet for up to %s, and whether the servers work on them cannot be told", does(n, "call", "is", "are"), secs(r.oldest(fateOpen)))
	}
	if n := r.sum(fateFresh, fateUnanswered); n > 0 && r.blind() {
		j.con("of %s nothing has come so far, and nothing is known of the servers", count(n, "call"))
	}
	r.batchObservation(j)
}

// doubtful counts the calls that the servers may work on, and may not. One that is in a batch which makes
// tokens is none: each of a batch has its part.
func (r *reading) doubtful() int {
	n := 0
	for i := range r.calls {
		if r.calls[i].doubtful(r) {
			n++
		}
	}
	return n
}

func (c *callReading) doubtful(r *reading) bool {
	return c.fate == fateUnanswered || c.fate == fateOpen && !(c.server == ServerDecode && r.counting())
}

// atDecode counts calls in the decode batch.
func (r *reading) atDecode() int {
	n := 0
	for i := range r.calls {
		if r.calls[i].server == ServerDecode {
			n++
		}
	}
	return n
}
