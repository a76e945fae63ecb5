package repro_test

import (
	"fmt"
	"testing"
)

// TestRecoveryByLoad: what is called a recovery has lasted, also where the collapse comes only some time after the
// trigger, since the client let its burst out by and by.
func TestRecoveryByLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("many long runs; TestLateCollapse is one of them")
	}
	relapses := 0
	for _, row := range []struct {
		rate, load float64
		slots      int
		most       string // attempts
		heals      bool
	}{
		{0.03, 40, 0, "10", true},
		{0.05, 15, 64, "10", true},
		{0.1, 8, 64, "10", true},
		{0.15, 25, 64, "10", false},
		{0.15, 25, 64, "1", true},
		{0.2, 15, 64, "10", false},
		{0.2, 15, 0, "10", false},
		{0.25, 15, 0, "1", true},
	} {
		for seed := 1; seed <= 3; seed++ {
			m := measured(t, "load-spike", fmt.Sprint("fleet.arrivals.rate_per_s=", row.rate), fmt.Sprintf("triggers=[{id: rush, from: 20m, to: 21m, load: %v}]", row.load),
				fmt.Sprint("pacer.slots=", row.slots), "policy.max_attempts="+row.most, fmt.Sprint("seed=", seed))
			r := m.Recovery
			if r.Recovered != row.heals || r.Never == row.heals || r.Relapsed && !r.Never {
				t.Errorf("%+v, seed %d: %+v", row, seed, r)
			}
			if row.heals != (r.LatePerS > r.BeforePerS/2) {
				t.Errorf("%+v, seed %d: %.0f tokens a second long after the trigger, %.0f before", row, seed, r.LatePerS, r.BeforePerS)
			}
			if r.Relapsed {
				relapses++
			}
		}
	}
	if relapses < 3 {
		t.Errorf("%d relapses, want some", relapses)
	}
}

// TestLateCollapse: at a seventh of what the servers can do, with a spike of forty times as many tasks, goodput is high as
// long as the burst is let out, and then most of it times out.
func TestLateCollapse(t *testing.T) {
	m := measured(t, "load-spike", "fleet.arrivals.rate_per_s=0.05", "triggers=[{id: rush, from: 20m, to: 21m, load: 40}]", "pacer.slots=64")
	if r := m.Recovery; r.Recovered && r.RecoveredAfterS < 600 {
		t.Errorf("recovered within %.0f s, while %d of %d tasks failed", r.RecoveredAfterS, m.Work.TasksFailed, m.Work.TasksStarted)
	}
}
