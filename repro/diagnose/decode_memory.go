package diagnose

import "fmt"

// decodeMemory: the decode side has no memory left for the request at the head of its queue.
func decodeMemory() cause {
	return cause{
		name: CauseDecodeMemory, outcome: Wedged, layer: LayerDecode,
		judge: judgeDecodeMemory,
		because: func(r *reading) string {
			return fmt.Sprintf("The decode side's memory is full (decode_token_usage %s) and %s for room that does not come.",
				num(r.gauges.recent[decodeKV].last), does(r.n[fateDecodeStuck], "request", "waits", "wait"))
		},
		next: func(r *reading) []string {
			return []string{
				"compare the longest prompt with the decode side's memory in tokens: does the head of the queue fit at all?",
				"lower cuda-graph-max-bs or raise mem-fraction-static, and look at decode_token_usage again",
			}
		},
	}
}

func judgeDecodeMemory(r *reading, j *judgement) {
	g := &r.gauges.recent
	usage := &g[decodeKV]
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
	case !usage.ok():
		j.open(0, "decode_token_usage, sampled while requests are out")
	case usage.max < memoryFull:
		j.refute("decode_token_usage at most %s, %s", num(usage.max), r.gauges.under)
	case r.n[fateDecodeStuck] > 0 && g[decodePrealloc].min >= 1:
		j.support(0.85 * r.share(r.n[fateDecodeStuck]))
		j.beside = "the decode side's memory is full"
		j.pro("%s and %s, %s", usage.tell("decode_token_usage"), g[decodePrealloc].tell("decode_prealloc"), r.gauges.under)
		j.pro("%s for room in the decode batch, which does not move", does(r.n[fateDecodeStuck], "request", "waits", "wait"))
	default:
		j.open(0.2, "decode_prealloc over half a minute: does its head ever fit?")
		j.pro("decode_token_usage reached %s", num(usage.max))
		j.con("no request is seen to wait for it in vain")
	}
}
