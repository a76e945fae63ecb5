package repro_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/demand"
	"example.com/wedge/repro"
)

// smallTasks make tasks of two calls that write little.
var smallTasks = []string{"workflow.rounds=1", "workflow.steps=2", "workflow.tools=[write, save]", "workflow.output_tokens=50", "workflow.system_tokens=100"}

// endlessly runs a scenario with a demand.
func endlessly(t testing.TB, s *repro.Scenario, o repro.Options) *repro.Result {
	t.Helper()
	r, err := repro.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.WriteErr != nil {
		t.Fatal(r.WriteErr)
	}
	return r
}

func TestDemand(t *testing.T) {
	run := func() (*repro.Result, string, string) {
		dir := filepath.Join(t.TempDir(), "b")
		var tee bytes.Buffer
		r := endlessly(t, lookup(t, "healthy", smallTasks...), repro.Options{Demand: &demand.Config{}, TasksMax: 300, Out: dir, JournalTee: &tee})
		events, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return r, string(events), tee.String()
	}
	r, events, tee := run()
	if r.Report.Why != harness.Completed || r.Report.Totals.AgentsDone != 300 || r.Report.Stalls != 0 {
		t.Errorf("ended %v with %d done and %d stalls, want completed with 300 and none", r.Report.Why, r.Report.Totals.AgentsDone, r.Report.Stalls)
	}
	if tee != events || strings.Count(events, `"event":"agent_end"`) != 300 {
		t.Error("the second reader of the journal has not been given what the file has")
	}
	if again, same, _ := run(); again.TraceHash != r.TraceHash || same != events {
		t.Error("seed 1: two runs differ")
	}
}

// TestDemandFollowsArrivals: where tasks arrive at a rate, a demand that says nothing is an open loop of it, with
// the triggers' load.
func TestDemandFollowsArrivals(t *testing.T) {
	s := lookup(t, "load-spike", "policy.preset=none")
	window := s.TriggerWindows()[0]
	in := 0
	o := repro.Options{Demand: &demand.Config{}, Horizon: 2 * time.Duration(window.To)}
	o.Tap = func(x repro.Inside) repro.Tap {
		return repro.Tap{Agents: startedFunc(func(*agents.State) {
			if now := x.World.Now(); now >= window.From && now < window.To {
				in++
			}
		})}
	}
	r := endlessly(t, s, o)
	perSecond := s.Fleet.Arrivals.PerSecond()
	want := s.Triggers[0].Load * perSecond * (window.To - window.From).Seconds()
	if got := float64(in); s.Triggers[0].Load <= 1 || got < want*0.6 || got > want*1.4 {
		t.Errorf("%v agents started in the spike, want about %.0f", got, want)
	}
	if n := float64(r.Report.Totals.AgentsDone); n < want {
		t.Errorf("%v tasks done, want more than arrive in the spike (%.0f)", n, want)
	}
}

// startedFunc is an observer of agents that are started.
type startedFunc func(*agents.State)

func (f startedFunc) AgentStarted(s *agents.State)            { f(s) }
func (startedFunc) StageChanged(*agents.State)                {}
func (startedFunc) ToolCalled(*agents.State, agents.ToolCall) {}
func (startedFunc) StepDone(*agents.State)                    {}
func (startedFunc) AgentEnded(*agents.State, error)           {}

// TestDemandOnTrace: the sessions of a trace are gone through again and again, and the model answers each as
// the trace has it.
func TestDemandOnTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	var text strings.Builder
	for i, tokens := range []int{11, 22} {
		fmt.Fprintf(&text, `{"session_id":"s-%d","timestamp":0,"input_length":30,"output_length":%d}`+"\n", i, tokens)
	}
	if err := os.WriteFile(trace, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var ended []string
	o := repro.Options{Demand: &demand.Config{Agents: 1}, TasksMax: 5}
	var tee bytes.Buffer
	o.JournalTee = &tee
	endlessly(t, lookup(t, "healthy", "workflow.trace="+trace), o)
	for line := range strings.Lines(tee.String()) {
		if strings.Contains(line, `"event":"call_end"`) {
			_, rest, _ := strings.Cut(line, `"tokens":`)
			ended = append(ended, strings.TrimRight(rest, "}\n"))
		}
	}
	if want := []string{"11", "22", "11", "22", "11"}; !slices.Equal(ended, want) {
		t.Errorf("calls of %q tokens, want %q", ended, want)
	}
	if !strings.Contains(tee.String(), `"agent":"agent-000005","task":"s-0-000005"`) {
		t.Errorf("no fifth task in\n%s", tee.String())
	}
}

func TestDemandIsRefused(t *testing.T) {
	for _, row := range []struct {
		o    repro.Options
		want string
	}{
		{repro.Options{Demand: &demand.Config{Agents: -1}}, "load: agents: found -1, want 0 (the fleet's workers) to 1000000"},
		{repro.Options{TasksMax: 3}, "tasks: found 3 without a demand, want them together"},
		{repro.Options{Horizon: -1}, "horizon: found -1ns, want 0 (the scenario's) to 10000h0m0s"},
	} {
		if _, err := repro.Run(context.Background(), lookup(t, "healthy"), row.o); err == nil || err.Error() != row.want {
			t.Errorf("got  %v\nwant %s", err, row.want)
		}
	}
}

// TestDemandOnTheWall: over real HTTP, and what agents write on the disk goes when they do.
func TestDemandOnTheWall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	o := repro.Options{Clock: repro.ClockWall, Scale: 200, Demand: &demand.Config{Agents: 4}, TasksMax: 12, Out: dir}
	r := endlessly(t, lookup(t, "healthy", smallTasks...), o)
	if r.Report.Why != harness.Completed || r.Report.Totals.AgentsDone != 12 {
		t.Errorf("%s", r.Story())
	}
	err := filepath.WalkDir(filepath.Join(dir, "workspace"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(path, "task-") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
