package repro_test

import (
	"testing"

	"example.com/wedge/repro/metrics"
)

// TestHarmOfWideLimits: healthy attempts that a limit of the call, the round, or the task ends are harm, and stand under
// the name of that limit. No worker is broken; the calls only wait.
func TestHarmOfWideLimits(t *testing.T) {
	for _, row := range []struct{ limit, set string }{
		{"call_total", "policy.call_total=60s"}, {"round", "policy.round=10m"}, {"task", "policy.task=30m"}, {"work", "policy.work_base=60s"},
	} {
		m := measured(t, "starvation", row.set, "policy.max_attempts=1", "workflow.max_tokens=8000")
		h := m.Harm
		if len(h.ByLimit) != 1 || h.ByLimit[0].Limit != row.limit {
			t.Fatalf("%s: %+v, want one line of that limit", row.set, h.ByLimit)
		}
		if h.HealthyKilled == 0 || h.HealthyKilled != h.ByLimit[0].HealthyKilled || h.HealthyKilled+h.DeadKilled+h.FailingKilled+h.Unsent != h.Killed || h.HealthyCancelled != 0 {
			t.Errorf("%s: %+v, want healthy attempts that were killed, and all of them accounted for", row.set, h)
		}
		if m.Work.TasksFailed == 0 {
			t.Errorf("%s: no task failed", row.set)
		}
	}
}

// TestTimesFromArrival: in an open loop with few workers a task's time counts from its arrival. The same tasks arrive,
// and some wait for a worker.
func TestTimesFromArrival(t *testing.T) {
	longest := map[string]float64{}
	for _, workers := range []string{"0", "14", "8"} {
		m := measured(t, "load-spike", "policy.preset=none", "triggers=[]", "fleet.workers="+workers)
		longest[workers] = m.Tasks.MaxS
		if started := m.Work.TasksStarted; started != m.Tasks.N || started < 900 {
			t.Errorf("%s workers: %d tasks, and times of %d, want all that arrived", workers, started, m.Tasks.N)
		}
		if workers == "8" && (m.Outcome != metrics.Never || m.Tasks.Censored < 50) { // they are too few
			t.Errorf("8 workers: %v, %d tasks unfinished", m.Outcome, m.Tasks.Censored)
		}
	}
	if longest["14"] < 1.5*longest["0"] || longest["8"] < 10*longest["0"] {
		t.Errorf("the longest task by number of workers: %v, want that waits count", longest)
	}
}
