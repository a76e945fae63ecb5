package reprotest

import (
	"context"
	"fmt"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/repro/diagnose"
)

// look is told of each capture of a stall. It runs in the watchdog's process.
func (k *Kit) look(s embed.Stall) {
	v, ok := s.Verdict.(diagnose.Verdict)
	if !ok || s.Ended() || s.Evidence.StalledFor < k.o.stallAfter {
		return
	}
	stuck := v.Outcome.Hang() && k.front.sinceToken() >= k.o.stallAfter/2
	if stuck || s.Evidence.StalledFor >= slowTimes*k.o.stallAfter {
		k.fail("no request has been answered in full for "+length(s.Evidence.StalledFor), &v, s.Evidence)
	}
}

// fail fails the test, once, and ends its requests. Then the kit leaves: if the harness waits for something of its
// own still, synctest can say so.
func (k *Kit) fail(what string, v *diagnose.Verdict, e *harness.Evidence) {
	k.mu.Lock()
	first := k.verdict == nil && context.Cause(k.life) == nil
	if first {
		v.Scenario, v.Seed, v.Clock, v.FinalOutcome = k.o.scenario.Name, k.o.scenario.Seed, "wall", v.Outcome
		v.Replay = k.replay()
		k.verdict = v
	}
	k.mu.Unlock()
	if !first {
		return
	}
	k.t.Errorf("%s", k.report(what, v, e))
	k.end(ErrStalled)
	k.leave()
}

// Of a harness whose requests fail and are sent again: that is a stall after so many, once they take StallAfter
// together; and after so many in any case, since those that fail at once take no time in a bubble.
const (
	inVainMin = 3
	inVainMax = 2000
)

// inVain fails the test if requests only fail. It is asked before each request, on the harness's goroutine.
func (k *Kit) inVain() bool {
	failed, since := k.front.inVain()
	if failed < inVainMin || since < k.o.stallAfter && failed < inVainMax {
		return false
	}
	report, err := k.dog.Close()
	if err != nil || report == nil {
		return context.Cause(k.life) != nil
	}
	v := diagnose.Diagnose(report.End, nil)
	n := k.Counts()
	what := fmt.Sprintf("%d requests have failed in %s, and none has been answered in full", failed, length(since))
	if !v.Outcome.Hang() {
		v.Outcome, v.Cause = diagnose.Storming, diagnose.CauseUnknown
		v.Summary = fmt.Sprintf("Requests fail and others are sent: of %d, the servers have answered %d in full and refused %d; they have broken off %d, and the harness has left %d.",
			n.Requests, n.Completed, n.Refused, n.Cut, n.Left)
	}
	k.fail(what, &v, report.End)
	return true
}

// idle is about a harness that has sent nothing for too long. The kit leaves: what the harness waits for is its
// own, and with nobody else in the bubble synctest can say so.
func (k *Kit) idle() {
	k.mu.Lock()
	over := k.out > 0 || context.Cause(k.life) != nil
	k.mu.Unlock()
	if over {
		return
	}
	k.t.Errorf("%s", k.reportIdle())
	k.end(ErrStalled)
	k.leave()
}
