package soak

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro"
)

// FuzzResume: whatever stands in the files of a soak, there is something to go on with, or one line that says why not.
func FuzzResume(f *testing.F) {
	s := repro.Default()
	if err := s.Set("soak.for", "1h"); err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(f.TempDir(), "b")
	ctx, cancel := context.WithCancel(context.Background())
	stop := func(*Monitor) { cancel() }
	r, err := Run(ctx, s, Options{Run: repro.Options{Out: dir, Clock: repro.ClockWall, Scale: 1000}, Started: stop})
	if err != nil || r.Document.Verdict != Interrupted {
		f.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		return string(text)
	}
	run, doc, windows := read("run.json"), read(DocumentFile), read(WindowsLog)
	f.Add(run, doc, windows)
	f.Add(run, strings.Replace(doc, `"interrupted"`, `"passed"`, 1), windows)
	f.Add(run, doc, windows+windows[:len(windows)/2])
	f.Add(run, doc, windows+"{\"lost_lines\":3}\n")
	f.Add(strings.Replace(run, `"for_ns": 3600`, `"for_ns": -3600`, 1), doc, windows)
	f.Add(`{"schema":"wedge.run/1","config":{}}`, `{}`, "null\n")
	f.Add(run, `{"schema":"wedge.soak/1","verdict":"running","at_s":1e300}`, "")
	f.Fuzz(func(t *testing.T, run, doc, windows string) {
		at := t.TempDir()
		for name, text := range map[string]string{"run.json": run, DocumentFile: doc, WindowsLog: windows} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := readResumed(at)
		if err != nil {
			if !errors.As(err, new(*repro.InputError)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line of bad input", err)
			}
			return
		}
		if r.at < 0 || r.wall() && r.at.Seconds() >= r.run.Config.Soak.Lasts(r.run.Config.Horizon).Seconds() {
			t.Errorf("it goes on at %v", r.at)
		}
	})
}

// TestReadResumed: in the place of a file may be anything, and a soak on the wall goes on after all that there is.
func TestReadResumed(t *testing.T) {
	s := repro.Default()
	if err := s.Set("soak.for", "1h"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "b")
	ctx, cancel := context.WithCancel(context.Background())
	stop := func(*Monitor) { cancel() }
	if _, err := Run(ctx, s, Options{Run: repro.Options{Out: dir, Clock: repro.ClockWall, Scale: 1000}, Started: stop}); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ProcessLog, `{"at_s":2000}`+"\n")
	if r, err := readResumed(dir); err != nil || r.at.Seconds() != 2000 {
		t.Errorf("%v, goes on at %v, want after the last reading of the process", err, r.at)
	}
	write(WindowsLog, "")
	if err := os.Truncate(filepath.Join(dir, WindowsLog), 2*lineBytesMax); err != nil { // a hole, which takes no room
		t.Fatal(err)
	}
	if _, err := readResumed(dir); err == nil || !strings.Contains(err.Error(), "windows.jsonl:1: found a line of more than 64 MiB") {
		t.Errorf("error %v", err)
	}
	write("run.json", "[]")
	if _, err := readResumed(dir); err == nil || !strings.Contains(err.Error(), "run.json: found a JSON array, want an object") {
		t.Errorf("error %v", err)
	}
}
