package compare_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/repro/compare"
)

// tuned is a search whose outcome is known: below two minutes an idle limit kills what thinks that long, and the
// longer it is the later it notices what is dead.
func tuned(t testing.TB) *compare.Plan {
	p := planOf(t, []string{"idle-60s", "none"}, []string{"silent-stream", "long-reasoning"}, compare.Seeds{From: 1, To: 3})
	knob, err := compare.ParseKnob("policy.idle=10s..3000s")
	if err != nil {
		t.Fatal(err)
	}
	p.Tuning = &compare.Tuning{Knobs: []compare.Knob{knob}, Seeds: compare.Seeds{From: 11, To: 12}, Budget: 9}
	return p
}

func TestTune(t *testing.T) {
	skipShort(t)
	runs := execute(t, tuned(t), compare.Options{})
	search := runs.Plan.Tuning
	if names := []string{runs.Plan.Policies[0].Name, runs.Plan.Policies[1].Name, runs.Plan.Policies[2].Name, runs.Plan.Policies[3].Name}; !slices.Equal(names, []string{"idle-60s", "idle-60s-tuned", "none", "none-tuned"}) {
		t.Errorf("policies %v", names)
	}
	for _, policy := range search.Policies {
		if len(policy.Points) != search.Budget || policy.Left != 0 {
			t.Errorf("%s: %d points, %d left out, want the budget of %d for each policy", policy.Base, len(policy.Points), policy.Left, search.Budget)
		}
		if !slices.IsSortedFunc(policy.Points, func(a, b compare.TunedPoint) int { return slices.Compare(a.X, b.X) }) {
			t.Errorf("%s: the points are not in the order of a curve", policy.Base)
		}
		best := policy.Points[policy.Best]
		for _, point := range policy.Points {
			if point.Ratio < best.Ratio {
				t.Errorf("%s: %v is better than the best, %v", policy.Base, point, best)
			}
		}
	}
	if best := search.Policies[0].Points[search.Policies[0].Best].X[0]; best < 120 || best > 1000 {
		t.Errorf("the best idle limit is %v s, want it above the two minutes of thought and below a quarter of an hour", best)
	}
	r := compare.Analyse(runs)
	if r.Seeds != (compare.Seeds{From: 1, To: 3}) || r.Tuning == nil || !r.Policies[1].RatioCI.Excludes(1) || r.Policies[1].Ratio > 1 {
		t.Errorf("seeds %v, ratio %v of %s", r.Seeds, r.Policies[1].Ratio, r.Policies[1].Name)
	}
}

// TestTuneIsResumed cuts a search off in each of its stages and in the comparison that follows.
func TestTuneIsResumed(t *testing.T) {
	want := jsonOf(t, compare.Analyse(execute(t, tuned(t), compare.Options{})))
	cuts := []int{3, 27, 35, 45, 60}
	if testing.Short() {
		cuts = cuts[2:3]
	}
	for _, after := range cuts {
		dir := filepath.Join(t.TempDir(), "tuned")
		ctx, cancel := context.WithCancel(context.Background())
		done := 0
		_, err := compare.Run(ctx, tuned(t), compare.Options{Dir: dir, Progress: func(compare.Progress) {
			if done++; done == after {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			t.Fatalf("not cut off after %d runs", after)
		}
		p, err := compare.ReadPlan(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		runs := execute(t, p, compare.Options{Dir: dir, Resume: true})
		if got := jsonOf(t, compare.Analyse(runs)); !bytes.Equal(got, want) {
			t.Errorf("other results after a search that was cut off after %d runs", after)
		}
	}
}

func TestTuneTwoKnobs(t *testing.T) {
	skipShort(t)
	p := planOf(t, []string{"idle-60s"}, []string{"silent-stream"}, compare.Seeds{From: 1, To: 2})
	for _, text := range []string{"policy.idle=10s..300s", "pacer.slots=4..30"} {
		knob, err := compare.ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Tuning == nil {
			p.Tuning = &compare.Tuning{Seeds: compare.Seeds{From: 11, To: 12}, Budget: 8}
		}
		p.Tuning.Knobs = append(p.Tuning.Knobs, knob)
	}
	runs := execute(t, p, compare.Options{})
	for _, point := range runs.Plan.Tuning.Policies[0].Points {
		if len(point.X) != 2 || point.X[0] < 10 || point.X[0] > 300 || point.X[1] < 4 || point.X[1] > 30 || point.X[1] != float64(int(point.X[1])) {
			t.Errorf("%v is not in the range", point)
		}
	}
	if v := runs.Plan.Policies[1]; len(v.Set) != 1 || !strings.HasPrefix(v.Set[0], "pacer.slots=") || v.Policy.Idle == 0 {
		t.Errorf("tuned to %v with %v", v.Policy.Idle, v.Set)
	}
}

// TestClearTakesOnlyItsOwn removes what a comparison leaves, and nothing else.
func TestClearTakesOnlyItsOwn(t *testing.T) {
	skipShort(t)
	dir := t.TempDir()
	runs := execute(t, tuned(t), compare.Options{Dir: dir})
	if compare.Finished(dir) {
		t.Error("finished without results")
	}
	if err := compare.WriteResults(dir, compare.Analyse(runs)); err != nil {
		t.Fatal(err)
	}
	if !compare.Finished(dir) {
		t.Error("not finished with results")
	}
	write(t, filepath.Join(dir, "mine.txt"), []byte("mine"))
	if err := compare.Clear(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "mine.txt" {
		t.Errorf("%v, %v, want mine.txt alone", left, err)
	}
}

func TestSweep(t *testing.T) {
	skipShort(t)
	p := planOf(t, []string{"none"}, []string{"silent-stream"}, compare.Seeds{From: 1, To: 2})
	for _, text := range []string{"policy.idle=30s,60s", "fleet.agents=5,10", "faults.silence.to=21m,24m"} {
		sweep, err := compare.ParseSweep(text)
		if err == nil {
			err = p.Apply(sweep)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := compare.Analyse(execute(t, p, compare.Options{}))
	var policies, scenarios []string
	for i := range r.Policies {
		policies = append(policies, r.Policies[i].Name)
	}
	for i := range r.Scenarios {
		scenarios = append(scenarios, r.Scenarios[i].Name)
	}
	if want := []string{"none", "idle=30s", "idle=60s"}; !slices.Equal(policies, want) {
		t.Errorf("policies %v, want %v", policies, want)
	}
	if want := []string{"silent-stream.agents-5.to-21m", "silent-stream.agents-5.to-24m", "silent-stream.agents-10.to-21m", "silent-stream.agents-10.to-24m"}; !slices.Equal(scenarios, want) {
		t.Errorf("scenarios %v, want %v", scenarios, want)
	}
	if at := p.Loads[1]; len(at) != 2 || at[0].X != 5 || at[1].X != 24*60 {
		t.Errorf("the second scenario stands for %v", at)
	}
	if p.Scenarios[0].Faults[0].To == p.Scenarios[1].Faults[0].To {
		t.Error("two points share their fault")
	}
}
