package diagnose

import (
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// TestTurnedAway: what the client's own policy has ended is said, and is the verdict where it is most of what happened.
func TestTurnedAway(t *testing.T) {
	fleet := func(change func(ev *harness.Evidence)) *harness.Evidence {
		return stallOf("own-1", 30, 16, 2*m, 2*m).stream(7, 110*s, 0).gauges(0, 700, gauge(harness.GaugeDecodeRunning, 7)).set(change).done()
	}
	failed := func(ev *harness.Evidence, n int) {
		ev.Totals.AgentsFailed, ev.Totals.CallsFailed = n, n
	}
	for _, row := range []struct {
		name    string
		ev      *harness.Evidence
		outcome Outcome
		layer   Layer
		cause   Cause
		status  Status // of the hypothesis
		says    []string
		try     string
	}{
		{"a throttle", fleet(func(ev *harness.Evidence) {
			failed(ev, 23)
			ev.Setup.Throttle, ev.Controls = "sre", &pacer.ControlState{Budget: -1, Throttle: 0.5}
			ev.Totals.AttemptsRejected, ev.Totals.CallsTurnedAway = 69, 23
		}), Failed, LayerPacer, CauseTurnedAway, Supported,
			[]string{"The client's own throttle (rule sre) turned 69 attempts away, so that the servers never saw them; it turns the next one away with a probability of 50 %.", "23 calls failed of being turned away", "The servers have refused nothing."}, "policy.throttle"},
		{"a breaker that stays open", fleet(func(ev *harness.Evidence) {
			failed(ev, 23)
			ev.Setup.Breaker, ev.Controls = "consecutive", &pacer.ControlState{Budget: -1, Breaker: "open", BreakerOpen: 60 * time.Second}
			ev.Totals.AttemptsRejected, ev.Totals.RejectedBreaker, ev.Totals.CallsTurnedAway = 23, 23, 23
		}), Failed, LayerPacer, CauseTurnedAway, Supported, []string{"The client's own breaker (rule consecutive) turned 23 attempts away, so that the servers never saw them; it was open for 60.0 s, and is open now."}, "policy.breaker"},
		{"a few calls shed", fleet(func(ev *harness.Evidence) {
			failed(ev, 5)
			ev.Totals.AttemptsShed, ev.Totals.CallsTurnedAway = 5, 5
		}), Slow, LayerDecode, CauseSlowServer, Supported, []string{"The client's own queue for slots (pacer.queue) turned 5 attempts away.", "Besides, the client's own policy ended 5 calls (turned-away)"}, "pacer.queue"},
		{"a budget that is used up", fleet(func(ev *harness.Evidence) {
			failed(ev, 15)
			ev.Setup.RetryBudget, ev.Controls = "brooker", &pacer.ControlState{Budget: 0}
			ev.Totals.CallsOverBudget, ev.Totals.AttemptsTimeout = 15, 15
		}), Failed, LayerPacer, CauseTurnedAway, Supported, []string{"The retry budget (rule brooker) was used up when 15 calls needed another attempt, and so failed; it is used up now."}, "policy.retry_budget"},
		{"some turned away, and none failed", fleet(func(ev *harness.Evidence) { ev.Totals.AttemptsShed = 3 }),
			Slow, LayerDecode, CauseSlowServer, Refuted, []string{"turned 3 attempts away"}, ""},
		{"again and again", stallOf("own-1", 30, 0, 2*m, 2*m).set(func(ev *harness.Evidence) {
			ev.Totals.AttemptsRejected, ev.Window.AttemptsRejected = 200, 200
		}).set(func(ev *harness.Evidence) {
			for b := (&builder{ev: *ev}); len(b.ev.Calls) < 30; *ev = b.ev {
				b.newCall(pacer.StageBackoff, 5*s, 110*s)
			}
		}).done(), Storming, LayerPacer, CauseTurnedAway, Supported, []string{"turns its own calls away before they are sent, 200 times in the stall, and no call completed"}, "policy.throttle"},
		{"all have failed", stallOf("own-1", 30, 16, 2*m, 2*m).set(func(ev *harness.Evidence) {
			failed(ev, 30)
			ev.Totals.AttemptsRejected, ev.Totals.CallsTurnedAway = 90, 30
		}).done(), Failed, LayerPacer, CauseTurnedAway, Supported, []string{"0 tasks are done and 30 failed", "The client's own throttle turned 90 attempts away"}, "policy.throttle"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := Diagnose(row.ev, nil)
			checkWords(t, &v)
			if v.Outcome != row.outcome || v.Layer != row.layer || v.Cause != row.cause || status(t, &v, CauseTurnedAway) != row.status {
				t.Errorf("%s, layer %s, cause %s, turned-away %s\n%s", v.Outcome, v.Layer, v.Cause, status(t, &v, CauseTurnedAway), transcript(&v))
			}
			for _, text := range row.says {
				if !strings.Contains(v.Summary, text) {
					t.Errorf("want %q in\n%s", text, v.Summary)
				}
			}
			if !strings.Contains(strings.Join(v.Next, "\n"), row.try) {
				t.Errorf("want advice about %s in %q", row.try, v.Next)
			}
		})
	}
}

// TestWideLimits: limits of calls, work, rounds and tasks are named, and told apart from slow answers.
func TestWideLimits(t *testing.T) {
	starved := func(change func(ev *harness.Evidence)) Verdict {
		return Diagnose(stallOf("own-1", 30, 16, m, m).slot(14, 58*s).stream(16, 58*s, 0).gauges(0, 700, gauge(harness.GaugeDecodeRunning, 16)).set(change).done(), nil)
	}
	v := starved(func(ev *harness.Evidence) { ev.Setup.CallLimit = m })
	if want := "But a limit of 60.0 s (policy.call_total) ends calls that are not done by then, the first in "; v.Cause != CauseStarvation || !strings.Contains(v.Summary, want) || !strings.Contains(v.Next[0], "policy.call_total") {
		t.Errorf("want %q in\n%s\n%q", want, v.Summary, v.Next)
	}
	v = starved(func(ev *harness.Evidence) {
		ev.Setup.RoundLimit, ev.Setup.TaskLimit, ev.Setup.WorkLimit, ev.Setup.CallLimit = 5*m, 20*m, 40*s, m
		ev.Totals.RoundLimits, ev.Totals.TaskLimits, ev.Totals.TimeoutsWork, ev.Totals.CallsOutOfTime = 1, 2, 3, 4
	})
	for _, want := range []string{
		"4 calls were ended by a limit of 60.0 s (policy.call_total, waits for slots and all attempts included).",
		"3 attempts were ended by a limit of 40.0 s (policy.work_base and work_per_token, by the output that the request allows).",
		"1 task was ended by a limit of 300.0 s (policy.round, tools and waits included).",
		"2 tasks were ended by a limit of 1200.0 s (policy.task, tools and waits included).",
	} {
		if !strings.Contains(v.Summary, want) {
			t.Errorf("want %q in\n%s", want, v.Summary)
		}
	}
	checkWords(t, &v)
}
