package agents_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
	"example.com/wedge/harness/sim"
)

// TestProfiles checks that each profile is a valid workflow under its name, and what unknown ones get.
func TestProfiles(t *testing.T) {
	for _, name := range agents.ProfileNames() {
		wf, err := agents.Profile(name)
		if err != nil || wf.Validate() != nil || wf.Profile != name {
			t.Errorf("%s: %v, %v, called %q", name, err, wf.Validate(), wf.Profile)
		}
	}
	incident, _ := agents.Profile("incident")
	incident.Profile = ""
	if got, want := fmt.Sprint(incident), fmt.Sprint(agents.DefaultWorkflow()); got != want {
		t.Errorf("incident is\n%s\nwant the default\n%s", got, want)
	}
	if _, err := agents.Profile("swebench"); err == nil || err.Error() != `profile: found "swebench", want one of incident, tracelab, swe` {
		t.Errorf("unknown profile: %v", err)
	}
}

// quantilesOf draws many values and returns some of their quantiles.
func quantilesOf[T workload.Quantity](d *workload.Dist[T], percents ...int) []float64 {
	const n = 20_000
	draw := sim.NewStream(seed, "profile", "test")
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(d.Sample(&draw))
	}
	slices.Sort(all)
	var out []float64
	for _, p := range percents {
		out = append(out, all[n*p/100])
	}
	return out
}

// TestProfilesAreAsPublished compares the distributions with the figures that they are fitted to.
func TestProfilesAreAsPublished(t *testing.T) {
	lab, _ := agents.Profile("tracelab")
	swe, _ := agents.Profile("swe")
	s := float64(time.Second)
	for _, row := range []struct {
		what      string
		got, want []float64
	}{
		{"tracelab: output tokens p50", quantilesOf(&lab.OutputTokens, 50), []float64{220}},
		{"tracelab: output tokens p90", quantilesOf(&lab.OutputTokens, 90), []float64{1_600}},
		{"tracelab: pause p50, p90", quantilesOf(&lab.Pause, 50, 90), []float64{86 * s, 1_236 * s}},
		{"tracelab: appended tokens p50", quantilesOf(&lab.MessageTokens, 50), []float64{820}},
		{"swe: calls p50, p95", quantilesOf(&swe.TaskCalls, 50, 95), []float64{43, 112}},
		{"swe: output tokens p50, p95", quantilesOf(&swe.OutputTokens, 50, 95), []float64{136, 752}},
		{"swe: appended tokens p50, p95", quantilesOf(&swe.MessageTokens, 50, 95), []float64{273, 1_642}},
		{"swe: tool time p50, p95", quantilesOf(&swe.ToolTime.ReadMessage, 50, 95), []float64{0.03 * s, 10.9 * s}},
	} {
		for i := range row.want {
			if math.Abs(row.got[i]-row.want[i]) > 0.12*row.want[i] {
				t.Errorf("%s: got %.4g, want %.4g", row.what, row.got, row.want)
			}
		}
	}
	tool := &lab.ToolTime.ReadMessage
	for _, row := range []struct {
		percent int
		below   float64
	}{{60, 1 * s}, {87, 10 * s}, {95, 60 * s}} {
		if got := quantilesOf(tool, row.percent)[0]; got > row.below*1.001 {
			t.Errorf("tracelab: %d %% of tools take up to %v, want up to %v", row.percent, time.Duration(got), time.Duration(row.below))
		}
	}
	if m := tool.Mean().Seconds(); m < 12 || m > 22 {
		t.Errorf("tracelab: tools take %.1f s on average, want about 16.8 s", m)
	}
}

// TestTaskCalls checks that a task has as many steps as were drawn for it, in rounds of so many, and pauses
// between them, whatever else happens in the run.
func TestTaskCalls(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, ctx context.Context, w sim.World) {
		wf := short(1)
		wf.Steps, wf.SystemTokens = 4, 0
		wf.TaskCalls = workload.Must(workload.Constant(10))
		wf.Pause = workload.Must(workload.Constant(time.Minute))
		p := &player{w: w, latency: time.Second}
		j := newJournal(w)
		a := agents.New(w, "agent-01", &wf, agents.NewMemory(agents.NewShared(w, &wf)), p, j, nil)
		if err := a.Run(ctx, agents.Task{ID: "task-01"}); err != nil {
			t.Fatal(err)
		}
		var rounds []string
		for _, id := range p.ids {
			rounds = append(rounds, fmt.Sprint(id.Round, ".", id.Step))
		}
		if got, want := strings.Join(rounds, " "), "1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4 3.1 3.2"; got != want {
			t.Errorf("calls %s, want %s", got, want)
		}
		// Each step: 1 s of thinking, 1 s of the call, 0.1 s of its tool.
		if got, want := time.Duration(w.Now()), 2*time.Minute+21*time.Second; got != want {
			t.Errorf("ended at %v, want %v", got, want)
		}
	})
}
