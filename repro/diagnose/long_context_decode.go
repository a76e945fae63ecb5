package diagnose

import "fmt"

// longContextDecode: the decode engine has the requests in its batch and produces nothing, as an
// attention kernel does that hangs above some length of context.
func longContextDecode() cause {
	return cause{
		name: CauseLongContextDecode, outcome: Wedged, layer: LayerDecode,
		judge: judgeLongContextDecode,
		because: func(r *reading) string {
			return fmt.Sprintf("The decode engine holds %s in its batch and produces no token for any: it hangs, or crawls, and the requests in it will not finish.", count(r.n[fateDecodeHung], "request"))
		},
		next: func(r *reading) []string {
			return []string{
				"find out what the requests have in common: the length of their contexts, their round",
				"run one request with a context as long as theirs, and one with a short one, and compare tokens a second",
				"compare the decode engine's settings with those of the last day it worked",
			}
		},
	}
}

func judgeLongContextDecode(r *reading, j *judgement) {
	rate, over, ok := r.gauges.recent[decodeTokens].rate()
	switch {
	case r.n[fateDecodeHung] > 0:
		j.support(0.85 * r.share(r.n[fateDecodeHung]))
		j.beside = fmt.Sprintf("%s in the decode batch without a token", does(r.n[fateDecodeHung], "request", "is", "are"))
		j.pro("%s, but decode_tokens_total has not moved for %s", r.gauges.recent[decodeRunning].tell("decode_running"), secs(over))
		j.pro("%s quiet for up to %s", does(r.n[fateDecodeHung], "call", "is", "are"), secs(r.oldest(fateDecodeHung)))
		j.con("gauges can freeze with their engine: the batch may be older than it looks")
	case ok && rate > 0:
		j.refute("the decode engine produced %.0f tokens a second over %s", rate, secs(over))
	case r.n[fateMoving] > 0:
		j.refute("tokens arrive on %s", count(r.n[fateMoving], "call"))
	case r.n[fateOpen] > 0:
		j.open(0.3*r.share(r.n[fateOpen]), "decode_tokens_total over half a minute, while requests are out")
		j.pro("%s quiet, and the servers have them", does(r.n[fateOpen], "call", "is", "are"))
	case r.sum(fateUnanswered, fateSilent) > 0 && r.gauges.loaded == 0:
		j.open(0.1, "decode_running and decode_tokens_total over half a minute, while requests are out")
	default:
		j.refute("no quiet call is in the decode batch")
	}
}
