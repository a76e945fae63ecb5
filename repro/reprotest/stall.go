package reprotest

import (
	"context"

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
	if v.Outcome.Hang() || s.Evidence.StalledFor >= slowTimes*k.o.stallAfter {
		k.fail("no request has been answered in full for "+length(s.Evidence.StalledFor), &v, s.Evidence)
	}
}

// fail fails the test, once, and ends its requests.
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
