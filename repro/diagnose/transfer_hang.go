package diagnose

import (
	"fmt"
	"time"
)

// transferHang: KV caches stay on their way from prefill to decode. The requests have been computed, have
// clients, and neither engine has anything left to do for them.
func transferHang() cause {
	return cause{
		name: CauseTransferHang, outcome: Wedged, layer: LayerTransfer,
		judge: judgeTransferHang,
		because: func(r *reading) string {
			n, most := r.inTransfer()
			return fmt.Sprintf("%s for response headers, for up to %s, with prefill done: its KV cache stays between the engines (prefill_inflight %s, decode_transfer %s), where a transfer takes well under a second. Nothing seen will end that.",
				does(n, "request", "waits", "wait"), secs(most), num(r.gauges.recent[prefillInflight].last), num(r.gauges.recent[decodeTransfer].last))
		},
		next: func(r *reading) []string {
			return []string{
				"search both engines' logs for the transfers' own errors (mooncake, NIXL, RDMA), and test the link between the two hosts",
				"compare prefill_inflight and decode_transfer over some minutes: entries that stay for longer than the transfer timeout of the decode side (300 s by default) are not even timed out",
				"--set policy.response_header=120s ends a request that gets no answer; but mind that an abort during the transfer may pin its entry (inflight-pin)",
			}
		},
	}
}

// inTransfer counts the calls whose KV cache has been on its way for longer than transfers take.
func (r *reading) inTransfer() (n int, most time.Duration) {
	for i := range r.calls {
		c := &r.calls[i]
		if (c.server == ServerInflight || c.server == ServerTransfer) && c.quiet >= deadMin && c.fate != fatePrefill && c.fate != fateDecodeWait {
			n++
			most = max(most, c.quiet)
		}
	}
	return n, most
}

// held is how many entries must stay in prefill's inflight queue to be more than what a chunk has just left
// there: they hold its slots, and what waits behind them need not be prefill's doing.
const held = 2

func judgeTransferHang(r *reading, j *judgement) {
	g := &r.gauges
	inflight, transfer := &g.recent[prefillInflight], &g.recent[decodeTransfer]
	n, most := r.inTransfer()
	left, _ := r.leftEarly()
	const decide = "the engines' logs of one of these transfers: what does it wait for?"
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !inflight.ok():
		j.open(0, "prefill_inflight and decode_transfer over half a minute, while requests are out")
		return
	case inflight.min < 1:
		j.refute("prefill_inflight was 0 at least once, %s", g.told(prefillInflight))
		return
	case n == 0:
		j.refute("no request has been between the engines for %s or more", secs(deadMin))
		return
	case !r.memoryFree():
		j.refute("%s: what is between the engines may wait for memory", g.told(decodeKV))
		return
	case 2*inflight.last < transfer.last && inflight.min < held:
		j.refute("%s and %s: most of what decode waits for has not been computed", inflight.tell("prefill_inflight"), transfer.tell("decode_transfer"))
		return
	case left > 0 && r.pins.any():
		j.open(0.2*r.share(n), "prefill_inflight after the agents have stopped: is there a floor above 0?")
		j.con("agents have left %s early in this run: entries of theirs may be pinned", count(left, "request"))
	case r.handshakes() >= float64(n):
		j.open(0.2*r.share(n), decide)
		j.con("at least %s wait for a handshake all the time: the numbers of what is behind it may be old", num(r.handshakes()))
	case r.decodeHang().n > 0:
		j.open(0.2*r.share(n), decide)
		j.con("the decode engine makes nothing of what it has, and so may not take in what arrives")
	default:
		j.support(0.85 * r.share(n))
		j.beside = fmt.Sprintf("%s between the engines", does(n, "request", "is", "are"))
	}
	j.pro("%s without headers for up to %s, with %s and %s, %s", areOfAll(n, r.sides.Sent, "request"), secs(most),
		inflight.tell("prefill_inflight"), transfer.tell("decode_transfer"), g.under)
	if g.stands(prefillTokens) {
		j.pro("prefill computes nothing: it has done its part")
	}
	if failed := g.grown(transferFailed); failed > 0 {
		j.pro("transfer_failed_total grew by %s in the stall", num(failed))
	}
}
