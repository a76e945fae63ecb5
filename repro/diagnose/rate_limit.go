package diagnose

import (
	"fmt"
	"time"
)

// rateLimit: calls wait for the pacer's own rate of requests or tokens, mostly with a slot in hand.
func rateLimit() cause {
	return cause{
		name: CauseRateLimit, outcome: Slow, layer: LayerPacer,
		judge: judgeRateLimit,
		because: func(r *reading) string {
			w := r.rateWaiters()
			text := fmt.Sprintf("The pacer's own rate (requests or tokens a second) lets calls go one by one: %s for it, the longest for %s", does(w.n, "call", "waits", "wait"), secs(w.most))
			if w.slots > 0 {
				text += ", and " + areOfAll(w.slots, r.pool.inUse, "slot") + " held meanwhile"
			}
			text += fmt.Sprintf(". The servers have %s. The waits end by themselves, at the pace of the rate.", count(r.sides.Sent, "request"))
			return text
		},
		next: func(r *reading) []string {
			out := []string{"raise pacer.requests_per_second or pacer.tokens_per_second, whichever is set, if the servers take more: they had " + count(r.sides.Sent, "request") + " at this capture"}
			if r.rateWaiters().slots > 0 {
				out = append(out, "or have fewer slots (pacer.slots) or agents: a slot that waits for the rate is of no use to anybody")
			}
			return append(out, "raise watchdog.stall_after above what the rate needs for one call of each agent, if it is meant to be so low")
		},
	}
}

// rateWaiters sums up the calls that have waited for the rate for rateMin or more.
type rateWaiters struct {
	n, slots int // all; those that hold a slot
	young    int // those that have not waited for so long
	most     time.Duration
}

func (r *reading) rateWaiters() rateWaiters {
	var w rateWaiters
	for i := range r.calls {
		c := &r.calls[i]
		if c.fate != fateRate {
			continue
		}
		waited := age(r.now.At, c.Since)
		if waited < rateMin {
			w.young++
			continue
		}
		w.n++
		w.most = max(w.most, waited)
		if c.HoldsSlot {
			w.slots++
		}
	}
	return w
}

func judgeRateLimit(r *reading, j *judgement) {
	w := r.rateWaiters()
	switch {
	case w.n+w.young == 0:
		j.refute("no call waits for the pacer's rate")
		return
	case w.n == 0:
		j.open(0.2*r.share(w.young), "the waits for the rate at a later capture: are they any longer?")
		j.pro("%s for the pacer's rate, none for %s or more", does(w.young, "call", "waits", "wait"), secs(rateMin))
		return
	}
	j.support(0.95 * r.share(w.n))
	j.beside = fmt.Sprintf("%s for the pacer's own rate", does(w.n, "call", "waits", "wait"))
	j.pro("%s for the pacer's rate, the longest for %s", does(w.n, "call", "waits", "wait"), secs(w.most))
	if w.slots > 0 {
		j.pro("%s held by them", areOfAll(w.slots, r.pool.inUse, "slot"))
	}
	if r.pool.blocks() {
		j.pro("%s for a slot behind them, the longest for %s", does(r.pool.waiting, "call", "waits", "wait"), secs(r.pool.longest))
		if 2*w.slots > r.pool.inUse {
			j.outcome = Starved
		}
	}
	if n := r.n[fateMoving]; n > 0 {
		j.con("tokens arrive on %s", count(n, "call"))
	}
}
