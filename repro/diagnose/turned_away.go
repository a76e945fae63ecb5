package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness"
)

// turnedAway: the client's own throttle, breaker, queue for slots or retry budget ends calls that the servers
// never see, or not again. It is judged only where one of them has.
func turnedAway() cause {
	return cause{
		name: CauseTurnedAway, outcome: Failed, layer: LayerPacer,
		judge: judgeTurnedAway,
		because: func(r *reading) string {
			t := &r.now.Totals
			if r.turnsAwayNow() {
				return fmt.Sprintf("The client turns its own calls away before they are sent, %s in the stall, and no call completed. The servers have %s.",
					times(r.now.Window.AttemptsRejected+r.now.Window.AttemptsShed), count(r.sides.Sent, "request"))
			}
			text := fmt.Sprintf("It was the client's own policy that ended %s of agents that have failed: turned away before being sent, or given no further attempt.", count(t.CallsTurnedAway+t.CallsOverBudget, "call"))
			if t.AttemptsStatus == 0 {
				text += " The servers have refused nothing."
			}
			return text
		},
		next: turnedAwayAdvice,
	}
}

// ownPolicy says whether the client has turned anything away itself.
func ownPolicy(t *harness.Totals) bool {
	return t.AttemptsRejected+t.AttemptsShed+t.CallsOverBudget > 0
}

// turnsAwayNow says whether calls were turned away in the stall, nothing else came of it, and most of those in
// flight wait for another try.
func (r *reading) turnsAwayNow() bool {
	w := &r.now.Window
	return w.AttemptsRejected+w.AttemptsShed >= 2*r.aStorm() && w.CallsCompleted == 0 && 2*r.n[fateBackoff] >= len(r.calls) && len(r.calls) > 0
}

func judgeTurnedAway(r *reading, j *judgement) {
	t := &r.now.Totals
	ended := t.CallsTurnedAway + t.CallsOverBudget
	share := float64(min(ended, r.agents.Failed)) / float64(max(1, r.agents.Total))
	switch {
	case r.turnsAwayNow():
		j.support(stormScore)
		j.outcome = Storming
	case ended == 0 || r.agents.Failed == 0:
		j.refute("%s turned away by the client itself, and no agent failed of it", does(t.AttemptsRejected+t.AttemptsShed, "attempt", "was", "were"))
		return
	case 2*share >= 1: // then what holds up the others is the lesser part
		j.support(stormScore)
	default:
		j.support(stormScore * share)
		j.con("%s left that did not fail of it", does(r.agents.Blocked, "agent", "is", "are"))
	}
	j.beside = fmt.Sprintf("the client's own policy ended %s", count(ended, "call"))
	for _, text := range controlTexts(r.now) {
		j.pro("%s", text)
	}
}

// turnedAwayAdvice says what to change, by what has turned calls away.
func turnedAwayAdvice(r *reading) []string {
	t := &r.now.Totals
	var out []string
	if t.AttemptsRejected > t.RejectedBreaker {
		out = append(out, "a throttle must have seen successes before it may turn away: stock windows and thresholds are made for calls of milliseconds, so leave policy.throttle out, or give it a window of many calls and count an attempt at its end (count_at_end)")
	}
	if t.RejectedBreaker > 0 {
		out = append(out, "a breaker of calls that take minutes: a higher failure_threshold, a shorter delay, and limits that do not end healthy calls, since each of those counts as a failure (policy.breaker)")
	}
	if t.AttemptsShed > 0 {
		out = append(out, "more room in the queue for slots (pacer.queue), or policy.retry_shed=true, so that who is turned away comes back later")
	}
	if t.CallsOverBudget > 0 {
		out = append(out, "find what makes the retries necessary before the budget is raised (policy.retry_budget): it only bounds them")
	}
	return out
}

// controlTexts says what the client's own controls have done since the start of the run, in sentences without
// their full stops.
func controlTexts(e *harness.Evidence) []string {
	t, s := &e.Totals, &e.Setup
	var out []string
	if n := t.AttemptsRejected - t.RejectedBreaker; n > 0 {
		text := fmt.Sprintf("the client's own throttle%s turned %s away, so that the servers never saw %s", byRule(s.Throttle), count(n, "attempt"), verb(n, "it", "them"))
		if c := e.Controls; c != nil && c.Throttle > 0 {
			text += fmt.Sprintf("; it turns the next one away with a probability of %.0f %%", 100*c.Throttle)
		}
		out = append(out, text)
	}
	if n := t.RejectedBreaker; n > 0 {
		out = append(out, fmt.Sprintf("the client's own breaker%s turned %s away, so that the servers never saw %s%s", byRule(s.Breaker), count(n, "attempt"), verb(n, "it", "them"), breakerNow(e)))
	}
	if n := t.AttemptsShed; n > 0 {
		out = append(out, fmt.Sprintf("the client's own queue for slots (pacer.queue) turned %s away", count(n, "attempt")))
	}
	if n := t.CallsTurnedAway; n > 0 {
		out = append(out, fmt.Sprintf("%s failed of being turned away", count(n, "call")))
	}
	if n := t.CallsOverBudget; n > 0 {
		text := fmt.Sprintf("the retry budget%s was used up when %s, and so failed", byRule(s.RetryBudget), does(n, "call", "needed another attempt", "needed another attempt"))
		if c := e.Controls; c != nil && c.Budget >= 0 && c.Budget < 1 {
			text += "; it is used up now"
		}
		out = append(out, text)
	}
	return out
}

func byRule(rule string) string {
	if rule == "" {
		return ""
	}
	return " (rule " + rule + ")"
}

// breakerNow says how the breaker stands.
func breakerNow(e *harness.Evidence) string {
	c := e.Controls
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("; it was open for %s", secs(c.BreakerOpen))
	switch c.Breaker {
	case "open":
		return text + ", and is open now"
	case "half_open":
		return text + ", and lets only probes out now"
	}
	return text + ", and is closed now"
}

// wideLimitTexts says what the limits of calls, of expected work, and of agents' rounds and tasks have ended, in
// sentences without their full stops.
func wideLimitTexts(e *harness.Evidence) []string {
	t, s := &e.Totals, &e.Setup
	var out []string
	for _, l := range []struct {
		n     int
		what  string
		limit string
		after time.Duration
	}{
		{t.CallsOutOfTime, "call", "policy.call_total, waits for slots and all attempts included", s.CallLimit},
		{t.TimeoutsWork, "attempt", "policy.work_base and work_per_token, by the output that the request allows", s.WorkLimit},
		{t.RoundLimits, "task", "policy.round, tools and waits included", s.RoundLimit},
		{t.TaskLimits, "task", "policy.task, tools and waits included", s.TaskLimit},
	} {
		if l.n <= 0 {
			continue
		}
		text := does(l.n, l.what, "was", "were") + " ended by a limit"
		if l.after > 0 {
			text += " of " + secs(l.after)
		}
		out = append(out, text+" ("+l.limit+")")
	}
	return append(out, learntTexts(e)...)
}

// policyText says, in sentences of a summary, what the client's own policy has done beyond limits of single
// attempts. It is empty if that is nothing.
func policyText(e *harness.Evidence) string {
	text := ""
	for _, s := range append(controlTexts(e), wideLimitTexts(e)...) {
		text += " " + upper(s) + "."
	}
	if n := e.Totals.Hedges; n > 0 {
		text += fmt.Sprintf(" %s beside slow attempts, and %s thrown away since another one of the call was first.",
			does(n, "hedge", "was sent", "were sent"), does(e.Totals.AttemptsLost, "attempt", "was", "were"))
	}
	return text
}
