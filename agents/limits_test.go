package agents_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// TestLimits checks when a limit of a round or a task ends a task, whatever the agent is at then, and that
// the error says so. Calls take 10 s, thinking and tools nothing.
func TestLimits(t *testing.T) {
	const s = time.Second
	hang := []fault.Fault{{ID: "hang", Where: fault.Tool, What: fault.Hang, Tool: agents.ToolAppend}}
	for _, row := range []struct {
		name   string
		limits agents.Limits
		faults []fault.Fault
		change func(wf *agents.Workflow)
		want   string // error; empty: none
		at     time.Duration
	}{
		{name: "none", at: 80 * s},
		{name: "just enough", limits: agents.Limits{Round: 40*s + 1, Task: 80*s + 1}, at: 80 * s},
		{name: "a round in its call", limits: agents.Limits{Round: 35 * s}, want: "agents: agent-01: round 1, step 4: round limit (35s) exceeded", at: 35 * s},
		{name: "the task in its second round", limits: agents.Limits{Round: 45 * s, Task: 75 * s}, want: "agents: agent-01: round 2, step 4: task limit (1m15s) exceeded", at: 75 * s},
		{name: "the round before the task", limits: agents.Limits{Round: 30*s + 1, Task: 35 * s}, want: "agents: agent-01: round 1, step 4: round limit (30.000000001s) exceeded", at: 30*s + 1},
		{name: "a tool that hangs", limits: agents.Limits{Task: 10 * time.Minute}, faults: hang, want: "agents: agent-01: round 1, step 3: task limit (10m0s) exceeded", at: 10 * time.Minute},
		{
			name: "with sub-agents", limits: agents.Limits{Round: 15 * s}, change: func(wf *agents.Workflow) { wf.SubAgents.PerRound, wf.SubAgents.Steps = 2, 2 },
			want: "agents: agent-01: round 1, step 1: round limit (15s) exceeded", at: 15 * s,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
				wf := short(2)
				wf.Think, wf.ToolTime = workload.Duration{}, agents.ToolTimes{}
				if row.change != nil {
					row.change(&wf)
				}
				set, err := fault.NewSet(w, row.faults)
				if err != nil {
					t.Fatal(err)
				}
				j := newJournal(w)
				a := agents.New(w, "agent-01", &wf, agents.NewMemory(agents.NewShared(w, &wf)), &player{w: w, latency: 10 * s}, j, set)
				a.Limit(row.limits)
				err = a.Run(ctx, agents.Task{ID: "task-01"})
				got := ""
				if err != nil {
					got = err.Error()
				}
				if at := time.Duration(w.Now()); got != row.want || at != row.at {
					t.Errorf("ended at %v with %q, want at %v with %q", at, got, row.at, row.want)
				}
				if row.want != "" && !errors.Is(err, context.DeadlineExceeded) {
					t.Error("the error is no exceeded deadline")
				}
			})
		})
	}
}
