package repro_test

import (
	"context"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// TestControlsUnderAnyPatience: a watchdog without patience raises stalls all the time. A control is
// called no hang for it, neither with all that is known of its servers nor with nothing, as against a
// real server without gauges.
func TestControlsUnderAnyPatience(t *testing.T) {
	for _, name := range []string{"healthy", "slow-but-fine", "bench-16x128", "long-reasoning"} {
		stalls := 0
		for _, patience := range []string{"1s", "5s", "30s"} {
			s := lookup(t, name, "watchdog.stall_after="+patience, "watchdog.episodes_kept=100")
			r, err := repro.Run(context.Background(), s, repro.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range r.Report.Episodes {
				seen := diagnose.Diagnose(e.Latest, e.Before)
				unseen := diagnose.Diagnose(unseenServers(e.Latest), unseenServers(e.Before))
				if seen.Outcome.Hang() || unseen.Outcome.Hang() {
					t.Errorf("%s, a stall after %s: called %s %s, and with nothing known of the servers %s %s\n%s\n%s",
						name, patience, seen.Outcome, seen.Cause, unseen.Outcome, unseen.Cause, seen.Summary, unseen.Summary)
				}
				stalls++
			}
		}
		if stalls == 0 {
			t.Errorf("%s: no stall was judged", name)
		}
	}
}

// unseenServers returns evidence as a real server without gauges and router's log leaves it.
func unseenServers(e *harness.Evidence) *harness.Evidence {
	real := asReal(e)
	if real != nil {
		real.Router, real.Samples = nil, nil
	}
	return real
}
