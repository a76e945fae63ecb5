package compare_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// TestPlansOfOthersAreBounded: a plan.json that somebody has edited, and sweeps that multiply, are refused in one
// line before anything of their size is made.
func TestPlansOfOthersAreBounded(t *testing.T) {
	one := compare.Seeds{From: 1, To: 1}
	values := strings.Split(strings.Repeat("1 ", 200)+"2", " ")
	for name, change := range map[string]struct {
		of   func(p *compare.Plan) error
		want string
	}{
		"huge range": {func(p *compare.Plan) error {
			p.Seeds = compare.Seeds{From: 1, To: math.MaxUint64}
			return p.Validate()
		}, "--seeds: found 1-18446744073709551615, want at most 10000 seeds"},
		"no range": {func(p *compare.Plan) error {
			p.Seeds = compare.Seeds{From: 6, To: 0}
			return p.Validate()
		}, "--seeds: found 6-0, which has no seed in it"},
		"world": {func(p *compare.Plan) error {
			p.Scenarios = append(p.Scenarios, make([]*repro.Scenario, 99)...)
			return p.Apply(compare.Sweep{Path: "fleet.agents", Values: values})
		}, "--sweep fleet.agents: found 1 policies on 20100 scenarios"},
		"policies": {func(p *compare.Plan) error {
			p.Policies = append(p.Policies, make([]compare.Variant, 99)...)
			return p.Apply(compare.Sweep{Path: "policy.max_attempts", Values: values})
		}, "--sweep policy.max_attempts: found 20200 policies on 1 scenarios"},
		"budget": {func(p *compare.Plan) error {
			k, err := compare.ParseKnob("policy.idle=60s..120s")
			if err != nil {
				return err
			}
			p.Tuning = &compare.Tuning{Knobs: []compare.Knob{k}, Budget: 1_000_000_000, Seeds: compare.Seeds{From: 2, To: 2}}
			_, err = compare.Run(t.Context(), p, compare.Options{})
			return err
		}, "--tune-budget: found 1000000000, want at most 1000 points"},
	} {
		err := change.of(planOf(t, []string{"none"}, []string{"healthy"}, one))
		var input *repro.InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), change.want) {
			t.Errorf("%s: %v, want %q", name, err, change.want)
		}
	}
}

// TestRunsOfADirectoryAreAFile: what stands where the runs should be and has no end is not read.
func TestRunsOfADirectoryAreAFile(t *testing.T) {
	dir := t.TempDir()
	p := planOf(t, []string{"none"}, []string{"idle"}, compare.Seeds{From: 1, To: 1})
	execute(t, p, compare.Options{Dir: dir})
	path := filepath.Join(dir, compare.RunsFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Skip(err) // not on every system
	}
	_, err := compare.Execute(t.Context(), p, compare.Options{Dir: dir, Resume: true})
	var input *repro.InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "found no regular file") {
		t.Errorf("%v, want bad input", err)
	}
}

// TestResultsAreWholeOrNone: what cannot be written leaves nothing behind of itself.
func TestResultsAreWholeOrNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, compare.ResultsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	runs := execute(t, planOf(t, []string{"none"}, []string{"idle"}, compare.Seeds{From: 1, To: 1}), compare.Options{})
	if err := compare.WriteResults(dir, compare.Analyse(runs)); err == nil {
		t.Error("no error, with a directory where the results should be")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v; want the directory and %s", files, err, compare.TableFile)
	}
}

// TestChangedPlanIsRefused: the parts of a plan refer to each other by number, so that one that was edited is not
// gone on with.
func TestChangedPlanIsRefused(t *testing.T) {
	dir := t.TempDir()
	execute(t, planOf(t, []string{"none", "idle-60s"}, []string{"idle"}, compare.Seeds{From: 1, To: 1}), compare.Options{Dir: dir})
	path := filepath.Join(dir, compare.PlanFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compare.ReadPlan(dir, ""); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"to": 1`, `"to": 2`}, {`"max_attempts": 3`, `"max_attempts": 4`}, {`"sha256": "`, `"sha256": "0`}, {`"baseline"`, `"loads": [[]], "baseline"`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%s is not in the plan", change[0])
		}
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := compare.ReadPlan(dir, "")
		var input *repro.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), "changed after wedge wrote it") {
			t.Errorf("%s: %v, want bad input", change[1], err)
		}
	}
}
