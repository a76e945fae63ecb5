package diagnose

import (
	"slices"
	"testing"

	"example.com/wedge/harness"
)

// neverOpen are the causes that a capture always decides: the locks, queues, tools and ends of agents that they
// are about are the harness's own. That a router's queue and the pacer's own rate can be left open is shown
// with the observations that decide them.
var neverOpen = []Cause{
	CauseLockOrder, CauseLockOverCall, CauseLostWakeup, CauseSwallowedError, CausePipeFull, CauseNoProgressLoop, CauseRouterQueue, CauseRateLimit,
}

// TestEachCauseHasThreeSides: over the stories, with and without the servers' side, each cause is seen to be
// supported by observations, refuted by one, and left open with the measurement that would decide.
func TestEachCauseHasThreeSides(t *testing.T) {
	seen := map[Cause]map[Status]bool{}
	look := func(v *Verdict) {
		for _, h := range v.Hypotheses {
			if seen[h.Cause] == nil {
				seen[h.Cause] = map[Status]bool{}
			}
			complete := h.Status == Supported && len(h.For) > 0 || h.Status == Refuted && len(h.Against) > 0 || h.Status == Open && h.DecideBy != ""
			seen[h.Cause][h.Status] = seen[h.Cause][h.Status] || complete
			if !complete {
				t.Errorf("%s is %s without an observation or a measurement", h.Cause, h.Status)
			}
		}
	}
	for _, st := range stories() {
		v := st.verdict()
		look(&v)
		if ev := st.now(); ev != nil {
			v = Diagnose(&blind(&builder{ev: *ev}).ev, nil)
			look(&v)
		}
	}
	for _, c := range causes() {
		if c.name == CauseTurnedAway { // judged only where it may be: see TestTurnedAway
			continue
		}
		for _, status := range []Status{Supported, Refuted, Open} {
			if !seen[c.name][status] && !(status == Open && slices.Contains(neverOpen, c.name)) {
				t.Errorf("%s is never %s in any story", c.name, status)
			}
		}
	}
}

// TestAnEmptySearchMustHaveBeenAbleToMatch: that a log has no line of a request, and a gauge shows none, counts
// only if there could have been one.
func TestAnEmptySearchMustHaveBeenAbleToMatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(ev *harness.Evidence)
	}{
		{"the log has no line of any request", func(ev *harness.Evidence) {
			ev.Router = &harness.RouterView{Skipped: 4000}
			dropGauge(ev, harness.GaugeRouterInFlight)
			dropGauge(ev, harness.GaugeDecodeRunning)
		}},
		{"nothing was asked while the gauges were read, and there is no log", func(ev *harness.Evidence) {
			ev.Router = nil
			for i := range ev.Samples {
				ev.Samples[i].Sent = 0
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := deadConnectionEvidence()
			if v := Diagnose(ev, nil); v.Cause != CauseConnectionDead {
				t.Fatalf("cause %s before anything is spoilt", v.Cause)
			}
			c.spoil(ev)
			v := Diagnose(ev, nil)
			if got := status(t, &v, CauseConnectionDead); got != Open || v.Cause != CauseUnknown || len(v.Missing) == 0 {
				t.Errorf("cause %s, %s is %s, missing %q\n%s", v.Cause, CauseConnectionDead, got, v.Missing, transcript(&v))
			}
		})
	}
}
