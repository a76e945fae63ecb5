package diagnose

import (
	"fmt"
	"time"
)

// badPairing: the two halves of a request are at workers that do not know of each other, or one of
// which is dead. Its handshake never comes about, while others pass.
func badPairing() cause {
	return cause{
		name: CauseBadPairing, outcome: Wedged, layer: LayerRouter,
		judge: judgeBadPairing,
		because: func(r *reading) string {
			u := r.unpaired()
			if u.n == 0 {
				return fmt.Sprintf("The engines gave up %s handshakes in the stall, and %s for response headers while nothing is computed: the router pairs prefill and decode workers that do not find each other. %s",
					num(r.gauges.grown(bootstrapFailed)), does(r.stuck(), "request", "waits", "wait"), r.handshakeText())
			}
			return fmt.Sprintf("%s for response headers, for up to %s, though requests that were sent later have had theirs: the router has paired %s with a prefill and a decode worker that do not find each other. %s %s until the engines give up the handshake (300 s by default), and the router's retries may pair as badly again.",
				does(u.n, "request", "waits", "wait"), secs(u.most), verb(u.n, "it", "them"), r.handshakeText(), verb(u.n, "It waits", "They wait"))
		},
		next: func(r *reading) []string {
			return []string{
				"look at the load balancing of prefill and decode workers: with data-parallel ranks both must follow the bootstrap room (--load-balance-method follow_bootstrap_room)",
				"ask each worker for its health and its queues (/health, /v1/loads): one that has stopped answering is still paired until three checks have failed",
				"search the engines' logs for \"KVPoll.Bootstrapping\" and \"Lost connection with prefill instance\"",
				"--set policy.response_header=120s ends a request that gets no answer; the next attempt is paired anew",
			}
		},
	}
}

// unpaired sums up the requests whose handshake does not come about.
type unpaired struct {
	n, passed int // all; those that later ones have overtaken
	most      time.Duration
}

func (r *reading) unpaired() unpaired {
	var u unpaired
	held := r.handshakes() > 0
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate != fateUnpaired && !(held && c.overtaken && r.waitsStuck(c)) {
			continue
		}
		u.n++
		u.most = max(u.most, c.quiet)
		if c.overtaken {
			u.passed++
		}
	}
	return u
}

// handshakes is how many requests were in one of the queues of the handshake all the time.
func (r *reading) handshakes() float64 {
	g := &r.gauges.recent
	return max(g[prefillBootstrap].min, g[decodePrealloc].min)
}

// handshakeText says what the queues of the handshake hold.
func (r *reading) handshakeText() string {
	p, d := r.gauges.recent[prefillBootstrap].min, r.gauges.recent[decodePrealloc].min
	switch {
	case p >= 1 && d >= 1:
		return fmt.Sprintf("Both sides hold them: prefill at least %s in its bootstrap queue, decode at least %s in prealloc, with memory free.", num(p), num(d))
	case p >= 1:
		return fmt.Sprintf("Only prefill holds them: at least %s in its bootstrap queue, and none at decode.", num(p))
	case d >= 1:
		return fmt.Sprintf("Only decode holds them: at least %s in prealloc, and none in prefill's bootstrap queue.", num(d))
	}
	return "No gauge of a live worker shows them."
}

func judgeBadPairing(r *reading, j *judgement) {
	g := &r.gauges
	u := r.unpaired()
	failed := g.grown(bootstrapFailed)
	_, left := r.leftEarly()
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !g.has(prefillBootstrap) && !g.has(decodePrealloc):
		j.open(0, "prefill_bootstrap and decode_prealloc over some minutes: do they hold the same requests, with memory free?")
		return
	case !r.memoryFree():
		j.refute("%s, and decode_retracted_total grew by %s in the stall: a handshake can wait for memory", g.told(decodeKV), num(g.grown(decodeRetracted)))
		return
	case r.pins.any():
		j.refute("prefill stands still with %s in its inflight queue: a handshake can wait for their slots", num(r.pins.entries))
		return
	case u.n == 0 && failed > float64(left) && r.stuck() > 0:
		// Nothing has passed, but the engines themselves say that handshakes failed.
		j.support(0.75 * r.share(r.stuck()))
	case u.n == 0 && r.stuck() > 0 && r.engineStands():
		j.open(0.3*r.share(r.stuck()), "prefill_bootstrap_failed_total after the 300 s that engines give a handshake, and the engines' own logs: their gauges do not move while nothing runs")
		j.pro("%s for headers and no engine makes a token", does(r.stuck(), "request", "waits", "wait"))
		return
	case u.n == 0:
		j.refute("no request waits for its handshake while later ones pass")
		return
	default:
		j.support(0.9 * r.share(u.n))
		j.pro("%s sent %s or more before one that has had its headers, and %s none so far", does(u.passed, "request", "was", "were"), secs(deadMin), verb(u.passed, "has", "have"))
	}
	r.pairingObservations(j, failed)
}

// pairingObservations adds what the servers show of handshakes.
func (r *reading) pairingObservations(j *judgement, failed float64) {
	g := &r.gauges
	if n := r.unpaired().n; n > 0 {
		j.beside = fmt.Sprintf("%s for a handshake of the engines", does(n, "request", "waits", "wait"))
	}
	j.pro("%s", r.handshakeText())
	if kv := &g.recent[decodeKV]; kv.ok() {
		j.pro("%s: there is memory", g.told(decodeKV))
	}
	if failed > 0 {
		j.pro("prefill_bootstrap_failed_total grew by %s in the stall", num(failed))
	}
	if retried := g.grown(routerRetries); retried > 0 {
		j.pro("the router has paired %s times anew in the stall", num(retried))
	}
	if s := &g.recent[unhealthyWorkers]; s.max > 0 {
		j.pro("%s, %s", s.tell("router_unhealthy_workers"), g.under)
	}
	if s := &g.recent[openBreakers]; s.max > 0 {
		j.pro("%s, %s", s.tell("router_open_breakers"), g.under)
	}
	if q := g.recent[prefillQueue].mean; q >= queueMin {
		j.support(j.score / 2)
		j.con("on average %s requests waited for prefill: a worker that is busy may be all", num(q))
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "other call"))
	}
}

// engineStands says whether both counters of tokens stand still: nothing is computed at all.
func (r *reading) engineStands() bool {
	return r.gauges.stands(prefillTokens) && r.gauges.stands(decodeTokens)
}
