package diagnose

import "fmt"

// prefillBottleneck: long prompts queue up for prefill, so most requests wait for their first token.
func prefillBottleneck() cause {
	return cause{
		name: CausePrefillBottleneck, outcome: Starved, layer: LayerPrefill,
		judge: judgePrefillBottleneck,
		because: func(r *reading) string {
			text := fmt.Sprintf("Prefill is the narrow place: %s for it, the oldest for %s, while decode runs %s.",
				ofAll(r.n[fatePrefill], r.sides.Sent, "request")+" "+verb(r.n[fatePrefill], "waits", "wait"), secs(r.oldest(fatePrefill)), count(int(r.gauges.recent[decodeRunning].mean+0.5), "request"))
			if rate, _, ok := r.gauges.recent[prefillTokens].rate(); ok {
				text += fmt.Sprintf(" Prefill works at %.0f tokens a second, so the queue drains, prompt by prompt.", rate)
			}
			return text
		},
		next: func(r *reading) []string {
			return []string{
				"shorten the prompts or keep a common prefix, so that the cache saves prefill work",
				"measure the time to first token of one long prompt alone: times the number of agents, it is the wait seen here",
				"add prefill capacity; more slots would only lengthen the queue",
			}
		},
	}
}

func judgePrefillBottleneck(r *reading, j *judgement) {
	g := &r.gauges.recent
	waiting := g[prefillQueue].mean + max(0, g[prefillBootstrap].mean-g[decodePrealloc].mean)
	n := r.n[fatePrefill]
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !g[prefillQueue].ok() && !g[prefillBootstrap].ok():
		j.open(0, "prefill_queue and prefill_tokens_total, sampled while requests are out")
		if early := r.sum(fateOpen, fateUnanswered); 2*early >= r.sides.Sent && early > 0 {
			j.open(0.3, j.decideBy)
			j.pro("%s without a token so far", areOfAll(early, r.sides.Sent, "request"))
		}
		return
	case waiting < queueMin:
		j.refute("on average %s requests waited for prefill, %s", num(waiting), r.gauges.under)
		return
	case r.n[fatePrefillStuck] > 0:
		j.refute("prefill_tokens_total does not move: prefill does not work on its queue at all")
		return
	case 2*n < r.sides.Sent:
		j.refute("%d of %s for prefill, less than half", n, does(r.sides.Sent, "request", "waits", "wait"))
		return
	}
	// What decodes by now has come through the same queue.
	j.support(0.95 * (r.share(n) + 0.5*r.share(r.sum(fateMoving, fateServed))))
	j.beside = fmt.Sprintf("%s for prefill", does(n, "request", "waits", "wait"))
	j.pro("%s for prefill; on average %s were queued there, %s", ofAll(n, r.sides.Sent, "request")+" "+verb(n, "waits", "wait"), num(waiting), r.gauges.under)
	if rate, over, ok := g[prefillTokens].rate(); ok {
		j.pro("prefill_tokens_total grew by %.0f tokens a second over %s: prefill works", rate, secs(over))
	}
	if s := &g[decodeRunning]; s.ok() {
		j.pro("%s: decode has little to do", s.tell("decode_running"))
	}
	if r.pool.blocks() {
		j.con("%s for a slot as well", does(r.pool.waiting, "call", "waits", "wait"))
	}
}
