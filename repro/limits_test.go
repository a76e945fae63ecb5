package repro

import (
	"context"
	"testing"

	"example.com/wedge/repro/diagnose"
)

// TestTotalLimitMakesACascade: a limit on the whole attempt that is shorter than the answers take makes a
// storm of a fleet that was only starved, however many attempts a call has before its agent gives up.
func TestTotalLimitMakesACascade(t *testing.T) {
	for _, attempts := range []string{"2", "3", "4", "8", "1000"} {
		for seed := range uint64(3) {
			s, err := Lookup("starvation")
			if err != nil {
				t.Fatal(err)
			}
			s.Seed = seed + 1
			for _, set := range [][2]string{{"policy.total", "60s"}, {"policy.max_attempts", attempts}} {
				if err := s.Set(set[0], set[1]); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Run(context.Background(), s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Verdict; v.Outcome != diagnose.Storming || v.Cause != diagnose.CauseTimeoutCascade {
				t.Errorf("wedge repro starvation --seed %d --set policy.total=60s --set policy.max_attempts=%s: %s, layer %s, cause %s, finally %s",
					s.Seed, attempts, v.Outcome, v.Layer, v.Cause, v.FinalOutcome)
			}
			if r.Report.End.Totals.CallsCompleted > 0 {
				t.Errorf("seed %d: %d calls completed", s.Seed, r.Report.End.Totals.CallsCompleted)
			}
		}
	}
}

// TestMailboxUnderHeldSlots: a run is taken down in order also where parents wait for their mailbox with
// a slot that their agent keeps.
func TestMailboxUnderHeldSlots(t *testing.T) {
	for _, name := range []string{"lost-wakeup", "swallowed-error"} {
		s, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Set("pacer.hold", "agent"); err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), s, Options{})
		if err != nil {
			t.Fatalf("wedge repro %s --set pacer.hold=agent: %v", name, err)
		}
		if v := r.Verdict; v.Outcome != diagnose.Deadlocked || v.Cause != diagnose.CauseNestedSlot {
			t.Errorf("wedge repro %s --set pacer.hold=agent: %s, cause %s", name, v.Outcome, v.Cause)
		}
	}
}
