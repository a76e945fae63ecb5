package diagnose

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
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
			return fmt.Sprintf("Time limits cut requests off before they finish: %s in the stall (%s) and no call completed; %d tokens that had arrived were thrown away, and the servers' work on the rest with them.",
				does(w.AttemptsTimeout, "attempt", "ran into one", "ran into one"), limitsOf(w), w.TokensWasted)
		},
		next: func(r *reading) []string {
			out := []string{
				"raise the limits above the service time seen here, or limit the time without a token instead of the total: --set policy.total=0s --set policy.idle=60s",
				"check whether the servers stop working on requests that were cut off",
			}
			return append(out, r.limitAdvice()...)
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

// mostFirst says whether most calls that have been sent are at their first attempt.
func (r *reading) mostFirst() bool {
	again, begun := r.retried()
	return again == 0 || 2*again < begun
}

// noStorm refutes a storm if most calls that have been sent are at their first attempt.
func (r *reading) noStorm(j *judgement, what string) bool {
	again, begun := r.retried()
	if !r.mostFirst() {
		return false
	}
	j.refute("%d of %s in flight have had an attempt %s", again, count(begun, "call"), what)
	return true
}

// cutOff counts the calls in flight whose latest failure was a time limit, by their own word.
func (r *reading) cutOff() int {
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; (c.Attempts > 1 || c.fate == fateBackoff) && limited(c.CallState) {
			n++
		}
	}
	return n
}

func judgeTimeoutCascade(r *reading, j *judgement) {
	w := &r.now.Window
	switch {
	case w.AttemptsTimeout <= 0:
		j.refute("no attempt ran into a time limit during the stall")
		return
	case r.noStorm(j, "cut off"):
		return
	case w.TimeoutsIdle > 0 && 2*w.TimeoutsIdle >= w.AttemptsTimeout:
		j.open(0.1, "what the streams that the idle limit ended had been waiting for: see the other hypotheses")
		j.con("%d of these were ended by the idle limit, which is for streams that are quiet already", w.TimeoutsIdle)
	case w.CallsCompleted > 0, w.AttemptsTimeout < r.aStorm() && 2*r.cutOff() < len(r.calls):
		j.open(0.1, "the attempts of the next stall: do they outnumber the calls?")
		j.con("%s completed in the same time", count(w.CallsCompleted, "call"))
	case 4*r.pins.inStall >= r.now.StalledFor && r.pins.any():
		j.open(0.2, "the attempts of a stall in which prefill works all the time: do they run into the limit too?")
		j.con("prefill stood still for %s of the stall: what was cut off waited for that", secs(r.pins.inStall))
	case r.engineStands():
		j.open(0.2, "decode_tokens_total and prefill_tokens_total over half a minute: would anything have finished without the limit?")
		j.con("the servers make no token: what the limits cut off was not being worked on")
	case r.pins.ended > 0 && 2*r.pins.inStall >= r.now.StalledFor:
		j.open(0.3, "the attempts of the next minutes: does the limit cut off what prefill works on?")
		j.con("prefill stood still for %s of the stall: what the limits cut off was not being worked on", secs(r.pins.inStall))
	case r.pastTheLimits():
		j.open(0.3, "the calls that get tokens now: do they end well?")
		j.con("%s tokens, and no limit that fired in the stall cuts those off", does(r.n[fateMoving], "call", "gets", "get"))
	case w.TokensWasted <= 0 && !r.counting():
		j.open(0.3, "tokens received before each limit: was anything cut off that would have finished?")
		j.con("no token was lost with them")
	default:
		// Holders that are alive do not speak against it: they are cut off before they finish.
		j.support(stormScore)
		j.beside = "time limits cut requests off"
		r.wasteObservations(j)
	}
	if n := r.sides.RouterOnly; n > 0 {
		j.pro("the router's log has no finished line for %s that no agent waits for: clients that left before the headers leave such lines", count(n, "request"))
	}
	j.pro("%s into a time limit during the stall (%s), with %s in flight", does(w.AttemptsTimeout, "attempt", "ran", "ran"), limitsOf(w), count(len(r.calls), "call"))
}

// pastTheLimits says whether a good part of what is out gets tokens, while all limits that fired in the
// stall are about the time before the first one: those calls will end well.
func (r *reading) pastTheLimits() bool {
	w := &r.now.Window
	early := w.TimeoutsConnect + w.TimeoutsHeader + w.TimeoutsFirst
	return early > 0 && w.TimeoutsIdle+w.TimeoutsTotal+w.TimeoutsWork+w.TimeoutsCall == 0 && w.TokensWasted <= 0 && 4*r.n[fateMoving] >= r.sides.Sent && r.n[fateMoving] > 0
}

// wasteObservations adds what is lost with the attempts that were cut off.
func (r *reading) wasteObservations(j *judgement) {
	if n := r.now.Window.TokensWasted; n > 0 {
		j.pro("%d tokens that they had received are lost", n)
	} else {
		j.pro("the servers work, and all of it is for requests that are cut off before their first token")
	}
	if n := r.cutOff(); n > 0 {
		j.pro("the latest attempt of %s ran into one", ofAll(n, len(r.calls), "call"))
	}
	if took := r.now.Totals; took.AttemptsOK > 0 {
		j.pro("the %s that have ended well in this run took %s on average", count(took.AttemptsOK, "attempt"), secs(took.AttemptsTook/time.Duration(took.AttemptsOK)))
	}
}

// limitsOf names the limits that fired.
func limitsOf(t *harness.Totals) string {
	var parts []string
	for _, l := range []struct {
		n    int
		name pacer.Limit
	}{
		{t.TimeoutsConnect, pacer.LimitConnect}, {t.TimeoutsHeader, pacer.LimitResponseHeader}, {t.TimeoutsFirst, pacer.LimitFirstToken},
		{t.TimeoutsIdle, pacer.LimitIdle}, {t.TimeoutsTotal, pacer.LimitTotal}, {t.TimeoutsWork, pacer.LimitWork}, {t.TimeoutsCall, pacer.LimitCallTotal},
	} {
		if l.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", l.name, l.n))
		}
	}
	if len(parts) == 0 {
		return "which one is not known"
	}
	return strings.Join(parts, ", ")
}
