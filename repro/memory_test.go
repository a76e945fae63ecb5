package repro_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
)

// heapLive returns how many bytes of the heap are reachable.
func heapLive() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// taskCount counts the agents that have ended, sub-agents left out.
type taskCount struct {
	startedFunc
	ended *int
}

func (c *taskCount) AgentStarted(*agents.State) {}

func (c *taskCount) AgentEnded(s *agents.State, _ error) {
	if s.Parent == "" {
		*c.ended++
	}
}

// TestConstantMemory: what a run keeps does not grow with the tasks that it has done: not in the books, the log of
// the router, the kernel, the pacer, the servers, the workspace or the journal. Stalls make it grow until
// watchdog.episodes_kept of them are there, so that runs with stalls keep one.
func TestConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name, scenario string
		tasks          int
		sets           []string
		bundle         bool
	}{
		{"small tasks", "healthy", 200_000, nil, false},
		{"sub-agents and tools that print", "healthy", 10_000, []string{"workflow.sub_agents.per_round=2", "workflow.tool_output_bytes=1000"}, false},
		{"results in mailboxes", "healthy", 10_000, []string{"workflow.sub_agents={per_round: 2, results: mailbox}"}, false},
		{"locks that are fought over", "lock-over-call", 5_000, nil, false},
		{"time limits and retries", "ignored-abort", 10_000, []string{"policy.idle=60s", "policy.total=10m", "policy.max_attempts=3"}, false},
		{"adaptive limits, hedges and a queue", "healthy", 50_000, []string{"policy.hedge={after: 5s, share: 0.2}", "policy.adaptive=[{limit: first_token, rule: quantile}]", "pacer.queue={order: lifo}"}, false},
		{"tools that hang until the task's limit", "tool-hang", 20_000, []string{"policy.task=10m", "workflow.tools=[write, append, save]"}, false},
		{"starvation as it is", "starvation", 1_000, []string{"workflow.profile=incident"}, false},
		{"with a bundle", "healthy", 10_000, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lookup(t, c.scenario, append(slices.Clone(smallTasks), append(c.sets, "watchdog.give_up_after=0s", "watchdog.episodes_kept=1")...)...)
			o := repro.Options{Demand: &demand.Config{}, TasksMax: c.tasks, Horizon: 10_000 * time.Hour}
			const growthMax = 1.1
			if c.bundle {
				o.Out, o.Bundle.Rotate = filepath.Join(t.TempDir(), "b"), bundle.Rotation{BytesMax: 1 << 20, FilesMax: 2}
			}
			ended := 0
			var at []float64 // heap at each tenth of the tasks
			o.Tap = func(x repro.Inside) repro.Tap {
				return repro.Tap{Agents: &taskCount{ended: &ended}}
			}
			o.Ticks = []harness.Tick{{Every: 10 * time.Second, Do: func(sim.Instant) {
				if ended >= o.TasksMax*(len(at)+1)/10 {
					at = append(at, heapLive())
				}
			}}}
			r := endlessly(t, s, o)
			if r.Report.Why != harness.Completed || len(at) < 9 {
				t.Fatalf("ended %v with %d done and %d failed, heap at %.0f", r.Report.Why, r.Report.Totals.AgentsDone, r.Report.Totals.AgentsFailed, at)
			}
			if first, last := at[0], at[len(at)-1]; last > first*growthMax {
				t.Errorf("the heap grows from %.0f bytes at a tenth of %d tasks to %.0f at the end; in between %.0f", first, o.TasksMax, last, at)
			}
			t.Logf("heap by tenths of %d tasks: %.0f", o.TasksMax, at)
		})
	}
}
