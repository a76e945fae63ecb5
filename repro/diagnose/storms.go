package diagnose

import "fmt"

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
