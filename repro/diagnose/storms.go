package diagnose

import (
	"fmt"
	"strings"
)

// stormScore is how surely a storm is one once attempts that were cut off or refused outnumber the
// calls and none completed: above what calls that look alive are worth.
const stormScore = 0.97

// timeoutCascade: a time limit below the service time cuts requests off and sends them again.
func timeoutCascade() cause {
	return cause{
		name: CauseTimeoutCascade, outcome: Storming, layer: LayerDecode,
		judge: judgeTimeoutCascade,
		because: func(r *reading) string {
			w := &r.now.Window
			return fmt.Sprintf("Time limits cut requests off before they finish: %s in the stall and none completed, and %d tokens were thrown away.",
				does(w.AttemptsTimeout, "attempt", "ran into one", "ran into one"), w.TokensWasted)
		},
		next: func(r *reading) []string {
			return []string{
				"raise the limits above the service time seen here, or limit the time without a token instead of the total: --set policy.total=0s --set policy.idle=60s",
				"check whether the servers stop working on requests that were cut off",
			}
		},
	}
}

// aStorm is how many failed attempts make a storm: each call has had one, and stormMin at least.
func (r *reading) aStorm() int { return max(stormMin, len(r.calls)) }

// retried counts the calls that are at their second attempt or later, or wait for it, and all that
// have begun an attempt. Attempts that failed while the stall was young say nothing of now if their
// calls have ended since.
func (r *reading) retried() (again, begun int) {
	for i := range r.calls {
		c := &r.calls[i]
		if c.Attempts > 1 || c.fate == fateBackoff {
			again++
		}
		if c.Attempts > 0 {
			begun++
		}
	}
	return again, begun
}

// refused503 counts the calls whose latest failure was an HTTP status 503.
func (r *reading) refused503() int {
	n := 0
	for i := range r.calls {
		if strings.Contains(r.calls[i].LastError, "status 503") {
			n++
		}
	}
	return n
}

// noStorm refutes a storm if most calls that have been sent are at their first attempt.
func (r *reading) noStorm(j *judgement, what string) bool {
	again, begun := r.retried()
	if again > 0 && 2*again >= begun {
		return false
	}
	j.refute("%d of %s in flight have had an attempt %s", again, count(begun, "call"), what)
	return true
}

func judgeTimeoutCascade(r *reading, j *judgement) {
	w := &r.now.Window
	switch {
	case w.AttemptsTimeout <= 0:
		j.refute("no attempt ran into a time limit during the stall")
		return
	case r.noStorm(j, "cut off"):
		return
	case w.AttemptsTimeout < r.aStorm() || w.CallsCompleted > 0:
		j.open(0.1, "the attempts of the next stall: do they outnumber the calls?")
		j.con("%s completed in the same time", count(w.CallsCompleted, "call"))
	case w.TokensWasted <= 0:
		j.open(0.3, "tokens received before each limit: was anything cut off that would have finished?")
		j.con("no token was lost with them")
	default:
		// Holders that are alive do not speak against it: they are cut off before they finish.
		j.support(stormScore)
		j.beside = "time limits cut requests off"
		j.pro("%d tokens that they had received are lost", w.TokensWasted)
	}
	if n := r.sides.RouterOnly; n > 0 {
		j.pro("%s open at the router though no agent waits for the answer", does(n, "request", "is", "are"))
	}
	j.pro("%s into a time limit during the stall, with %s in flight", does(w.AttemptsTimeout, "attempt", "ran", "ran"), count(len(r.calls), "call"))
}

// retryStorm: refusals are met with retries at once, or all together.
func retryStorm() cause {
	return cause{
		name: CauseRetryStorm, outcome: Storming, layer: LayerPacer,
		judge: func(r *reading, j *judgement) { judgeRefusals(r, j, false) },
		because: func(r *reading) string {
			w := &r.now.Window
			return fmt.Sprintf("Refused requests are sent again and again: %s with an error status in the stall, and no call completed.", does(w.AttemptsStatus, "attempt", "ended", "ended"))
		},
		next: func(r *reading) []string {
			return []string{"longer backoff with full jitter: --set policy.jitter=full, and look at Retry-After in the answers"}
		},
	}
}

// routerQueue: the router's queue is full, it answers 503, and the requests come back at once.
func routerQueue() cause {
	return cause{
		name: CauseRouterQueue, outcome: Storming, layer: LayerRouter,
		judge: func(r *reading, j *judgement) { judgeRefusals(r, j, true) },
		because: func(r *reading) string {
			w := &r.now.Window
			return fmt.Sprintf("The router has as many requests as it takes and refuses what comes on top: %s with an error status in the stall, and no call completed.",
				does(w.AttemptsStatus, "attempt", "ended", "ended"))
		},
		next: func(r *reading) []string {
			return []string{"fewer requests at once than the router's limit (max-queued-requests), or a higher limit", "back off for longer after a 503"}
		},
	}
}

// judgeRefusals judges the two causes in which the servers refuse requests: with a queue at the
// router, and without.
func judgeRefusals(r *reading, j *judgement, queue bool) {
	w := &r.now.Window
	queued := &r.gauges.recent[routerQueued]
	switch {
	case w.AttemptsStatus <= 0:
		j.refute("no attempt ended with an error status during the stall")
		return
	case r.noStorm(j, "refused"):
		return
	case queue && queued.ok() && queued.max == 0 && r.refused503() == 0:
		j.refute("router_queued 0, %s, and no call was refused with status 503", r.gauges.under)
		return
	case w.AttemptsStatus < 2*r.aStorm() || w.CallsCompleted > 0:
		j.open(0.1, "the attempts of the next stall: do they outnumber the calls?")
	case queue && !queued.ok() && 2*r.refused503() < len(r.calls):
		j.open(0.3, "router_queued, and the statuses: is it 503?")
	case queue:
		j.support(stormScore)
		if queued.ok() {
			j.pro("%s, %s", queued.tell("router_queued"), r.gauges.under)
		}
		j.pro("the latest failure of %s was status 503", count(r.refused503(), "call"))
	default:
		j.support(stormScore - 0.01) // the queue at the router says more, where there is one
	}
	j.pro("%s with an error status during the stall, with %s in flight and %s completed", does(w.AttemptsStatus, "attempt", "ended", "ended"), count(len(r.calls), "call"), count(w.CallsCompleted, "call"))
}
