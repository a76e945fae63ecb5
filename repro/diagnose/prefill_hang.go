package diagnose

import (
	"fmt"
	"time"
)

// prefillHang: the prefill engine has requests and computes nothing, as a process does that hangs or has
// died. Decode has reserved memory for them and waits.
func prefillHang() cause {
	return cause{
		name: CausePrefillHang, outcome: Wedged, layer: LayerPrefill,
		judge: judgePrefillHang,
		because: func(r *reading) string {
			n, most := r.beforePrefillEnds()
			text := fmt.Sprintf("The prefill engine computes nothing, though %s for up to %s for what it should send: decode has %s in its transfer queue, and prefill has %s on the way.",
				does(n, "request", "waits", "wait"), secs(most), num(r.gauges.recent[decodeTransfer].last), num(r.gauges.recent[prefillInflight].last))
			if r.gauges.recent[unhealthyWorkers].max > 0 {
				text += " The router's health checks of a worker fail too: its process hangs or is gone."
			}
			return text
		},
		next: func(r *reading) []string {
			return []string{
				"look at the prefill engine's process: does it answer /health, is its GPU busy, and what is the last line of its log?",
				"restart it: what waits for it on the decode side ends with an error, and its clients may try again",
			}
		},
	}
}

// beforePrefillEnds counts the calls that wait for prefill to end or to begin, and stand.
func (r *reading) beforePrefillEnds() (n int, most time.Duration) {
	for i := range r.calls {
		c := &r.calls[i]
		switch {
		case c.quiet < deadMin:
			continue
		case c.fate == fatePrefillStuck, c.fate == fateAtRouter && !c.lost, c.fate == fateInflight,
			c.fate == fateDecodeStuck && c.server == ServerTransfer:
			n++
			most = max(most, c.quiet)
		}
	}
	return n, most
}

func judgePrefillHang(r *reading, j *judgement) {
	g := &r.gauges
	inflight, transfer := &g.recent[prefillInflight], &g.recent[decodeTransfer]
	n, most := r.beforePrefillEnds()
	left, _ := r.leftEarly()
	owed := g.recent[prefillQueue].last + max(0, transfer.last-inflight.last)
	const decide = "prefill_tokens_total and the prefill engine's /health, while requests are out"
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !g.recent[prefillTokens].ok():
		j.open(0, decide)
		return
	case !g.stands(prefillTokens):
		rate, over, _ := g.recent[prefillTokens].rate()
		if rate > 0 {
			j.refute("prefill_tokens_total grew by %.0f tokens a second over %s", rate, secs(over))
		} else {
			j.open(0, decide)
		}
		return
	case n == 0:
		j.refute("no request waits for prefill to end")
		return
	case owed < 1:
		j.refute("%s and %s: prefill owes decode nothing", inflight.tell("prefill_inflight"), transfer.tell("decode_transfer"))
		return
	case !r.memoryFree():
		j.refute("%s: prefill may wait for memory on the decode side", g.told(decodeKV))
		return
	case r.handshakes() >= owed:
		j.refute("at least %s wait for a handshake all the time, and %s for prefill: what is stuck is before prefill", num(r.handshakes()), num(owed))
		return
	case left > 0 && (r.pins.any() || inflight.min >= owed):
		j.open(0.2*r.share(n), "prefill_inflight after the agents have stopped: is there a floor above 0?")
		j.con("agents have left %s early in this run: pinned entries may have taken prefill's slots", count(left, "request"))
	case inflight.min >= held:
		j.open(0.2*r.share(n), decide)
		j.con("%s all the time: what has been computed does not leave, and may hold all of prefill's slots", inflight.tell("prefill_inflight"))
	default:
		j.support(0.85 * r.share(n))
		j.beside = fmt.Sprintf("%s for prefill, which computes nothing", does(n, "request", "waits", "wait"))
	}
	j.pro("prefill_tokens_total has not moved, %s; %s without headers for up to %s", g.under, areOfAll(n, r.sides.Sent, "request"), secs(most))
	j.pro("%s and %s: decode waits for what prefill has not computed", transfer.tell("decode_transfer"), inflight.tell("prefill_inflight"))
	if s := &g.recent[unhealthyWorkers]; s.max > 0 {
		j.pro("%s, %s: the router's health checks fail", s.tell("router_unhealthy_workers"), g.under)
	}
}
