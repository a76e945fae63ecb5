package repro_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// TestWorkloads checks that those of the catalogue and the others are different names, that each expects
// nothing, has a trigger, and is made to end: with patience, all its tasks do.
func TestWorkloads(t *testing.T) {
	for _, name := range repro.Workloads() {
		if slices.Contains(repro.Names(), name) {
			t.Errorf("%s is in the catalogue too", name)
		}
		s := lookup(t, name)
		if err := s.Validate(); err != nil || s.Name != name || len(s.Triggers) == 0 || s.Expect.Outcome != "" || s.Expect.FinalOutcome != "" {
			t.Errorf("%s: %v, called %s, %d triggers, expects %+v", name, err, s.Name, len(s.Triggers), s.Expect)
		}
		m := measured(t, name, "policy.preset=none")
		if m.Outcome != metrics.Completed || m.Work.TasksCompleted != s.TaskCount() || !m.Recovery.HasTrigger || !m.Recovery.Recovered {
			t.Errorf("%s: %v, %d of %d tasks completed, recovery %+v", name, m.Outcome, m.Work.TasksCompleted, s.TaskCount(), m.Recovery)
		}
		if from, to := s.Triggers[0].From.Seconds(), s.Triggers[0].To.Seconds(); m.Recovery.TriggerFromS != from || m.Recovery.TriggerEndS != to {
			t.Errorf("%s: measured from %v s to %v s, want the trigger's %v s to %v s", name, m.Recovery.TriggerFromS, m.Recovery.TriggerEndS, from, to)
		}
	}
	if _, err := repro.Lookup("load-spik"); err == nil || !strings.Contains(err.Error(), `did you mean "load-spike"?`) {
		t.Errorf("%v", err)
	}
}

// TestMetastable: after a spike of a minute, or a drop of capacity, retries keep an overload up for as long as
// tasks arrive; each remedy by itself ends it. The load before was one that the servers carry easily.
func TestMetastable(t *testing.T) {
	if testing.Short() {
		t.Skip("many long runs; TestLateCollapse is one of them")
	}
	rows := []struct {
		name, scenario string
		sets           []string
		recovers       bool
	}{
		{"retries", "load-spike", nil, false},
		{"no retries", "load-spike", []string{"policy.max_attempts=1"}, true},
		{"a budget", "load-spike", []string{"policy.retry_budget={rule: sre}"}, true},
		{"deadlines that nobody looks at", "load-spike", []string{"policy.propagate_deadline=true"}, false},
		{"deadlines that the router looks at", "load-spike", []string{"policy.propagate_deadline=true", "servers.router.honour_deadline=true"}, true},
		{"dropping the dead, and a budget", "load-spike", []string{"policy.propagate_deadline=true", "servers.abort.drop_dead=true", "policy.retry_budget={rule: sre}"}, true},
		{"retries after a drop of capacity", "capacity-drop", nil, false},
		{"a budget after a drop of capacity", "capacity-drop", []string{"policy.retry_budget={rule: sre}"}, true},
	}
	took := map[string]float64{}
	for _, row := range rows {
		for _, seed := range []string{"1", "2", "3"} {
			m := measured(t, row.scenario, append(row.sets, "seed="+seed)...)
			r := m.Recovery
			if r.Recovered != row.recovers || r.Never == row.recovers {
				t.Errorf("%s, seed %s: %+v, want recovered %v", row.name, seed, r, row.recovers)
			}
			// 0.2 tasks a second of 2 calls with 900 tokens each, less what is under way at the trigger.
			if r.BeforePerS < 280 || r.BeforePerS > 420 {
				t.Errorf("%s, seed %s: %.0f tokens a second before, want about 360", row.name, seed, r.BeforePerS)
			}
			took[row.name] += r.RecoveredAfterS / 3
		}
	}
	if heal, dropped := took["a budget"], took["dropping the dead, and a budget"]; dropped >= heal {
		t.Errorf("with a budget it takes %.0f s, with the dead dropped as well %.0f s, want less", heal, dropped)
	}
}

// arrivalsOf returns when each task began, from the journal's lines.
func arrivalsOf(t *testing.T, events []byte) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(string(events)) {
		var e struct {
			T           json.Number `json:"t_s"`
			Event, Task string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Event == "task_start" {
			out = append(out, fmt.Sprint(e.T, " ", e.Task))
		}
	}
	return out
}

// TestSameArrivals: tasks arrive at the same instants whatever the policy, also when it brings the fleet to
// its knees, and another seed has others.
func TestSameArrivals(t *testing.T) {
	var want []string
	for _, sets := range [][]string{
		{"policy.preset=none"}, nil, {"policy.max_attempts=1"}, {"policy.total=5s", "pacer.slots=4"}, {"servers.decode.running_max=8", "policy.task=1m"}, {"seed=2"},
	} {
		_, _, events := virtualRun(t, lookup(t, "load-spike", append(sets, "fleet.arrivals.to=30m", "horizon=30m")...), repro.Options{})
		got := arrivalsOf(t, events)
		switch {
		case want == nil:
			want = got
			if n := len(got); n < 300 { // 360 and 168 more
				t.Errorf("only %d tasks arrive", n)
			}
		case slices.Contains(sets, "seed=2"):
			if slices.Equal(got, want) {
				t.Error("another seed has the same arrivals")
			}
		case !slices.Equal(got, want):
			t.Errorf("%v: %d arrivals that differ from the %d with patience", sets, len(got), len(want))
		}
	}
}

// TestTraces runs recorded workloads from the first call to the last, all at the start and as they arrive.
func TestTraces(t *testing.T) {
	for _, row := range []struct {
		file            string
		sessions, calls int
		first, last     string // instant in seconds, and session
	}{
		{"mooncake_conversation_first40.jsonl", 40, 40, "0.000000000 line:1", "12.000000000 line:40"},
		{"mooncake_synthetic_first40.jsonl", 40, 40, "0.000000000 line:1", "12.075000000 line:40"},
		{"tracelab_multi_session_large_first60.csv", 9, 60, "0.117000000 0", "2.024000000 8"},
		{"tracelab_session_workload_example.csv", 1, 11, "0.000000000 0", "0.000000000 0"},
	} {
		t.Run(row.file, func(t *testing.T) {
			sets := []string{"workflow.trace=../agents/workload/testdata/" + row.file, "fleet={agents: 0, arrivals: {process: trace}}", "expect={}", "policy.max_attempts=10"}
			s := lookup(t, "healthy", sets...)
			r, _, events := virtualRun(t, s, repro.Options{})
			totals, n := r.Report.Totals, s.TaskCount()
			if r.Report.Why != harness.Completed || totals.AgentsDone != n || totals.CallsCompleted != row.calls || n != row.sessions {
				t.Errorf("%v: %d of %d sessions done, %d calls completed, want %d of %d: %v", r.Report.Why, totals.AgentsDone, n, totals.CallsCompleted, row.calls, row.sessions, r.Report.Failures)
			}
			at := arrivalsOf(t, events)
			if at[0] != row.first || at[len(at)-1] != row.last {
				t.Errorf("sessions from %s to %s, want %s to %s", at[0], at[len(at)-1], row.first, row.last)
			}
			closed := lookup(t, "healthy", append(sets, fmt.Sprintf("fleet={agents: %d, workers: 2, arrivals: {}}", n))...)
			r, err := repro.Run(context.Background(), closed, repro.Options{})
			if err != nil || r.Report.Totals.CallsCompleted != row.calls {
				t.Errorf("closed loop: %v, %+v", err, r.Report.Totals)
			}
		})
	}
	s := lookup(t, "healthy", "workflow.trace=../agents/workload/testdata/tracelab_session_workload_example.csv", "fleet.agents=2")
	if _, err := repro.Run(context.Background(), s, repro.Options{}); err == nil || !strings.Contains(err.Error(), "fleet.agents: found 2 agents for a trace of 1 sessions, want at most that many") {
		t.Errorf("%v", err)
	}
}

// TestTaskLimit: a task that takes too long ends with an error that says so, its call is given up, and the
// others go on.
func TestTaskLimit(t *testing.T) {
	r, _, events := virtualRun(t, lookup(t, "starvation", "policy.task=30m", "policy.round=10m"), repro.Options{})
	totals := r.Report.Totals
	if totals.TaskLimits+totals.RoundLimits != totals.AgentsFailed || totals.RoundLimits == 0 {
		t.Errorf("%d failed, %d by a task's limit, %d by a round's", totals.AgentsFailed, totals.TaskLimits, totals.RoundLimits)
	}
	if r.Report.Why != harness.Completed {
		t.Errorf("the run ended as %v", r.Report.Why)
	}
	if len(r.Report.Failures) == 0 || !strings.Contains(r.Report.Failures[0].Err.Error(), "round limit (10m0s) exceeded") {
		t.Errorf("failures: %v", r.Report.Failures)
	}
	if !strings.Contains(string(events), `"limit":"round"`) {
		t.Error("the journal does not name the limit")
	}
}
