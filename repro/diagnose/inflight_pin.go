package diagnose

import "fmt"

// inflightPin: entries of aborted requests stay in the prefill engine's inflight queue.
func inflightPin() cause {
	return cause{
		name: CauseInflightPin, outcome: Wedged, layer: LayerPrefill,
		judge: judgeInflightPin,
		because: func(r *reading) string {
			return fmt.Sprintf("At least %s in the prefill engine's inflight queue all the time, and nothing is decoded: their memory is never freed, and %s behind them.",
				does(int(r.gauges.recent[prefillInflight].min), "entry", "is", "are"), does(r.n[fateInflight], "call", "waits", "wait"))
		},
		next: func(r *reading) []string {
			return []string{
				"stop all agents and look at prefill_inflight again: a floor above 0 without any request is a pinned entry",
				"search the prefill log for aborts of requests that were in the inflight queue",
			}
		},
	}
}

func judgeInflightPin(r *reading, j *judgement) {
	g := &r.gauges.recent
	pinned := &g[prefillInflight]
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
		return
	case !pinned.ok():
		j.open(0, "prefill_inflight over half a minute, while requests are out and after")
		return
	case pinned.min == 0:
		j.refute("prefill_inflight was 0 at least once, %s", r.gauges.under)
		return
	}
	j.pro("%s, never 0, %s", pinned.tell("prefill_inflight"), r.gauges.under)
	long := age(pinned.to, pinned.from) >= stillMin
	if r.n[fateInflight] == 0 || g[decodeRunning].max > 0 || !long {
		j.open(0.1, "prefill_inflight after the agents have stopped: is there a floor above 0?")
		if g[decodeRunning].max > 0 {
			j.con("%s: the entries may belong to requests that are decoded", g[decodeRunning].tell("decode_running"))
		}
		return
	}
	j.support(0.8 * r.share(r.n[fateInflight]))
	j.beside = fmt.Sprintf("%s in the prefill inflight queue all the time", does(int(pinned.min), "entry", "is", "are"))
	j.pro("decode_running 0 all the while: what is sent does not arrive")
}
