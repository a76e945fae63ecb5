package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// planOf is a plan of policies and scenarios by name.
func planOf(t testing.TB, policies, scenarios []string, seeds compare.Seeds) *compare.Plan {
	t.Helper()
	p := &compare.Plan{Seeds: seeds}
	for _, text := range policies {
		v, err := compare.ParseVariant(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Policies = append(p.Policies, v)
	}
	for _, name := range scenarios {
		s, err := repro.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return p
}

// skipShort leaves a test out with -short, as under the race detector, to which runs in virtual time have
// little to show; those that say something of several at once stay.
func skipShort(t *testing.T) {
	if t.Helper(); testing.Short() {
		t.Skip("many runs, and nothing that happens at once")
	}
}

func execute(t testing.TB, p *compare.Plan, o compare.Options) *compare.Runs {
	t.Helper()
	runs, err := compare.Run(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func jsonOf(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSameBytesOnAnyNumberOfCores runs a plan on one and on two cores and with more runs at once than
// cores, and compares all that is written.
func TestSameBytesOnAnyNumberOfCores(t *testing.T) {
	p := planOf(t, []string{"none", "idle-60s", "openai-node-7"}, []string{"silent-stream", "retry-storm"}, compare.Seeds{From: 3, To: 5})
	files := []string{compare.PlanFile, compare.RunsFile, compare.ResultsFile, compare.TableFile}
	var first [][]byte
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, c := range []struct{ cores, workers int }{{1, 0}, {2, 0}, {2, 5}} {
		runtime.GOMAXPROCS(c.cores)
		dir := filepath.Join(t.TempDir(), "out")
		runs := execute(t, p, compare.Options{Dir: dir, Workers: c.workers})
		if err := compare.WriteResults(dir, compare.Analyse(runs)); err != nil {
			t.Fatal(err)
		}
		for i, name := range files {
			text := read(t, dir, name)
			if len(first) == i {
				first = append(first, text)
			}
			if !bytes.Equal(text, first[i]) {
				t.Errorf("%s differs with %d cores and %d workers", name, c.cores, c.workers)
			}
		}
	}
}

// TestResumeAfterACut cuts runs.jsonl off at each end of a line, beside it, and in the middle, and goes on:
// every file must be what it is without the cut.
func TestResumeAfterACut(t *testing.T) {
	p := planOf(t, []string{"none", "idle-60s"}, []string{"long-reasoning"}, compare.Seeds{From: 1, To: 3})
	dir := t.TempDir()
	whole := execute(t, p, compare.Options{Dir: filepath.Join(dir, "whole"), Version: "v1"})
	want := jsonOf(t, compare.Analyse(whole))
	log := read(t, dir, "whole", compare.RunsFile)
	cuts := []int{0, 1, len(log) - 1, len(log)}
	for i, c := range log {
		if c == '\n' {
			cuts = append(cuts, i-1, i, i+1, i+2, i+len(log)/11)
		}
	}
	if testing.Short() {
		cuts = cuts[:7]
	}
	for _, cut := range cuts {
		if cut > len(log) {
			continue
		}
		torn := filepath.Join(dir, "torn")
		if err := os.MkdirAll(torn, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(torn, compare.PlanFile), read(t, dir, "whole", compare.PlanFile))
		write(t, filepath.Join(torn, compare.RunsFile), log[:cut])
		again, err := compare.ReadPlan(torn, "v1")
		if err != nil {
			t.Fatal(err)
		}
		runs := execute(t, again, compare.Options{Dir: torn, Resume: true, Version: "v1"})
		if got := jsonOf(t, compare.Analyse(runs)); !bytes.Equal(got, want) {
			t.Errorf("other results after a cut at byte %d of %d", cut, len(log))
		}
		if !bytes.Equal(read(t, torn, compare.RunsFile), log) {
			t.Errorf("another %s after a cut at byte %d of %d", compare.RunsFile, cut, len(log))
		}
	}
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptKeepsWhatIsFinished cancels after a few runs and goes on.
func TestInterruptKeepsWhatIsFinished(t *testing.T) {
	p := planOf(t, []string{"none", "idle-60s"}, []string{"silent-stream", "long-reasoning"}, compare.Seeds{From: 1, To: 4})
	want := jsonOf(t, compare.Analyse(execute(t, p, compare.Options{})))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := func(at compare.Progress) {
		if at.Done == 6 {
			cancel()
		}
	}
	runs, err := compare.Execute(ctx, p, compare.Options{Dir: dir, Progress: stop, Workers: 1})
	if err != context.Canceled || runs == nil {
		t.Fatalf("%v, %v, want the runs and that it was cancelled", runs, err)
	}
	partial := compare.Analyse(runs)
	if partial.N != 1 || len(partial.Warnings) == 0 {
		t.Errorf("results of %d seeds with warnings %q, want those of the one whole seed, and a warning", partial.N, partial.Warnings)
	}
	kept := 0
	runs = execute(t, p, compare.Options{Dir: dir, Resume: true, Progress: func(at compare.Progress) { kept = at.Kept }})
	if kept < 6 {
		t.Errorf("%d runs were kept, want those 6 that were finished", kept)
	}
	if got := jsonOf(t, compare.Analyse(runs)); !bytes.Equal(got, want) {
		t.Error("other results after an interrupt")
	}
}

// TestPairingOfHarmlessVariants has two limits that never fire: with common random numbers every seed
// gives the same under both, and much the same where a policy changes only little.
func TestPairingOfHarmlessVariants(t *testing.T) {
	skipShort(t)
	p := planOf(t, []string{"none", "patient: {preset: none, idle: 1h}", "total: {preset: none, total: 3h, max_attempts: 5}"}, []string{"starvation", "slow-but-fine"}, compare.Seeds{From: 1, To: 12})
	r := compare.Analyse(execute(t, p, compare.Options{}))
	for _, s := range r.Scenarios {
		for _, c := range s.Cells {
			f := c.Of(compare.KeyTaskTime)
			if f.Pairing == nil || *f.Pairing < 0.99 {
				t.Errorf("%s, %s: pairing %v, want above 0.99", s.Name, c.Policy, f.Pairing)
			}
			if f.CI.Low == f.CI.High {
				t.Errorf("%s, %s: the seeds do not differ", s.Name, c.Policy)
			}
			if f.Best || f.DiffCI.Excludes(0) {
				t.Errorf("%s, %s: told apart although it is the same", s.Name, c.Policy)
			}
		}
	}
}

// TestWhatIsBest has policies of which the outcome is known: an idle limit cures silent-stream, and does
// harm to long-reasoning if it is below its silence; a total limit below the service time stops all.
func TestWhatIsBest(t *testing.T) {
	skipShort(t)
	p := planOf(t, []string{"none", "idle-60s", "idle-120s", "total-60s"}, []string{"silent-stream", "long-reasoning"}, compare.Seeds{From: 1, To: 6})
	r := compare.Analyse(execute(t, p, compare.Options{}))
	silent, reasoning := r.Scenarios[0].Cells, r.Scenarios[1].Cells
	for _, i := range []int{1, 2} {
		if f := silent[i].Of(compare.KeyTaskTime); !f.Better || silent[i].Completed.K != 6 || silent[0].Never != 6 {
			t.Errorf("%s does not cure silent-stream: %+v", silent[i].Policy, f)
		}
		if back := silent[i].Recovery; back == nil || back.Never != 0 || back.MedianS == nil {
			t.Errorf("%s: recovery %+v, want all recovered", silent[i].Policy, back)
		}
	}
	if back := silent[0].Recovery; back == nil || back.Never != 6 || back.MedianS != nil {
		t.Errorf("none: recovery %+v, want never, and no time", back)
	}
	if c := reasoning[1]; !c.Of(compare.KeyTaskTime).Worse || c.Of(compare.KeyKilled).Mean == 0 {
		t.Errorf("idle-60s does no harm to long-reasoning: %+v", c.Of(compare.KeyTaskTime))
	}
	if c := reasoning[2]; c.Of(compare.KeyTaskTime).Worse || c.Of(compare.KeyKilled).Mean != 0 {
		t.Errorf("idle-120s does harm to long-reasoning: %+v", c.Of(compare.KeyTaskTime))
	}
	best := slices.IndexFunc(r.Policies, func(p compare.PolicyResult) bool { return p.Best })
	if best != 2 {
		t.Errorf("best is %d, want idle-120s; advice: %q", best, r.Advice)
	}
}
