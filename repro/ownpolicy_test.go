package repro_test

import (
	"context"
	"strings"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// TestOwnPolicyIsNamed: what the client's own policy does to a fleet that only waits for slots is told in plain words, in
// the verdict or in how the run ended.
func TestOwnPolicyIsNamed(t *testing.T) {
	for _, row := range []struct {
		name  string
		sets  []string
		cause diagnose.Cause
		says  []string // in the verdict's summary
		ends  string   // in that of the run
		try   string   // in the advice
	}{
		{"a limit of the call", []string{"policy.call_total=60s"}, diagnose.CauseStarvation,
			[]string{"But a limit of 60.0 s (policy.call_total) ends calls that are not done by then, the first in 1.2 s."}, "30 calls were ended by a limit of 60.0 s (policy.call_total", "policy.call_total"},
		{"a limit by expected work", []string{"policy.work_base=20s", "policy.work_per_token=5ms", "workflow.max_tokens=4000"}, diagnose.CauseTimeoutCascade,
			[]string{"in the stall (work: 80) and no call completed"}, "90 attempts were ended by a limit of 40.0 s (policy.work_base", "policy.work_per_token"},
		{"a round's limit", []string{"policy.round=5m"}, diagnose.CauseStarvation, nil, "30 tasks were ended by a limit of 300.0 s (policy.round", ""},
		{"a limit that is learnt, and does not fire", []string{"policy.preset=adaptive-success-only"}, diagnose.CauseStarvation, nil, "Completed: 30 of 30", ""},
		{"a limit that learns from successes", []string{"policy.adaptive=[{limit: total, rule: quantile, quantile: 0.5, initial: 60s, success_only: true}]", "policy.max_attempts=20", "pacer.slots=30"}, diagnose.CauseTimeoutCascade,
			[]string{"ended by the limit total, which is learnt from earlier attempts (policy.adaptive), and only from those that ended well"}, "", "success_only"},
		{"a stock throttle", []string{"policy.preset=throttle-sre-stock"}, diagnose.CauseTurnedAway,
			[]string{"The client's own throttle (rule sre) turned 71 attempts away", "23 calls failed of being turned away"}, "The client's own throttle (rule sre) turned 87 attempts away", "policy.throttle"},
		{"a breaker that stays open", []string{"policy.breaker={rule: consecutive, failure_threshold: 3, delay: 30m}", "policy.total=60s"}, diagnose.CauseTurnedAway,
			[]string{"The client's own breaker (rule consecutive) turned 30 attempts away", "and is open now"}, "30 calls failed of being turned away", "policy.breaker"},
		{"a budget that is used up", []string{"policy.total=60s", "policy.max_attempts=5", "policy.retry_budget={rule: brooker, max_tokens: 10}"}, diagnose.CauseStarvation,
			[]string{"The retry budget (rule brooker) was used up when 6 calls needed another attempt", "a limit of 60.0 s (policy.total) ends calls"}, "was used up when 30 calls", "policy.retry_budget"},
		{"a budget that is asked after the wait", []string{"policy.total=60s", "policy.max_attempts=5", "policy.retry_budget={rule: failsafe}"}, "",
			[]string{"The retry budget (rule failsafe) was used up when"}, "The retry budget (rule failsafe) was used up when", ""},
		{"a short queue", []string{"pacer.queue.max=2"}, diagnose.CauseStarvation,
			[]string{"The client's own queue for slots (pacer.queue) turned 12 attempts away.", "Besides, the client's own policy ended 12 calls (turned-away)"}, "12 calls failed of being turned away", "pacer.queue"},
		{"a short queue, and coming back", []string{"pacer.queue.max=2", "policy.retry_shed=true", "policy.max_attempts=1000"}, diagnose.CauseStarvation,
			[]string{"The client's own queue for slots (pacer.queue) turned"}, "Completed: 30 of 30", ""},
		{"hedges", []string{"policy.hedge={after: 5s, share: 1, on: answer}"}, diagnose.CauseStarvation, []string{"hedges were sent beside slow attempts"}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := repro.Run(context.Background(), lookup(t, "starvation", row.sets...), repro.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v := &r.Verdict
			if row.cause != "" && v.Cause != row.cause || v.Cause == diagnose.CauseTurnedAway && (v.Layer != diagnose.LayerPacer || v.Outcome != diagnose.Failed) {
				t.Errorf("%s, layer %s, cause %s", v.Outcome, v.Layer, v.Cause)
			}
			for _, text := range row.says {
				if !strings.Contains(v.Summary, text) {
					t.Errorf("want %q in\n%s", text, v.Summary)
				}
			}
			if !strings.Contains(r.End.Summary, row.ends) {
				t.Errorf("want %q in\n%s", row.ends, r.End.Summary)
			}
			if !strings.Contains(strings.Join(v.Next, "\n"), row.try) {
				t.Errorf("want advice about %s in %q", row.try, v.Next)
			}
		})
	}
}
