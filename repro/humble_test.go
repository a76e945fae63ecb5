package repro_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// strippings take away a part of what was seen, as a run has it whose router keeps no log, whose servers
// show no gauges, and so on.
var strippings = []struct {
	name    string
	missing string // what a verdict that cannot tell says is missing; empty: nothing need be
	strip   func(now, before *harness.Evidence) (*harness.Evidence, *harness.Evidence)
}{
	{"router log", "a router log", func(now, before *harness.Evidence) (*harness.Evidence, *harness.Evidence) {
		return without(now, noLog), without(before, noLog)
	}},
	{"gauges", "gauges", func(now, before *harness.Evidence) (*harness.Evidence, *harness.Evidence) {
		return without(now, noGauges), without(before, noGauges)
	}},
	{"earlier capture", "", func(now, _ *harness.Evidence) (*harness.Evidence, *harness.Evidence) { return now, nil }},
	{"dumps", "", func(now, before *harness.Evidence) (*harness.Evidence, *harness.Evidence) {
		return without(now, noDumps), without(before, noDumps)
	}},
	{"router log and gauges", "a router log", func(now, before *harness.Evidence) (*harness.Evidence, *harness.Evidence) {
		return without(without(now, noLog), noGauges), without(without(before, noLog), noGauges)
	}},
	{"all but the calls", "gauges", func(now, _ *harness.Evidence) (*harness.Evidence, *harness.Evidence) {
		return without(without(without(now, noLog), noGauges), noDumps), nil
	}},
}

func noLog(e *harness.Evidence)   { e.Router, e.Setup.HasRouterLog = nil, false }
func noDumps(e *harness.Evidence) { e.Goroutines = nil }
func noGauges(e *harness.Evidence) {
	e.Setup.HasGauges = false
	e.Samples, e.After = slices.Clone(e.Samples), slices.Clone(e.After)
	for _, samples := range [][]harness.Sample{e.Samples, e.After} {
		for i := range samples {
			samples[i].Gauges, samples[i].Err = nil, "connection refused"
		}
	}
}

func without(e *harness.Evidence, strip func(*harness.Evidence)) *harness.Evidence {
	if e == nil {
		return nil
	}
	less := *e
	strip(&less)
	return &less
}

// TestLessEvidenceIsHumbler: with evidence taken away, a verdict names the cause that it named with all of
// it, or says that it cannot tell and what is missing; it does not name another.
func TestLessEvidenceIsHumbler(t *testing.T) {
	seeds := uint64(max(1, accuracyRuns()/10))
	judged, kept := map[string]int{}, map[string]int{}
	for _, name := range catalogue() {
		for seed := uint64(1); seed <= seeds; seed++ {
			s := lookup(t, name)
			s.Seed = seed
			r, err := repro.Run(context.Background(), s, repro.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range r.Report.Episodes {
				full := diagnose.Diagnose(e.Latest, e.Before)
				for _, st := range strippings {
					got := diagnose.Diagnose(st.strip(e.Latest, e.Before))
					judged[st.name]++
					if got.Cause == full.Cause {
						kept[st.name]++
					}
					if wrong := lessHumble(&full, &got, st.missing); wrong != "" {
						t.Errorf("%s seed %d, stall %d without %s: %s: %s %s %s, with it %s %s %s\n%s", name, seed, e.Number, st.name, wrong,
							got.Outcome, got.Layer, got.Cause, full.Outcome, full.Layer, full.Cause, got.Summary)
					}
				}
			}
		}
	}
	for _, st := range strippings {
		fmt.Printf("without %-22s %3d of %d stalls keep their cause, the others cannot tell\n", st.name, kept[st.name], judged[st.name])
	}
}

// lessHumble says what is wrong with a verdict that had less evidence; empty: nothing.
func lessHumble(full, less *diagnose.Verdict, missing string) string {
	switch {
	case less.Cause == full.Cause:
		return ""
	case less.Outcome == full.Outcome && less.Cause == diagnose.CauseSlowServer && len(less.Missing) > 0:
		return "" // all that is seen of it, and no mechanism
	case slices.ContainsFunc(full.Hypotheses, func(h diagnose.Hypothesis) bool {
		least := 0.1
		if h.Cause == diagnose.CauseStarvation { // some slot is always held by a call that is alive
			least = 0.25
		}
		return h.Cause == less.Cause && h.Status == diagnose.Supported && h.Score >= least
	}):
		return "" // one of several that are seen
	case less.Cause != diagnose.CauseUnknown:
		return "it names another cause"
	case missing != "" && !strings.Contains(strings.Join(less.Missing, "; "), missing):
		return fmt.Sprintf("it does not say that %s is missing: %q", missing, less.Missing)
	case full.Outcome == diagnose.Slow && less.Outcome != diagnose.Slow:
		return "what it cannot tell it calls a hang"
	}
	return ""
}
