package main

import (
	"fmt"
	"strings"

	"example.com/wedge/pacer"
)

// play writes what became of a call in a scene: how it ended, then a line for each thing that happened.
func (p *page) play(x *play) {
	p.section(strings.ToUpper(x.About[:1]) + x.About[1:])
	p.line("  %s", p.ending(x))
	shown := 0
	last := x.Attempts
	for i := 0; i < len(x.Events); i++ {
		e := &x.Events[i]
		// Of many attempts, the first three and the last say enough.
		const most = 3
		if e.Attempt > most && e.Attempt < last && last > most+1 {
			if shown++; shown == 1 {
				p.line("  %10s  … attempts %d to %d are left out here, --json has them", "", most+1, last-1)
			}
			continue
		}
		line := eventText(e)
		if e.Event == "attempt" && i+1 < len(x.Events) && x.Events[i+1].AtS == e.AtS && x.Events[i+1].Attempt == e.Attempt && x.Events[i+1].Decision != "" {
			i++
			line += ": " + eventText(&x.Events[i])
		}
		p.entry(fmt.Sprintf("%10s", instant(e.AtS)), line)
	}
	if n := len(x.Events); n > 0 && x.Events[n-1].AtS < x.EndedAtS {
		p.line("  %10s  the call ends", instant(x.EndedAtS))
	}
}

// ending says in a few words how a play ended.
func (p *page) ending(x *play) string {
	var b strings.Builder
	switch x.Outcome {
	case playAnswered:
		b.WriteString(p.green("answered"))
	case playFailed:
		b.WriteString(p.red("failed"))
	default:
		b.WriteString(p.red("still waiting"))
	}
	fmt.Fprintf(&b, " after %s, %s", seconds(x.EndedAtS), plural(x.Attempts, "attempt"))
	if x.TokensWasted > 0 {
		fmt.Fprintf(&b, ", %s thrown away", plural(x.TokensWasted, "token"))
	}
	return b.String()
}

// instant writes an instant of a timeline to the tenth of a second, below one second to the hundredth.
func instant(s float64) string {
	if s > 0 && s < 1 {
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

func eventText(e *playEvent) string {
	switch e.Event {
	case "attempt":
		return fmt.Sprintf("attempt %d", e.Attempt)
	case "headers":
		return "headers"
	case "first_token":
		return "first token"
	case playWaiting:
		return "nothing has happened since"
	case pacer.AttemptOK:
		return fmt.Sprintf("answered, %s", plural(e.Tokens, "token"))
	}
	return eventEnd(e) + decisionText(e)
}

// eventEnd says what an attempt that failed has died of.
func eventEnd(e *playEvent) string {
	text := e.Event
	switch e.Event {
	case pacer.AttemptTimeout:
		text = "limit " + e.Limit + " ends it"
	case pacer.AttemptStatus:
		text = fmt.Sprintf("status %d", e.Status)
		if e.after > 0 {
			text += fmt.Sprintf(" with Retry-After: %.0f", e.after.Seconds())
		}
	case pacer.AttemptLost:
		text = "another attempt was faster"
	case pacer.AttemptRejected:
		text = "turned away by throttle or breaker"
	case pacer.AttemptShed:
		text = "turned away by the queue for slots"
	}
	if e.Tokens > 0 {
		text += fmt.Sprintf(", %s thrown away", plural(e.Tokens, "token"))
	}
	return text
}

// decisionText says what was decided after a failed attempt.
func decisionText(e *playEvent) string {
	switch e.Decision {
	case "retry":
		return "; again in " + instant(e.DelayS)
	case "give_up":
		if e.Limit == string(pacer.LimitCallTotal) {
			return "; the call's time is over"
		}
		if why, ok := stopTexts()[pacer.Stop(e.Why)]; ok {
			return "; given up: " + why
		}
		return "; given up"
	}
	return ""
}

func stopTexts() map[pacer.Stop]string {
	return map[pacer.Stop]string{
		pacer.StopAttempts:   "it was the last attempt",
		pacer.StopOutcome:    "that is not tried again",
		pacer.StopPhase:      "an attempt that has got so far is not made again",
		pacer.StopRetryAfter: "the server asks for too long a wait",
		pacer.StopTotal:      "the attempt's time ends before the wait does",
		pacer.StopCallTotal:  "the call's time ends before the wait does",
		pacer.StopBudget:     "there have been too many retries",
	}
}
