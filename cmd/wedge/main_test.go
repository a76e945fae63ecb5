package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// wedge runs a command line in a fresh working directory.
func wedge(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Chdir(t.TempDir())
	return wedgeHere(t, args...)
}

// wedgeHere runs a command line in the current directory.
func wedgeHere(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return out.String(), progressLines.ReplaceAllString(errs.String(), ""), code
}

// progressLines are lines of progress, as commands show them that take long: on a busy machine any does.
var progressLines = regexp.MustCompile(`(?m)^((row \d+/\d+  )?t=\d.*|not begun|\w+: (starting|\d+ of \d+ runs, .*))\n`)

// golden compares text with a file under testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -run %s -update rewrites it):\n%s", file, t.Name(), got)
	}
}

// here returns a path of this package that stays valid when the working directory changes.
func here(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReproPrintsTheVerdict(t *testing.T) {
	for _, name := range []string{"starvation", "silent-stream", "nested-slot", "healthy", "idle"} {
		t.Run(name, func(t *testing.T) {
			file := here(t, "testdata/"+name+".txt")
			args, leaves := []string{"repro", name, "--out", "-"}, []string(nil)
			if name == "starvation" { // as in the README
				args, leaves = args[:2], []string{"wedge-out"}
			}
			out, errs, code := wedge(t, args...)
			if code != exitOK || errs != "" {
				t.Errorf("exit code %d, standard error %q", code, errs)
			}
			if strings.Contains(out, "\x1b") {
				t.Error("escape sequences in output that is no terminal")
			}
			golden(t, file, out)
			if left := leftBehind(t); !slices.Equal(left, leaves) {
				t.Errorf("%v left %v behind, want %v", args, left, leaves)
			}
		})
	}
}

func TestCatalogueAndHelp(t *testing.T) {
	for file, args := range map[string][]string{
		"catalogue.txt":  {"repro"},
		"help.txt":       {"--help"},
		"help-repro.txt": {"repro", "--help"},
		"help-run.txt":   {"run", "--help"},
		"print.txt":      {"repro", "starvation", "--print"},
	} {
		file = here(t, "testdata/"+file)
		out, errs, code := wedgeHere(t, args...)
		if code != exitOK || errs != "" {
			t.Errorf("%v: exit code %d, standard error %q", args, code, errs)
		}
		golden(t, file, out)
	}
}

// TestPrintIsAScenario feeds what --print writes to run: the same run comes out.
func TestPrintIsAScenario(t *testing.T) {
	out, _, _ := wedge(t, "repro", "silent-stream", "--print", "--seed", "7")
	if err := os.WriteFile("s.yaml", []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _, codeA := wedgeHere(t, "repro", "silent-stream", "--seed", "7", "--json", "--out", "-")
	b, errs, codeB := wedgeHere(t, "run", "s.yaml", "--json", "--out", "-")
	if codeA != exitOK || codeB != exitStalled {
		t.Errorf("exit codes %d and %d (%s), want %d and %d", codeA, codeB, errs, exitOK, exitStalled)
	}
	if x, y := withoutReplay(t, a), withoutReplay(t, b); x != y {
		t.Errorf("the printed scenario runs differently:\n%s\n%s", x, y)
	}
}

func withoutReplay(t *testing.T, document string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	delete(v, "replay")
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReproOfAFile compares a file of the user's own with what it expects.
func TestReproOfAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for expect, want := range map[string]int{"{final_outcome: completed}": exitOK, "{final_outcome: wedged}": exitMismatch, "{}": exitOK} {
		text := "fleet: {agents: 2}\nworkflow: {rounds: 1}\nexpect: " + expect + "\n"
		if err := os.WriteFile("mine.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := wedgeHere(t, "repro", "mine.yaml", "--out", "-"); code != want || !strings.HasPrefix(out, "mine  seed 1") || !strings.Contains(out, "replay    wedge repro mine.yaml --seed 1") {
			t.Errorf("expect %s: exit code %d, want %d: %s%s", expect, code, want, out, errs)
		}
	}
}

func TestIdleLimitCuresSilentStreams(t *testing.T) {
	out, errs, code := wedge(t, "repro", "silent-stream", "--set", "policy.idle=60s", "--json", "--out", "-")
	var v struct {
		FinalOutcome string `json:"final_outcome"`
		Agents       struct{ Total, Done int }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if code != exitMismatch || v.FinalOutcome != "completed" {
		t.Errorf("exit code %d, final outcome %q (%s)", code, v.FinalOutcome, errs)
	}
}

// leftBehind lists what is in the working directory.
func leftBehind(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestBadInput(t *testing.T) {
	files := map[string]string{
		"key.yaml":      "name: x\npolicy:\n  idel: 60s\n",
		"negative.yaml": "fleet:\n  agents: -3\n",
		"absurd.yaml":   "workflow:\n  rounds: 999999999\n",
		"unit.yaml":     "policy: {idle: 60}\n",
		"fault.yaml":    "faults:\n  - {id: a, where: stream, what: explode}\n",
		"twice.yaml":    "faults:\n  - {id: a, where: tool, what: hang}\n  - {id: a, where: tool, what: hang}\n",
		"dist.yaml":     "workflow:\n  output_tokens: {uniform: [500, 100]}\n",
		"works.yaml":    "expect:\n  mechanisms: [starvation, slotleak]\n",
		"expect.yaml":   "expect:\n  outcome: stuck\n",
		"cause.yaml":    "expect: {cause: starvaton}\n",
		"trace.yaml":    "fleet: {agents: 1}\nworkflow:\n  trace: trace.csv\n",
		"trace.csv":     "session_id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n0,0,0,many,10,5\n",
		"torn.yaml":     "fleet: {agents: 3\n",
		"good.yaml":     "name: good\n",
		"empty.yaml":    "# nothing\n",
		"mail.yaml":     "workflow: {sub_agents: {per_round: 2}}\nfaults:\n  - {id: a, where: harness, what: lose_wakeup}\n",
		"unread.yaml":   "faults:\n  - {id: a, where: tool, what: unread}\n",
		"order.yaml":    "faults:\n  - {id: a, where: tool, what: lock_order}\n",
		"unused.yaml":   "faults:\n  - {id: a, where: stream, what: silence, status: 503}\n",
		"octal.yaml":    "fleet: {agents: 010}\n",
		"tool.yaml":     "faults:\n  - {id: a, where: tool, what: hang, tool: delete}\n",
		"taken":         "a file of somebody's\n",
	}
	for _, c := range []struct {
		args string
		want string // start of the one line
	}{
		{"repro starvaton", `wedge: repro: unknown scenario "starvaton", did you mean "starvation"?`},
		{"repro xyzzy", `wedge: repro: unknown scenario "xyzzy", want one of starvation, silent-stream,`},
		{"run key.yaml", `wedge: key.yaml:3:3: policy.idel: unknown field, did you mean "idle"?`},
		{"run negative.yaml", `wedge: negative.yaml:2:11: fleet.agents: found -3, want 0 to`},
		{"run absurd.yaml", `wedge: absurd.yaml:2:11: workflow.rounds: `},
		{"run unit.yaml", `wedge: unit.yaml:1:16: policy.idle: found "60", want a duration with its unit, such as 60s`},
		{"run fault.yaml", `wedge: fault.yaml:2:34: faults[0].what: "explode" at stream, want one of`},
		{"run twice.yaml", `wedge: twice.yaml:3:10: faults[1].id: found "a" twice`},
		{"run dist.yaml", `wedge: dist.yaml:2:34: workflow.output_tokens.uniform[1]: found 100, want at least min (500)`},
		{"run works.yaml", `wedge: works.yaml:2:28: expect.mechanisms[1]: found "slotleak", want one of`},
		{"run expect.yaml", `wedge: expect.yaml:2:12: expect.outcome: found "stuck", want one of`},
		{"run cause.yaml", `wedge: cause.yaml:1:17: expect.cause: found "starvaton", want one of`},
		{"run trace.yaml", `wedge: workflow.trace: trace.csv:2: input_len: found many, want a whole number`},
		{"run torn.yaml", `wedge: torn.yaml:1:8: `},
		{"repro missing.yaml", `wedge: missing.yaml: no such file or directory`},
		{"run empty.yaml", `wedge: empty.yaml: found nothing in it, want a scenario`},
		{"run octal.yaml", `wedge: octal.yaml:1:17: fleet.agents: found "010", want a whole number in plain digits`},
		{"run tool.yaml", `wedge: tool.yaml:2:44: faults[0].tool: found "delete", want one of the workflow's: read_message,`},
		{"repro starvation --set policy.idle=", `wedge: --set policy.idle=: want path=value`},
		{"run --base-url= --model m", `wedge: --base-url: found nothing, want a URL`},
		{"run missing.yaml", `wedge: missing.yaml: no such file or directory`},
		{"run", `wedge: run: want a scenario file, or --base-url of a real server`},
		{"run key.yaml extra", `wedge: extra: found it after "key.yaml", want one scenario file`},
		{"repro starvation --clock wall --scale 0", `wedge: --scale: found 0, want a number from`},
		{"repro starvation --clock wall --scale -1", `wedge: --scale: found -1, want a number from`},
		{"repro starvation --clock wall --scale NaN", `wedge: --scale: found NaN, want a number from`},
		{"repro starvation --clock wall --scale 5000", `wedge: --scale: found 5000, want a number from 0.001 to 1000`},
		{"run mail.yaml", `wedge: mail.yaml:3:20: faults[0].where: found harness, want workflow.sub_agents.per_round at least 1 and workflow.sub_agents.results mailbox`},
		{"run unread.yaml", `wedge: unread.yaml:2:32: faults[0].what: found "unread" while workflow.tool_output_bytes is 0`},
		{"run order.yaml", `wedge: order.yaml:2:32: faults[0].what: found "lock_order" while workflow.locks is false`},
		{"run unused.yaml", `wedge: unused.yaml:2:51: faults[0].status: set, but silence at stream has no use for it`},
		{"repro starvation --scale 60", `wedge: --scale: found a scale of the virtual clock`},
		{"repro starvation --clock atomic", `wedge: --clock: found "atomic", want virtual or wall`},
		{"repro starvation --seed -1", `wedge: --seed: found "-1", want a whole number of 0 or more`},
		{"repro starvation --scale x", `wedge: --scale: found "x", want a number`},
		{"repro starvation silent-stream", `wedge: silent-stream: found it after "starvation", want one scenario`},
		{"run starvation", `wedge: starvation: found no such file, but a scenario of the catalogue, which wedge repro starvation runs`},
		{"repro --nonsense", `wedge: unknown flag: --nonsense (see "wedge repro --help")`},
		{"repro starvation --set policy.idle", `wedge: --set policy.idle: want path=value`},
		{"repro starvation --set =5", `wedge: --set =5: want path=value`},
		{"repro starvation --set policy.idle=-5s", `wedge: --set policy.idle=-5s: policy.idle: found -5s, want a duration of 0s or more`},
		{"repro starvation --set polcy.idle=5s", `wedge: --set polcy.idle=5s: polcy: unknown field, did you mean "policy"?`},
		{"repro starvation --set pacer.slots=-1", `wedge: --set pacer.slots=-1: pacer.slots: -1, want`},
		{"repro starvation --set pacer.slots=1e99", `wedge: --set pacer.slots=1e99: pacer.slots: found "1e99", want a whole number`},
		{"repro starvation --set horizon=0s", `wedge: --set horizon=0s: horizon: found 0s, want more than 0s`},
		{"repro silent-stream --set faults.silnce.probability=1", `wedge: --set faults.silnce.probability=1: found fault "silnce", did you mean "silence"?`},
		{"repro silent-stream --set faults.silence.probability=2", `wedge: --set faults.silence.probability=2: faults[0].probability: 2, want a number from 0 to 1`},
		{"repro starvation --out taken", `wedge: --out: `},
		{"repro starvation --out taken/below", `wedge: --out: `},
		{"repro starvation --nonsense", `wedge: unknown flag: --nonsense`},
		{"repro starvation -q -v", `wedge: --quiet: found it together with --verbose`},
		{"repro --json", `wedge: repro: found flags without a scenario`},
		{"frobnicate", `wedge: unknown command "frobnicate"`},
		{"run --base-url ftp://x --model m", `wedge: --base-url: `},
		{"run --base-url http://user:pass@127.0.0.1:1/v1", `wedge: --base-url: `},
		{"run --base-url http://127.0.0.1:1/v1 --metrics-url nonsense", `wedge: --metrics-url: `},
		{"run good.yaml --model m", `wedge: --base-url: found --model or --metrics-url without it`},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range files {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := leftBehind(t)
			out, errs, code := wedgeHere(t, strings.Fields(c.args)...)
			if code != exitUsage || out != "" {
				t.Errorf("exit code %d, standard output %q, want %d and none", code, out, exitUsage)
			}
			if !strings.HasPrefix(errs, c.want) || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "user:pass") {
				t.Errorf("standard error:\n%swant one line:\n%s…", errs, c.want)
			}
			if after := leftBehind(t); !slices.Equal(before, after) {
				t.Errorf("the directory had %v and has %v", before, after)
			}
		})
	}
}

func TestServerThatDoesNotAnswer(t *testing.T) {
	_, errs, code := wedge(t, "run", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
	if code != exitFailed || !strings.HasPrefix(errs, "wedge: tried GET http://127.0.0.1:1/v1/models") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d, standard error %q", code, errs)
	}
	if left := leftBehind(t); len(left) > 0 {
		t.Errorf("left %v behind", left)
	}
}
