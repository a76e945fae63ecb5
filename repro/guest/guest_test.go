//go:build unix

package guest_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/guest"
)

// scenario returns one of the catalogue with settings, or plain servers if name is empty.
func scenario(t *testing.T, name string, set ...string) *repro.Scenario {
	t.Helper()
	s := repro.Default()
	s.Name = "servers"
	if name != "" {
		var err error
		if s, err = repro.Lookup(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range set {
		path, value, _ := strings.Cut(text, "=")
		if err := s.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// build makes a program of testdata and returns its path.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// output collects what a program writes; its methods may be called by several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// played is what came of a run in a test.
type played struct {
	*guest.Result
	out, errs *output
}

// play runs a command, and checks that nothing of it is left.
func play(t *testing.T, s *repro.Scenario, o guest.Options) *played {
	t.Helper()
	p := &played{out: &output{}, errs: &output{}}
	o.Env, o.Stdout, o.Stderr = os.Environ(), p.out, p.errs
	var err error
	if p.Result, err = guest.Run(t.Context(), s, o); err != nil {
		t.Fatalf("seed %d: %v", s.Seed, err)
	}
	return p
}

// TestHarness runs a harness that is written against the official client, and knows nothing of wedge,
// through three hangs and a run without any.
func TestHarness(t *testing.T) {
	bin := build(t, "./testdata/harness")
	for _, c := range []struct {
		name, scenario string
		set            []string
		args           []string
		options        guest.Options
		outcome        diagnose.Outcome
		cause          diagnose.Cause
		final          diagnose.Outcome
		stalled        bool
	}{
		{"healthy", "healthy", nil, nil, guest.Options{Scale: 60}, diagnose.Completed, diagnose.CauseNone, diagnose.Completed, false},
		{"silent-stream", "silent-stream", []string{"faults.silence.from=0s"}, []string{"-rounds", "1"}, guest.Options{Scale: 120, Quit: true},
			diagnose.Wedged, diagnose.CauseSilentStream, diagnose.Wedged, true},
		{"router-queue", "router-queue", nil, []string{"-limit", "30", "-rounds", "1", "-tries", "2"}, guest.Options{Scale: 25},
			diagnose.Storming, diagnose.CauseRouterQueue, diagnose.Storming, true},
		// Answers take longer than the harness waits for them, and the servers do not notice that it has left.
		{"timeout-cascade", "timeout-cascade", nil, []string{"-rounds", "1", "-timeout", "500ms", "-tries", "100"}, guest.Options{Scale: 120, GiveUp: 2},
			diagnose.Storming, diagnose.CauseTimeoutCascade, diagnose.Storming, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := scenario(t, c.scenario, c.set...)
			c.options.Command, c.options.Out = append([]string{bin}, c.args...), filepath.Join(t.TempDir(), "bundle")
			p := play(t, s, c.options)
			v := &p.Verdict
			if v.Outcome != c.outcome || v.Cause != c.cause || v.FinalOutcome != c.final || p.Stalled != c.stalled {
				t.Errorf("seed %d: %s, cause %s, finally %s, stalled %t, want %s, %s, %s, %t:\n%s\n%s",
					s.Seed, v.Outcome, v.Cause, v.FinalOutcome, p.Stalled, c.outcome, c.cause, c.final, c.stalled, v.Summary, p.errs)
			}
			if c.options.Quit && (p.Dump == nil || p.Dump.Goroutines < 30 || strings.Contains(p.errs.String(), "goroutine ")) {
				t.Errorf("seed %d: dump %+v, standard error %q", s.Seed, p.Dump, p.errs)
			}
			for _, name := range []string{"run.json", "verdict.json", "samples.jsonl", "router.log", "events.jsonl", "requests.jsonl", "end/calls.json"} {
				if info, err := os.Stat(filepath.Join(c.options.Out, name)); err != nil || info.Size() == 0 {
					t.Errorf("%s: %v, or empty", name, err)
				}
			}
			if text, err := os.ReadFile(filepath.Join(c.options.Out, guest.RequestsLog)); err != nil || bytes.Count(text, []byte("\n")) != p.Seen.Requests {
				t.Errorf("seed %d: %v, %d lines for %d requests", s.Seed, err, bytes.Count(text, []byte("\n")), p.Seen.Requests)
			}
		})
	}
}

// TestOddHarnesses are programs that do not behave.
func TestOddHarnesses(t *testing.T) {
	for _, c := range []struct {
		name    string
		script  string
		outcome diagnose.Outcome
		final   diagnose.Outcome
		stalled bool
		code    int
		out     string // what standard output ends with
	}{
		{"exits at once", "echo done", diagnose.Completed, diagnose.Completed, false, 0, "done\n"},
		{"fails at once", "echo no >&2; exit 7", diagnose.Failed, diagnose.Failed, false, 7, ""},
		{"never sends a request", "exec sleep 1000", diagnose.Wedged, diagnose.Wedged, true, -1, ""},
		{"ignores SIGTERM", "trap '' TERM; while :; do sleep 1000; done", diagnose.Wedged, diagnose.Wedged, true, -1, ""},
		{"leaves a child that holds its standard error", "sleep 1000 & echo left", diagnose.Completed, diagnose.Completed, false, 0, "left\n"},
		{"leaves a child in a group of its own", "setsid sh -c 'echo $$ > PID; exec sleep 1000' & while ! [ -s PID ]; do sleep 0.01; done; echo left", diagnose.Completed, diagnose.Completed, false, 0, "left\n"},
		{"writes a lot", "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end", diagnose.Completed, diagnose.Completed, false, 0, "x\nend\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := scenario(t, "")
			o := guest.Options{Scale: 600, Grace: 100 * time.Millisecond, IdleAfter: time.Hour}
			if c.stalled {
				o.IdleAfter = 100 * time.Millisecond
			}
			pid := filepath.Join(t.TempDir(), "pid")
			if !strings.Contains(c.script, "PID") {
				c.script = "echo $$ > PID; " + c.script
			} else if _, err := os.Stat("/proc/self/environ"); err != nil {
				t.Skip("nothing tells here what a program has started")
			}
			o.Command = []string{"sh", "-c", strings.ReplaceAll(c.script, "PID", pid)}
			p := play(t, s, o)
			v := &p.Verdict
			if v.Outcome != c.outcome || v.FinalOutcome != c.final || p.Stalled != c.stalled || p.Child.ExitCode != c.code {
				t.Errorf("seed %d: %s, finally %s, stalled %t, %+v, want %s, %s, %t, code %d:\n%s",
					s.Seed, v.Outcome, v.FinalOutcome, p.Stalled, p.Child, c.outcome, c.final, c.stalled, c.code, v.Summary)
			}
			if !strings.HasSuffix(p.out.String(), c.out) {
				t.Errorf("standard output of %d bytes does not end with %q", len(p.out.String()), c.out)
			}
			nothingLeft(t, pid)
		})
	}
}

// nothingLeft checks that the process group is gone whose leader has written down its number.
func nothingLeft(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// The group's number is free once the last one of it has been asked for, which is the business of the
	// machine's first process.
	for deadline := time.Now().Add(time.Minute); !errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process group %d is still there", pid)
		}
	}
}

// TestDumps: of a Go harness that asks for nothing a dump tells what it waits for, had by either means.
func TestDumps(t *testing.T) {
	bin := build(t, "./testdata/stuck")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]guest.Options{
		"pprof":   {Command: []string{bin, address}, PprofURL: "http://" + address},
		"SIGQUIT": {Command: []string{bin}, Quit: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario(t, "")
			o.Scale, o.IdleAfter, o.Out = 600, 50*time.Millisecond, filepath.Join(t.TempDir(), "bundle")
			p := play(t, s, o)
			v, d := &p.Verdict, p.Dump
			if !p.Stalled || v.Outcome != diagnose.Deadlocked || v.Layer != diagnose.LayerHarness || v.Cause != diagnose.CauseLockOrder || d == nil || d.Err != "" || d.Goroutines < 4 {
				t.Fatalf("seed %d: stalled %t, %s, layer %s, dump %+v", s.Seed, p.Stalled, v.Outcome, v.Layer, d)
			}
			text, err := os.ReadFile(filepath.Join(o.Out, d.File))
			if err != nil || !bytes.Contains(text, []byte("main.(*desk).save")) || strings.Contains(p.errs.String(), "main.(*desk).save") {
				t.Errorf("seed %d: %v in\n%s", s.Seed, err, text)
			}
			if !strings.Contains(strings.Join(d.Findings, " "), "lock") {
				t.Errorf("seed %d: no lock in %q", s.Seed, d.Findings)
			}
		})
	}
}

// TestInterrupt: who interrupts wedge interrupts the harness.
func TestInterrupt(t *testing.T) {
	s := scenario(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	out := &output{}
	pid := filepath.Join(t.TempDir(), "pid")
	started := make(chan struct{})
	go func() {
		<-started
		for t.Context().Err() == nil && out.String() == "" {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	r, err := guest.Run(ctx, s, guest.Options{
		Command: []string{"sh", "-c", "echo $$ > " + pid + "; trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.01; done"},
		Env:     os.Environ(), Stdout: out, Started: func(guest.Servers) { close(started) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted() || r.Child.ExitCode != 9 || out.String() != "ready\ninterrupted\n" {
		t.Errorf("seed %d: %s, %+v, %q", s.Seed, r.Ended, r.Child, out)
	}
	nothingLeft(t, pid)
}

// TestFor: a run that is bounded ends, and a harness that gets on has not stalled.
func TestFor(t *testing.T) {
	s := scenario(t, "")
	p := play(t, s, guest.Options{Command: []string{"sleep", "1000"}, For: 50 * time.Millisecond})
	if p.Stalled || p.Ended != diagnose.EndedAtHorizon || p.Verdict.FinalOutcome != diagnose.Slow {
		t.Errorf("seed %d: %s, %+v", s.Seed, p.Ended, p.Verdict.FinalOutcome)
	}
}

// TestDir: a harness runs where it is told to, and is found from there.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\npwd\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := scenario(t, "")
	p := play(t, s, guest.Options{Command: []string{"./here"}, Dir: dir})
	if got := strings.TrimSpace(p.out.String()); filepath.Base(filepath.Dir(got)) != filepath.Base(filepath.Dir(dir)) || p.Child.ExitCode != 0 {
		t.Errorf("seed %d: ran in %q, want %q: %+v", s.Seed, got, dir, p.Child)
	}
}

// TestEnvironment: what the harness is told, and what it is not.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-mine-and-nobody-elses")
	t.Setenv("WEDGE_API_KEY", "sk-mine-too")
	t.Setenv("WEDGE_SERVE_TOKEN", "mine-as-well")
	t.Setenv("NO_PROXY", "intra.net")
	s := scenario(t, "")
	p := play(t, s, guest.Options{
		Command: []string{"sh", "-c", `echo "$OPENAI_BASE_URL $OPENAI_API_BASE $MINE $OPENAI_API_KEY $NO_PROXY $WEDGE_MODEL $WEDGE_SCALE $WEDGE_API_KEY $WEDGE_SERVE_TOKEN"`},
		URLVars: []string{"MINE"}, Scale: 2,
	})
	got := strings.Fields(p.out.String())
	if len(got) != 7 || !strings.HasPrefix(got[0], "http://127.0.0.1:") || !strings.HasSuffix(got[0], "/v1") || got[1] != got[0] || got[2] != got[0] ||
		got[3] != guest.Key || got[4] != "intra.net,127.0.0.1,localhost" || got[5] != "simulated" || got[6] != "2" {
		t.Errorf("seed %d: %q", s.Seed, got)
	}
}

// TestElsewhere: a harness that asks for what is not served is told so, and so is the user. The harness is
// this test itself, in another process.
func TestElsewhere(t *testing.T) {
	const harness = "WEDGE_TEST_ELSEWHERE"
	if os.Getenv(harness) != "" {
		resp, err := http.Post(os.Getenv("OPENAI_BASE_URL")+"/responses", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return
	}
	t.Setenv(harness, "1")
	s := scenario(t, "")
	p := play(t, s, guest.Options{Command: []string{os.Args[0], "-test.run=^TestElsewhere$"}})
	if e := p.Seen.Elsewhere; len(e) != 1 || e[0].Path != "/v1/responses" || e[0].Status != 404 || e[0].Count != 1 {
		t.Errorf("seed %d: %+v", s.Seed, e)
	}
}

func TestBadInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script") // that is found and executable, and yet cannot be run
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "bundle")
	for _, c := range []struct {
		o    guest.Options
		want string
	}{
		{guest.Options{}, "command: found nothing"},
		{guest.Options{Command: []string{"no-such-command-anywhere"}}, "command no-such-command-anywhere: no such command in PATH"},
		{guest.Options{Command: []string{"./no-such-file"}}, "command ./no-such-file: no such file"},
		{guest.Options{Command: []string{file}}, "command " + file + ": not executable"},
		{guest.Options{Command: []string{script}, Out: out}, "its interpreter is missing"},
		{guest.Options{Command: []string{"./file"}, Dir: filepath.Dir(file)}, "command ./file: not executable"},
		{guest.Options{Command: []string{"true"}, PprofURL: "here"}, "--pprof: found"},
		{guest.Options{Command: []string{"true"}, StallAfter: -1}, "--stall-after: found"},
		{guest.Options{Command: []string{"true"}, GiveUp: -1}, "--give-up: found -1"},
		{guest.Options{Command: []string{"true"}, Dir: file}, "--dir: found"},
	} {
		_, err := guest.Run(t.Context(), scenario(t, ""), c.o)
		var input *repro.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a harness that did not run has left %s behind: %v", out, err)
	}
}
