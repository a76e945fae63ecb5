package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/compare"
)

// smallComparison is one whose outcome is known: an idle limit cures the first scenario, and does harm to
// the second if it is below its silence.
func smallComparison(more ...string) []string {
	return append([]string{"compare", "silent-stream", "long-reasoning", "--policy", "none", "--policy", "idle-60s", "--policy", "idle-120s", "--seeds", "1-6"}, more...)
}

func TestCompare(t *testing.T) {
	for file, more := range map[string][]string{
		"compare.txt":         nil,
		"compare-verbose.txt": {"-v"},
	} {
		t.Run(file, func(t *testing.T) {
			path := here(t, "testdata/"+file)
			out, errs, code := wedge(t, smallComparison(append(more, "--out", "-")...)...)
			if code != exitOK || errs != "" {
				t.Fatal(code, errs)
			}
			golden(t, path, out)
		})
	}
}

// TestCompareDefaults runs what is compared without arguments on a single seed: with all of them it is for
// the benchmark.
func TestCompareDefaults(t *testing.T) {
	out, errs, code := wedge(t, "compare", "--seeds", "1", "--out", "-")
	if code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	for _, want := range append(compare.DefaultPolicies(), compare.DefaultScenarios()...) {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in the output", want)
		}
	}
	if !strings.Contains(out, "Mind: 1 seed: intervals of fewer than 30 seeds are too narrow") {
		t.Errorf("no warning of too few seeds:\n%s", out)
	}
}

func TestCompareHelp(t *testing.T) {
	path := here(t, "testdata/help-compare.txt")
	out, errs, code := wedge(t, "compare", "--help")
	if code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	golden(t, path, out)
}

func TestCompareProgress(t *testing.T) {
	for want, p := range map[string]*compare.Progress{
		"compare: starting": nil,
		"compare: 1200 of 2400 runs, 50 %, about 4 s left (7 from before)": {Done: 1200, Runs: 2400, Kept: 7, Left: 4 * time.Second},
		"search: 1 of 3 runs, 33 %, about 90 s left":                       {Stage: "search", Done: 1, Runs: 3, Left: 90 * time.Second},
	} {
		if got := compareProgress(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCompareFiles looks at all that is written, as JSON and CSV are printed too.
func TestCompareFiles(t *testing.T) {
	asJSON, errs, code := wedge(t, smallComparison("--json")...)
	if code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	dirs, err := filepath.Glob("wedge-out/compare-*")
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if written := readFile(t, filepath.Join(dirs[0], compare.ResultsFile)); written != asJSON {
		t.Error("results.json is not what --json prints")
	}
	var r compare.Results
	if err := json.Unmarshal([]byte(asJSON), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != compare.Schema || r.N != 6 || r.Runs != 36 || len(r.Advice) == 0 || r.Baseline != "none" {
		t.Errorf("schema %q, %d seeds, %d runs, baseline %q, advice %q", r.Schema, r.N, r.Runs, r.Baseline, r.Advice)
	}
	page := readFile(t, filepath.Join(dirs[0], compare.ReportFile))
	for _, want := range []string{"idle-120s", "silent-stream", "<svg"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	// The same again replaces what is finished; the bytes are the same.
	asCSV, errs, code := wedgeHere(t, smallComparison("--csv")...)
	if code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	lines, err := csv.NewReader(strings.NewReader(asCSV)).ReadAll()
	if err != nil || len(lines) < 100 {
		t.Errorf("%d lines of CSV, %v", len(lines), err)
	}
	if again := readFile(t, filepath.Join(dirs[0], compare.ResultsFile)); again != asJSON {
		t.Error("other results when run again")
	}
	if readFile(t, filepath.Join(dirs[0], compare.ReportFile)) != page {
		t.Error("another report when run again")
	}
}

// TestCompareInterrupt cuts a comparison off at once and goes on.
func TestCompareInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	want, _, _ := wedgeHere(t, smallComparison("--json", "--out", "whole")...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, smallComparison("--out", "cut"), &out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "go on with: wedge compare --resume cut") {
		t.Fatalf("exit code %d, standard error %q", code, errs.String())
	}
	got, complaint, code := wedgeHere(t, "compare", "--resume", "cut", "--json")
	if code != exitOK || got != want {
		t.Errorf("exit code %d, %s; other results than without the interrupt", code, complaint)
	}
	// What is asked for and what is there may both be said, if they agree.
	if _, complaint, code = wedgeHere(t, smallComparison("--resume", "cut", "-q")...); code != exitOK {
		t.Error(code, complaint)
	}
}

func TestCompareBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, errs, code := wedgeHere(t, "compare", "healthy", "--policy", "none", "--seeds", "1", "--out", "done"); code != exitOK {
		t.Fatal(code, errs)
	}
	other := strings.Replace(readFile(t, "done/plan.json"), compare.Schema, "wedge.compare/0", 1)
	elder := strings.Replace(readFile(t, "done/plan.json"), `"wedge": "`, `"wedge": "0.`, 1)
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("schema/plan.json", other)
	write("elder/plan.json", elder)
	write("torn/plan.json", other[:40])
	write("lines/plan.json", readFile(t, "done/plan.json"))
	write("lines/runs.jsonl", "{}\n")
	write("limits.yaml", "policy: {idle: 60s, total: 30s}\n")
	write("typo.yaml", "policy:\n  idel: 60s\n")
	for _, c := range []struct {
		args string
		want string
	}{
		{"healthy --policy nonee", `--policy: found "nonee", want one of none, ideal,`},
		{"healthy --policy x.yaml", "x.yaml: found no such file, want a policy file"},
		{"healthy --policy typo.yaml", "typo.yaml:2:3: policy.idel: unknown field"},
		{"healthy --policy limits.yaml", "limits.yaml: idle: found 1m0s, but total is 30s, so it never fires"},
		{"healthy --policy x:{idle:60s,total:30s}", "idle: found 1m0s, but total is 30s, so it never fires"},
		{"healthy --policy x:{total:60s,call_total:60s}", "total: found 1m0s, but call_total is 1m0s, so it never fires"},
		{"healthy --policy x:{idle:60}", `policy.idle: found "60", want a duration with its unit`},
		{"healthy --policy x:{idel:60s}", `policy.idel: unknown field, did you mean "idle"?`},
		{"healthy --policy x:{set:[pacer.slots=-1]}", "slots: -1, want 0 (no limit)"},
		{"healthy --policy x:{set:[fleet.agents=1]}", `set: found "fleet.agents=1", want settings of the pacer`},
		{"healthy --policy {idle:60s}", "want"},
		{"healthy --policy none --policy none", `--policy: found the policy "none" twice`},
		{"healthy healthy --policy none", `compare: found the scenario "healthy" twice`},
		{"healthyy --policy none", `unknown scenario "healthyy", did you mean "healthy"?`},
		{"no.yaml --policy none", "no.yaml: no such file or directory"},
		{"healthy --policy none --seeds 5-3", `--seeds: found "5-3", which has no seed in it`},
		{"healthy --policy oracle", "--policy: found the oracle only, which is a bracket for others"},
		{"healthy --policy none --seeds a", `--seeds: found "a", want a range of whole numbers such as 1-50`},
		{"healthy --policy none --seeds 1-99999999", "want at most 10000 seeds"},
		{"healthy --policy none --against idle-60s", `--against: found "idle-60s", want one of the policies compared: none`},
		{"healthy --sweep policy.idle=30s", "--sweep policy.idle=30s: found one point, want two or more"},
		{"healthy --sweep policy.idle", "want path=value,value,…"},
		{"healthy --sweep policy.idle=30s,30s", "found 30s twice"},
		{"healthy --sweep policy.idle=30s,", "found an empty value"},
		{"healthy --sweep policy.idel=30s,60s", "--sweep policy.idel=30s: policy.idel: unknown field"},
		{"healthy --sweep policy.idle=30,60", "--sweep policy.idle=30: policy.idle: found \"30\""},
		{"healthy --policy as-is --sweep policy.idle=30s,60s", "found it with the policy as-is"},
		{"healthy --policy x:{total:45s} --sweep policy.idle=30s,60s", "--sweep policy.idle=60s: idle: found 1m0s, but total is 45s"},
		{"healthy --sweep fleet.agents=10,x", `--sweep fleet.agents=x: fleet.agents: found "x", want a whole number`},
		{"healthy --tune policy.idle=10s", "want path=low..high"},
		{"healthy --tune policy.idle=60s..10s", "want a range above 0 from the lower to the higher end"},
		{"healthy --tune fleet.agents=1..10", "the rest is the world, which is not ours to tune"},
		{"healthy --tune policy.idel=10s..60s", "--tune policy.idel: policy.idel: unknown field"},
		{"healthy --tune policy.idle=10s..60s --seeds 1-5 --tune-seeds 5-9", "--tune-seeds: found 5-9, which overlaps --seeds 1-5"},
		{"healthy --tune policy.idle=10s..60s --tune-budget 1", "--tune-budget: found 1, want 4 points or more"},
		{"healthy --tune-budget 9", "--tune: found --tune-seeds or --tune-budget without it"},
		{"healthy --tune policy.idle=10s..60s --sweep policy.idle=1s,2s", "--tune: found it together with --sweep"},
		{"healthy --set policy.idle=60s", "found a field of the policy, which is what is compared"},
		{"healthy --set watchdog.give_up_after=10m", "found a field of the watchdog"},
		{"healthy --set fleet.agents", "want path=value, such as fleet.agents=60"},
		{"healthy --json --csv", "--csv: found it together with --json"},
		{"healthy --workers -1", "--workers: found -1"},
		{"--resume nothing", "nothing/plan.json: found no such file, want the directory of a comparison"},
		{"--resume torn", "torn/plan.json: found no plan in it"},
		{"--resume schema", `schema/plan.json: schema: found "wedge.compare/0", want "wedge.compare/1"`},
		{"--resume elder", "elder/plan.json: wedge: found version \"0."},
		{"--resume lines", "lines/runs.jsonl:1:1: found no run in this line"},
		{"--resume done --out there", "--out: found it together with --resume"},
		{"slow-but-fine --resume done --policy none --seeds 1", "done/plan.json: found another plan than the one asked for"},
		{"healthy --policy none --seeds 1 --out done", "done: found a comparison in it, want --resume with it, or another --out"},
	} {
		args := append([]string{"compare", "-q"}, strings.Fields(c.args)...)
		for i := range args {
			if strings.Contains(args[i], "{") {
				args[i] = strings.NewReplacer(":", ": ", ",", ", ").Replace(args[i])
			}
		}
		if !strings.Contains(c.args, "--out") && !strings.Contains(c.args, "--resume") {
			args = append(args, "--out", "-")
		}
		out, errs, code := wedgeHere(t, args...)
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, output %q, standard error %q, want one line with %q", c.args, code, out, errs, c.want)
		}
	}
}
