package diagnose

import "fmt"

// inflightPin: entries of aborted requests stay in the prefill engine's inflight queue.
func inflightPin() cause {
	return cause{
		name: CauseInflightPin, outcome: Wedged, layer: LayerPrefill,
		judge: judgeInflightPin,
		because: func(r *reading) string {
			run, _ := r.leftEarly()
			return fmt.Sprintf("At least %s in the prefill engine's inflight queue all the time, since before the requests that wait now: their clients have left (%s so far), their memory and slots are never freed, and %s behind them. Prefill computes nothing.",
				does(int(r.pins.entries), "entry", "is", "are"), does(run, "request", "was left early", "were left early"), does(r.stuck(), "call", "waits", "wait"))
		},
		next: func(r *reading) []string {
			return []string{
				"stop all agents and look at prefill_inflight again: a floor above 0 without any request is a pinned entry",
				"search the prefill log for aborts of requests that were in the inflight queue, and update SGLang if it is older than the fix of that (#24522)",
				"raise the time limits that make agents leave a request before its first token: each one that fires there may pin an entry",
			}
		},
	}
}

func judgeInflightPin(r *reading, j *judgement) {
	if !r.pinsMayBe(j) {
		return
	}
	p := &r.pins
	switch {
	case p.ended > 0:
		j.refute("prefill went on after %s with entries in its inflight queue: something releases them", count(p.ended, "pause"))
		return
	case !p.open:
		j.open(0.1, "prefill_inflight after the agents have stopped: is there a floor above 0?")
		return
	case r.stuck() == 0:
		j.open(0.1, "prefill_inflight after the agents have stopped: is there a floor above 0?")
		j.con("no call waits behind the entries")
		return
	case !r.memoryFree():
		j.open(0.3*r.share(r.stuck()), "prefill_inflight after the agents have stopped: is there a floor above 0?")
		r.pinObservations(j)
		j.con("%s: prefill may wait for the decode side's memory", r.gauges.told(decodeKV))
		return
	}
	j.support(0.9 * r.share(r.stuck()+r.refusedBehind()))
	j.beside = fmt.Sprintf("%s in the prefill inflight queue all the time", does(int(p.entries), "entry", "is", "are"))
	r.pinObservations(j)
	j.pro("%s for the first token behind them, and prefill does not move", does(r.stuck(), "call", "waits", "wait"))
	if n := r.refusedBehind(); n > 0 {
		j.pro("%s refused with 503 meanwhile: the router is full of those that wait there", does(n, "call", "is", "are"))
	}
	if r.now.EndedAt != 0 {
		j.con("the stall ended by itself: something may release the entries")
	}
}
