package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExec: exit codes, who writes where, and what is left.
func TestExec(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr []string
	}{
		{"completed", []string{"-q", "--", "echo", "mine"}, exitOK, "mine\n", []string{"COMPLETED", "see whether the harness asks these servers at all"}},
		{"flags of its own", []string{"--", "echo", "--scale", "7"}, exitOK, "--scale 7\n", []string{"wedge: serving servers, seed 1, at http://127.0.0.1:"}},
		{"failed", []string{"--", "sh", "-c", "echo why >&2; exit 3"}, exitFailed, "", []string{"why\n", "FAILED", "wedge: the harness failed: exit status 3"}},
		{"stuck", []string{"--scale", "600", "--idle-after", "50ms", "--", "sleep", "1000"}, exitStalled, "",
			[]string{"WEDGED  layer harness", "has sent no request since it was started", "no request has been answered in full for ", "wedge: the harness is wedged"}},
		{"over", []string{"--for", "20ms", "--", "sleep", "1000"}, exitOK, "", []string{"SLOW", "The time was over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := wedge(t, append([]string{"exec"}, c.args...)...)
			if code != c.code || out != c.stdout {
				t.Errorf("exit code %d, standard output %q, want %d, %q:\n%s", code, out, c.code, c.stdout, errs)
			}
			for _, want := range c.stderr {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in standard error:\n%s", want, errs)
				}
			}
			bundles, err := filepath.Glob("wedge-out/exec-servers-*/verdict.json")
			if err != nil || len(bundles) != 1 || !json.Valid([]byte(readFile(t, bundles[0]))) {
				t.Errorf("verdicts %v, %v", bundles, err)
			}
		})
	}
}

// TestExecJSON: the document goes to a file, or to standard output in the place of what the harness has to say.
func TestExecJSON(t *testing.T) {
	var d struct {
		Schema, Outcome string
		FinalOutcome    string `json:"final_outcome"`
		Exec            struct {
			Schema string
			Child  struct {
				ExitCode int `json:"exit_code"`
			}
		}
	}
	check := func(text string) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &d); err != nil || d.Schema != "wedge.verdict/1" || d.Exec.Schema != "wedge.exec/1" || d.FinalOutcome != "failed" || d.Exec.Child.ExitCode != 1 {
			t.Errorf("%v in %s", err, text)
		}
	}
	command := []string{"--out", "-", "--", "sh", "-c", "echo mine; exit 1"}
	out, errs, code := wedge(t, append([]string{"exec", "--json", "v.json"}, command...)...)
	if code != exitFailed || out != "mine\n" {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	check(readFile(t, "v.json"))
	if left := leftBehind(t); len(left) != 1 {
		t.Errorf("left %v behind", left)
	}
	out, errs, code = wedge(t, append([]string{"exec", "--json", "-"}, command...)...)
	if code != exitFailed || !strings.HasPrefix(errs[strings.Index(errs, "\n")+1:], "mine\n") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	check(out)
}

// TestExecInterrupt: who interrupts wedge gets the verdict so far.
func TestExecInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, []string{"exec", "-q", "--out", "-", "--", "sh", "-c", "echo ready; exec sleep 1000"}, in, &errs)
		_ = in.Close()
		ended <- code
	}()
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if code := <-ended; code != exitInterrupted || !strings.Contains(errs.String(), "The run was interrupted") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}

func TestExecBadInput(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "exec: found no command, want one after --"},
		{[]string{"--"}, "exec: found no command"},
		{[]string{"--", "no-such-command-anywhere"}, "command no-such-command-anywhere: no such command in PATH"},
		{[]string{"--", plain}, "command " + plain + ": not executable"},
		{[]string{"--scenario", "moon", "--", "true"}, `--scenario: unknown scenario "moon"`},
		{[]string{"--preset", "moon", "--", "true"}, `--preset: preset "moon", want one of`},
		{[]string{"--scale", "0", "--", "true"}, "--scale: found 0"},
		{[]string{"--stall-after", "0s", "--", "true"}, "--stall-after: found 0s"},
		{[]string{"--idle-after", "0s", "--", "true"}, "--idle-after: found 0s"},
		{[]string{"--give-up", "0", "--", "true"}, "--give-up: found 0"},
		{[]string{"--for", "-1s", "--", "true"}, "--for: found -1s"},
		{[]string{"--pprof", "6060", "--", "true"}, `--pprof: found "6060", want a URL such as`},
		{[]string{"--dir", plain, "--", "true"}, "--dir: found"},
		{[]string{"--url-env", "A=B", "--", "true"}, "--url-env: found"},
		{[]string{"--url-env", "A B", "--", "true"}, "--url-env: found"},
		{[]string{"--json", dir, "--", "true"}, "--json: "},
	} {
		out, errs, code := wedge(t, append([]string{"exec"}, c.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q, want %s", c.args, code, out, errs, c.want)
		}
		if left := leftBehind(t); len(left) > 0 {
			t.Errorf("%v left %v behind", c.args, left)
		}
	}
}
