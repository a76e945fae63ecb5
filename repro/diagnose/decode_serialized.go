package diagnose

import "fmt"

// decodeSerialized: the decode engine runs a batch of one, or of a few, although many requests are
// there to be joined to it.
func decodeSerialized() cause {
	return cause{
		name: CauseDecodeSerialized, outcome: Starved, layer: LayerDecode,
		judge: judgeDecodeSerialized,
		because: func(r *reading) string {
			running, waiting := &r.gauges.stall[decodeRunning], r.decodeQueue()
			return fmt.Sprintf("The decode engine works on at most %s at a time while %s on average wait to join it: answers come one after the other, and most calls get none for minutes. They will finish, in their turn.",
				count(int(running.max), "request"), num(waiting))
		},
		next: func(r *reading) []string {
			return []string{
				"look at the decode engine's limit on running requests (max-running-requests, cuda-graph-max-bs) and at what it logs as #running-req",
				"send 20 requests at once and sample decode_running: 20 or more means that batching works, 1 to 3 that it does not",
			}
		},
	}
}

// decodeQueue is how many requests waited on average to join the decode batch. The transfer queue
// also has those that are still in prefill: they are not counted.
func (r *reading) decodeQueue() float64 {
	g := &r.gauges.recent
	inPrefill := g[prefillQueue].mean + g[prefillRunning].mean + g[prefillInflight].mean
	return g[decodeQueue].mean + g[decodePrealloc].mean + max(0, g[decodeTransfer].mean-inPrefill)
}

func judgeDecodeSerialized(r *reading, j *judgement) {
	running := &r.gauges.stall[decodeRunning]
	waiting := r.decodeQueue()
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case r.n[fateMoving] > serialMax:
		j.refute("tokens arrive on %s at once", count(r.n[fateMoving], "call"))
		return
	case !running.ok():
		j.open(0, "decode_running, sampled while requests are out")
		if r.n[fateMoving] == 1 && r.sum(fateOpen, fateUnanswered) >= queueMin {
			j.open(0.4, j.decideBy)
			j.pro("tokens arrive on one call only, while %d others wait for their first", r.sum(fateOpen, fateUnanswered))
		}
		return
	case running.max > serialMax:
		j.refute("decode_running reached %s during the stall, so requests are batched", num(running.max))
		return
	case running.max == 0:
		j.refute("decode_running 0, %s: nothing decodes", r.gauges.under)
		return
	case r.gauges.stands(decodeTokens):
		j.refute("decode_tokens_total stands still: nothing decodes, whatever its gauges say")
		return
	case 2*float64(r.n[fateUnpaired]) >= waiting && r.n[fateUnpaired] > 0:
		j.refute("%d of those that wait for it have been overtaken by later ones: the batch has room", r.n[fateUnpaired])
		return
	case r.gauges.recent[decodeKV].min >= memoryFull && 2*r.gauges.recent[decodePrealloc].mean >= waiting:
		j.refute("%s, and most that wait for the batch are in decode_prealloc: they wait for memory", r.gauges.told(decodeKV))
		return
	case waiting < queueMin:
		j.refute("on average %s requests waited to join the decode batch, %s", num(waiting), r.gauges.under)
		return
	}
	j.support(0.95 * r.share(r.sum(fateDecodeWait, fateMoving, fateServed)))
	j.beside = fmt.Sprintf("the decode engine runs at most %s at a time", count(int(running.max), "request"))
	j.pro("decode_running never above %s, while %s requests on average waited to join (queue, transfer and prealloc together), %s",
		num(running.max), num(waiting), r.gauges.under)
	j.pro("tokens arrive on %s of the %s at the servers", count(r.n[fateMoving], "call"), count(r.sides.Sent, "request"))
	if kv := &r.gauges.recent[decodeKV]; kv.max >= memoryHigh {
		j.support(j.score / 2)
		j.con("decode_token_usage reached %s: the queue may wait for memory instead", num(kv.max))
	} else if kv.ok() {
		j.pro("decode_token_usage at most %s: the queue does not wait for memory", num(kv.max))
	}
}
