package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/soak"
)

// TestSoakText: what a person reads of a soak, but for what the process takes, which differs.
func TestSoakText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		file string
		args []string
		code int
	}{
		{"testdata/soak.txt", soakReadme, exitThreshold},
		{"testdata/soak-faults.txt", []string{
			"soak", "starvation", "--for", "12h", "--seed", "3", "--set", "policy.idle=2m", "--threshold", "tasks > 100", "--set",
			"soak.random_faults=[{fault: {id: quiet, where: stream, what: silence, after_tokens: 50, probability: 0.3}, every: 2h, lasts: 10m}]",
		}, exitOK},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			file := here(t, c.file)
			out, errs, code := wedge(t, append(c.args, "--no-report", "-q")...)
			if code != c.code || strings.Count(errs, "\n") != min(c.code, 1) {
				t.Errorf("exit code %d, standard error %q", code, errs)
			}
			golden(t, file, withoutProcess(t, out))
		})
	}
}

// soakReadme is the soak that the README shows.
var soakReadme = []string{"soak", "starvation", "--for", "24h", "--seed", "3", "--threshold", "p95(call) < 5m", "--threshold", "goodput > 0.9"}

// withoutProcess leaves out what wedge itself takes, and looks at how wide the lines are.
func withoutProcess(t *testing.T, out string) string {
	t.Helper()
	var kept strings.Builder
	spark := false // within the series, which fit 80 columns
	for line := range strings.Lines(out) {
		spark = spark && line != "\n" || strings.HasPrefix(line, "Over time: ")
		most := 100
		if spark {
			most = 80
		}
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > most && !strings.Contains(line, "wedge soak") {
			t.Errorf("%d columns: %s", n, line)
		}
		if !spark || !strings.HasPrefix(line, "  heap ") {
			kept.WriteString(line)
		}
	}
	text := kept.String()
	if from, to := strings.Index(text, "\nLeaks of wedge itself\n"), strings.Index(text, "\nNext\n"); from > 0 && to > from {
		text = text[:from] + text[to:]
	}
	return text
}

// TestReadmeSoak: the README shows the output of a soak, and a block of a scenario that is one.
func TestReadmeSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text, want := readFile(t, readme), readFile(t, "testdata/soak.txt")
	before, rest, ok := strings.Cut(text, "Without what wedge itself takes, it prints:\n\n```text\n")
	shown, after, ok2 := strings.Cut(rest, "```\n")
	if !ok || !ok2 {
		t.Fatal("the README has no output of a soak")
	}
	if *update {
		if err := os.WriteFile(readme, []byte(before+"Without what wedge itself takes, it prints:\n\n```text\n"+want+"```\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		shown = want
	}
	if shown != want {
		t.Error("the README shows another output than testdata/soak.txt has (go test -update rewrites it)")
	}
	blocks := blocksOf(t, "yml")
	t.Chdir(t.TempDir())
	for _, block := range blocks {
		if err := os.WriteFile("my-soak.yaml", []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := wedgeHere(t, "soak", "my-soak.yaml", "--out", "-", "-q"); code != exitOK && code != exitThreshold {
			t.Errorf("exit code %d: %s%s", code, errs, out)
		}
	}
}

func TestSoakJSON(t *testing.T) {
	out, errs, code := wedge(t, "soak", "--scenario", "healthy", "--for", "2h", "--out", "-", "--json", "-q")
	var d soak.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitOK || errs != "" {
		t.Fatalf("exit code %d, %v, standard error %q", code, err, errs)
	}
	if d.Schema != soak.Schema || d.Verdict != soak.Passed || d.AtS != 7200 || d.Totals.TasksDone == 0 || d.Replay != "wedge soak healthy --for 2h --seed 1" {
		t.Errorf("%+v", d)
	}
}

func TestSoakStalls(t *testing.T) {
	out, errs, code := wedge(t, "soak", "silent-stream", "--for", "5h", "--no-report", "-q")
	if code != exitStalled || !strings.Contains(errs, "wedge: the soak: stalled") || !strings.Contains(out, "STALLED  WEDGED") || !strings.Contains(out, "silent-stream") {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
}

// TestSoakPrint: what is printed has all defaults, and is a scenario whose soak is the same.
func TestSoakPrint(t *testing.T) {
	text, _, code := wedge(t, "soak", "starvation", "--for", "24h", "--threshold", "stalls == 0", "--print")
	for _, want := range []string{"\nsoak:\n  for: 24h0m0s\n  tasks: 0\n  window: 15m0s\n  warm_up: 2h24m0s\n", "- stalls == 0\n", "on_disk_error: go_on\n", "log_files_max: 8\n"} {
		if code != exitOK || !strings.Contains(text, want) {
			t.Errorf("exit code %d, no %q in\n%s", code, want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, errs, code := wedgeHere(t, "soak", file, "--print"); code != exitOK || again != text {
		t.Errorf("printed again, exit code %d, %s\n%s", code, errs, again)
	}
}

func TestSoakBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"":                                     "soak: want a scenario, as wedge repro lists them, or a file; or --base-url of a real server; or --resume DIR",
		"starvation":                           "starvation.yaml: soak.for: found 0s and no tasks, want how long the soak is to last",
		"starvation --for -1h":                 "soak.for: found -1h0m0s, want 0s",
		"starvation --for tomorrow":            `--for: found "tomorrow", want a length of time such as 30s or 5m`,
		"starvation --scenario healthy":        `--scenario: found it and "starvation", want one of them`,
		"starvtion --for 1h":                   `did you mean "starvation"?`,
		"starvation --for 1h --threshold x<1":  `--threshold: "x<1": column 1: found "x", want a metric`,
		"starvation --for 1h --model m":        "--base-url: found --model or --metrics-url without it",
		"--base-url  --for 1h":                 "--base-url: found nothing, want a URL",
		"starvation --resume x":                "starvation: found a scenario with --resume, want none",
		"--resume x --seed 3":                  "--seed: found it with --resume",
		"--resume x":                           "--resume: x: found no soak (run.json: no such file or directory), want the directory of one",
		"starvation --for 1h --scale 2":        "--scale: found a scale of the virtual clock, want --clock wall with it",
		"starvation --for 1h --set soak.fro=1": `soak.fro: unknown field, did you mean "for"?`,
	} {
		t.Run(args, func(t *testing.T) {
			out, errs, code := wedge(t, append([]string{"soak"}, strings.Split(args, " ")...)...)
			if args == "" {
				out, errs, code = wedge(t, "soak")
			}
			if code != exitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
				t.Errorf("exit code %d, %q, standard error %q, want %q", code, out, errs, want)
			}
		})
	}
}
