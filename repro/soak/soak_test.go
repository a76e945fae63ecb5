package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// scenario returns one of the catalogue, with settings such as soak.for=24h.
func scenario(t testing.TB, name string, sets ...string) *repro.Scenario {
	t.Helper()
	s, err := repro.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Seed = 3
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		if err := s.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// faults are two random ones, which make calls fail and stall.
const faults = `soak.random_faults=[{fault: {id: quiet, where: stream, what: silence, after_tokens: 50, probability: 0.3}, every: 2h, lasts: 10m}, ` +
	`{fault: {where: router, what: status, status: 503}, every: 3h, lasts: 2m}]`

func run(t testing.TB, s *repro.Scenario, o repro.Options) *soak.Result {
	t.Helper()
	r, err := soak.Run(context.Background(), s, soak.Options{Run: o})
	if err != nil {
		t.Fatalf("seed %d: %v", s.Seed, err)
	}
	return r
}

// TestDay is the soak of the issue: a day takes seconds, in memory that does not grow.
func TestDay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := scenario(t, "starvation", "soak.for=24h", "soak.thresholds=['p95(call) < 2h', 'goodput > 0.9', 'tasks > 100']")
	dir := filepath.Join(t.TempDir(), "b")
	r := run(t, s, repro.Options{Out: dir, Dumps: true})
	d := &r.Document
	if d.Verdict != soak.Passed || d.Ended != "for" || d.AtS != 86400 || d.Outcome != diagnose.Completed || r.WriteErr != nil {
		t.Errorf("seed %d: %s, ended by %q at %v s, %s, %v", s.Seed, d.Verdict, d.Ended, d.AtS, d.Outcome, r.WriteErr)
	}
	if len(r.Windows) != 96 || d.Totals.Windows != 96 || r.Windows[95].ToS != 86400 || d.Totals.TasksDone < 100 {
		t.Errorf("seed %d: %d windows, %+v", s.Seed, len(r.Windows), d.Totals)
	}
	tenth, end := heapAt(t, r.Process, 8640), heapAt(t, r.Process, 86400)
	if math.Abs(end-tenth) > tenth/10 {
		t.Errorf("the heap at a tenth is %.2f MiB and at the end %.2f MiB, want them within 10 %%", tenth/(1<<20), end/(1<<20))
	}
	for _, f := range d.Leaks {
		if f.Verdict == series.VerdictLeaking {
			t.Errorf("%s leaks: %s", f.Name, f.Why)
		}
	}
	whole(t, dir)
}

func heapAt(t *testing.T, readings []series.Process, at float64) float64 {
	t.Helper()
	for i := range readings {
		if readings[i].AtS >= at {
			return float64(readings[i].HeapLiveBytes)
		}
	}
	t.Fatalf("no reading at %v s", at)
	return 0
}

// whole says whether everything in a bundle can be read: JSON and whole lines of JSON.
func whole(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case ext == ".json":
			if !json.Valid(text) {
				t.Errorf("%s is no JSON: %.200s", path, text)
			}
		case ext == ".jsonl":
			for n, line := range bytes.SplitAfter(text, []byte("\n")) {
				if len(line) > 0 && (!json.Valid(line) || !bytes.HasSuffix(line, []byte("\n"))) {
					t.Errorf("%s:%d is no whole line of JSON: %.200s", path, n+1, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// exact returns soak.json without what is about the process, the directory and the number of resumptions.
func exact(t testing.TB, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, soak.DocumentFile))
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%s: %v", soak.DocumentFile, err)
	}
	for _, field := range []string{"process", "leaks", "files", "resumed", "next"} {
		delete(d, field)
	}
	text, err = json.MarshalIndent(d, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// same says whether two soaks in virtual time left the same.
func same(t testing.TB, a, b string) {
	t.Helper()
	if x, y := exact(t, a), exact(t, b); x != y {
		t.Errorf("soak.json differs: %s\nand %s", x, y)
	}
	for _, log := range []string{soak.WindowsLog, bundle.EventsLog, bundle.SamplesLog, bundle.RouterLogFile} {
		files, err := bundle.Logs(os.DirFS(a), log)
		other, err2 := bundle.Logs(os.DirFS(b), log)
		if err != nil || err2 != nil || len(files) == 0 || strings.Join(files, " ") != strings.Join(other, " ") {
			t.Errorf("%s: %v %v and %v %v", log, files, err, other, err2)
			continue
		}
		for _, file := range files {
			x, _ := os.ReadFile(filepath.Join(a, file))
			y, _ := os.ReadFile(filepath.Join(b, file))
			if !bytes.Equal(x, y) {
				t.Errorf("%s differs", file)
			}
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	lasts := "soak.for=20h"
	if testing.Short() {
		lasts = "soak.for=5h"
	}
	top := t.TempDir()
	a, b := filepath.Join(top, "a"), filepath.Join(top, "b")
	for _, dir := range []string{a, b} {
		run(t, scenario(t, "starvation", lasts, faults, "policy.idle=2m"), repro.Options{Out: dir})
	}
	same(t, a, b)
	other := scenario(t, "starvation", lasts, faults, "policy.idle=2m")
	other.Seed++
	c := filepath.Join(top, "c")
	run(t, other, repro.Options{Out: c})
	if exact(t, a) == exact(t, c) {
		t.Error("another seed gives the same")
	}
}

// TestInterrupted: a soak that is cut off says so, leaves everything readable, and goes on as if it had not been.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	top := t.TempDir()
	whole1, cut := filepath.Join(top, "whole"), filepath.Join(top, "cut")
	sets := []string{"soak.for=24h", faults, "policy.idle=2m", "soak.log_bytes_max=1048576", "soak.log_files_max=4"}
	run(t, scenario(t, "starvation", sets...), repro.Options{Out: whole1})

	ctx, cancel := context.WithCancel(context.Background())
	r, err := soak.Run(ctx, scenario(t, "starvation", sets...), soak.Options{Run: repro.Options{Out: cut, JournalTee: after(20_000, cancel)}})
	if err != nil {
		t.Fatal(err)
	}
	if d := &r.Document; d.Verdict != soak.Interrupted || d.Ended != "interrupted" || len(d.Next) == 0 || !strings.Contains(d.Next[0], "--resume") {
		t.Fatalf("%s, ended by %s, next %q: %s", d.Verdict, d.Ended, d.Next, d.Summary)
	}
	whole(t, cut)
	r, err = soak.Resume(context.Background(), cut, soak.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := &r.Document; d.Verdict != soak.Passed || d.Resumed != 1 || r.WriteErr != nil {
		t.Errorf("resumed: %s, %d times, %v", d.Verdict, d.Resumed, r.WriteErr)
	}
	same(t, whole1, cut)
	if _, err := soak.Resume(context.Background(), cut, soak.Options{}); err == nil || !strings.Contains(err.Error(), "found a soak that has ended (passed)") {
		t.Errorf("resumed once more: %v", err)
	}
}

// after calls f when so many lines have been written.
func after(lines int, f func()) *counter { return &counter{left: lines, f: f} }

type counter struct {
	left int
	f    func()
}

func (c *counter) Write(p []byte) (int, error) {
	if c.left--; c.left == 0 {
		c.f()
	}
	return len(p), nil
}

func TestThresholds(t *testing.T) {
	r := run(t, scenario(t, "healthy", "soak.for=4h", "soak.thresholds=['stalls == 0', 'p50(call) < 1s']"), repro.Options{})
	d := &r.Document
	if d.Verdict != soak.Missed || len(d.Thresholds) != 2 || !d.Thresholds[0].OK || d.Thresholds[1].OK || !strings.Contains(d.Summary, "p50(call) < 1s (it was ") {
		t.Errorf("%s: %+v\n%s", d.Verdict, d.Thresholds, d.Summary)
	}
	s := scenario(t, "healthy", "soak.for=4h")
	s.Soak.Thresholds = []string{"p95(cal) < 1s"}
	if _, err := soak.Run(context.Background(), s, soak.Options{}); !errors.As(err, new(*repro.InputError)) {
		t.Errorf("a bad expression: %v", err)
	}
}

func TestTasks(t *testing.T) {
	r := run(t, scenario(t, "healthy", "soak.tasks=50", "soak.window=1m"), repro.Options{})
	if d := &r.Document; d.Verdict != soak.Passed || d.Ended != "tasks" || d.Totals.TasksDone != 50 || d.AtS >= d.ForS {
		t.Errorf("%s, ended by %s at %v s of %v: %+v", d.Verdict, d.Ended, d.AtS, d.ForS, d.Totals)
	}
}

// TestTooManyTasks: a soak that was to go on until so many tasks had ended has not done it at the scenario's horizon.
func TestTooManyTasks(t *testing.T) {
	r := run(t, scenario(t, "healthy", "soak.tasks=1000000", "soak.window=1m", "horizon=20m"), repro.Options{})
	d := &r.Document
	if d.Verdict != soak.Missed || d.Ended != "horizon" || !strings.Contains(d.Summary, "It went on for 20 min, the horizon of its scenario, and ") || !strings.Contains(d.Summary, "of 1,000,000 tasks had ended") {
		t.Errorf("%s, ended by %s: %s", d.Verdict, d.Ended, d.Summary)
	}
}

// TestStall: a fleet that hangs for good is told to have stalled, whether that ends the soak or not.
func TestStall(t *testing.T) {
	for _, c := range []struct{ reaction, ended string }{{"stop", "stall"}, {"go_on", "for"}} {
		r := run(t, scenario(t, "silent-stream", "soak.for=10h", "soak.on_stall="+c.reaction), repro.Options{})
		d := &r.Document
		if d.Verdict != soak.Stalled || d.Ended != c.ended || d.Outcome != diagnose.Wedged || !d.Stalls.Open || len(d.Stalls.ByCause) == 0 || d.Stalls.ByCause[0].Cause != diagnose.CauseSilentStream {
			t.Errorf("on_stall %s: %s, ended by %s, %s: %+v", c.reaction, d.Verdict, d.Ended, d.Outcome, d.Stalls)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	top := t.TempDir()
	plain := filepath.Join(top, "plain")
	if _, err := repro.Run(context.Background(), scenario(t, "healthy"), repro.Options{Out: plain}); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(top, "none"): "found no soak (run.json: no such file or directory), want the directory of one",
		plain:                      "found a bundle that no soak wrote, want one of wedge soak",
	} {
		_, err := soak.Resume(context.Background(), dir, soak.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*repro.InputError)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
}

// TestOtherWindows: what is there and does not follow from the seed is one clear error.
func TestOtherWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := filepath.Join(t.TempDir(), "b")
	ctx, cancel := context.WithCancel(context.Background())
	sets := []string{"soak.for=24h"}
	if _, err := soak.Run(ctx, scenario(t, "starvation", sets...), soak.Options{Run: repro.Options{Out: dir, JournalTee: after(20_000, cancel)}}); err != nil {
		t.Fatal(err)
	}
	// As if it had been killed, by another wedge.
	edit(t, filepath.Join(dir, soak.DocumentFile), `"verdict": "interrupted"`, `"verdict": "running"`)
	edit(t, filepath.Join(dir, soak.WindowsLog), `"begun":`, `"begun":1`)
	r, err := soak.Resume(context.Background(), dir, soak.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.WriteErr == nil || !strings.Contains(r.WriteErr.Error(), soak.WindowsLog) || strings.Contains(r.WriteErr.Error(), "\n") {
		t.Errorf("%v, want one line about %s", r.WriteErr, soak.WindowsLog)
	}
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s: %v, want %s in it", path, err, old)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWall: a soak on the wall, with faults that come and go, ends as it should, and one that was cut off goes on with
// its clock and its totals.
func TestWall(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := filepath.Join(t.TempDir(), "b")
	s := scenario(t, "healthy", "soak.for=40m", "soak.window=1m", "policy.idle=1m",
		`soak.random_faults=[{fault: {id: reset, where: stream, what: reset, after_tokens: 20, probability: 0.5}, every: 8m, lasts: 1m}]`)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := soak.Run(ctx, s, soak.Options{Run: repro.Options{Out: dir, Clock: repro.ClockWall, Scale: 400, JournalTee: after(5_000, cancel)}})
	if err != nil {
		t.Fatal(err)
	}
	first := r.Document
	whole(t, dir)
	if first.Verdict != soak.Interrupted || first.Totals.CallsOK == 0 {
		t.Fatalf("%s: %+v", first.Verdict, first.Totals)
	}
	if r, err = soak.Resume(context.Background(), dir, soak.Options{}); err != nil {
		t.Fatal(err)
	}
	d := &r.Document
	if d.Verdict == soak.Interrupted || d.Ended != "for" || d.AtS < 2400 || d.AtS > 2500 || d.Totals.CallsOK <= first.Totals.CallsOK || d.Resumed != 1 || r.WriteErr != nil {
		t.Errorf("%s, ended by %s at %v s, %v: %+v after %+v", d.Verdict, d.Ended, d.AtS, r.WriteErr, d.Totals, first.Totals)
	}
	var before float64
	for i := range r.Windows {
		if w := &r.Windows[i]; w.FromS < before || w.ToS < w.FromS || w.Index != i+1 {
			t.Errorf("window %d is the %d. from %v to %v s, after %v", i, w.Index, w.FromS, w.ToS, before)
		}
		before = r.Windows[i].ToS
	}
	whole(t, dir)
}
