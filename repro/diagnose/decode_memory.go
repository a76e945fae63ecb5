package diagnose

import "fmt"

// decodeMemory: the decode side has no memory left for the request at the head of its queue.
func decodeMemory() cause {
	return cause{
		name: CauseDecodeMemory, outcome: Wedged, layer: LayerDecode,
		judge: judgeDecodeMemory,
		because: func(r *reading) string {
			if n := r.memoryWaiters(); n > 0 {
				return fmt.Sprintf("The decode side's memory is full (decode_token_usage up to %s) and %s for room that does not come.",
					num(r.gauges.stall[decodeKV].max), does(n, "request", "waits", "wait"))
			}
			text := fmt.Sprintf("The decode side's memory is full (decode_token_usage up to %s): it works on %s at a time, and %s for room, which comes only as these end.",
				num(r.gauges.stall[decodeKV].max), count(int(r.gauges.recent[decodeRunning].mean+0.5), "request"), does(r.sum(fateDecodeWait, fateRetracted), "request", "waits", "wait"))
			if n := r.gauges.grown(decodeRetracted); n >= stormMin {
				text += fmt.Sprintf(" Running requests were taken out of the batch %s times in the stall to make room, and come back before any new one: more is admitted than fits.", num(n))
			}
			return text
		},
		next: func(r *reading) []string {
			if r.memoryWaiters() == 0 && r.gauges.grown(decodeRetracted) >= stormMin {
				return []string{
					"fewer requests at once (--set pacer.slots), or more memory for them: each that is taken out of the batch loses its turn, and the time of the others",
					"let decode keep more room for what its requests will still generate: --num-reserved-decode-tokens (servers.decode.reserve_tokens), or a higher schedule-conservativeness",
				}
			}
			return []string{
				"compare the longest prompt with the decode side's memory in tokens: does the head of the queue fit at all?",
				"lower cuda-graph-max-bs or raise mem-fraction-static, and look at decode_token_usage again",
			}
		},
	}
}

func judgeDecodeMemory(r *reading, j *judgement) {
	g := &r.gauges
	usage := &g.stall[decodeKV]
	waiting := r.memoryWaiters()
	retracted := g.grown(decodeRetracted)
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !usage.ok() || !g.has(decodeKV):
		j.open(0, "decode_token_usage, sampled while requests are out")
		return
	case usage.max < memoryFull && retracted == 0 && r.n[fateRetracted] == 0:
		j.refute("decode_token_usage at most %s, %s", num(usage.max), g.under)
		return
	case waiting > 0 && !r.decodeMoves():
		j.support(0.92 * r.share(waiting))
		j.beside = "the decode side's memory is full"
	case r.n[fateRetracted] > 0, usage.max >= memoryFull && g.recent[decodePrealloc].min >= queueMin:
		// Decode works, so that they have their turn one by one.
		j.outcome = Starved
		j.support(0.96 * r.share(r.sum(fateDecodeWait, fateRetracted)))
		j.beside = "the decode side's memory is full"
	default:
		j.open(0.2, "decode_prealloc over half a minute: does its head ever fit?")
		j.con("no request is seen to wait for it in vain")
		if retracted >= stormMin {
			j.notice("decode's memory is full, and running requests had to give it up %s times in the stall", num(retracted))
		}
	}
	j.pro("%s", g.told(decodeKV))
	j.pro("%s, and %s", g.recent[decodePrealloc].tell("decode_prealloc"), g.recent[prefillBootstrap].tell("prefill_bootstrap"))
	if waiting > 0 {
		j.pro("%s for room in the decode batch or for a handshake that needs it", does(waiting, "call", "waits", "wait"))
	}
	if n := r.n[fateRetracted]; n > 0 {
		j.pro("%s in mid-answer and the router still has %s, as decode does with what it retracts", does(n, "stream", "stopped", "stopped"), verb(n, "it", "them"))
	}
	if retracted > 0 {
		j.pro("decode_retracted_total grew by %s in the stall: running requests had to give up their memory", num(retracted))
	}
	if failed := g.grown(bootstrapFailed); failed > 0 {
		j.pro("prefill_bootstrap_failed_total grew by %s in the stall: prefill gives up after waiting for decode's memory", num(failed))
	}
}

// memoryWaiters counts the calls that the decode side's memory may keep waiting, directly or at the
// prefill side, which waits for it too.
func (r *reading) memoryWaiters() int { return r.stuck() - r.n[fateInflight] }
