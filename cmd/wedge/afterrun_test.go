package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestAfterRun: each command that writes a bundle puts a trace and a page into it, unless it is told not to,
// and nothing else is left there.
func TestAfterRun(t *testing.T) {
	for _, args := range [][]string{
		{"repro", "silent-stream", "--set", "fleet.agents=3"},
		{"run", "my.yaml"},
		{"repro", "healthy", "--clock", "wall", "--scale", "600", "--set", "fleet.agents=2", "--set", "workflow.rounds=1"},
		{"soak", "healthy", "--for", "10m", "--set", "fleet.agents=2"},
		{"exec", "--", "echo", "mine"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("my.yaml", []byte("name: mine\nfleet: {agents: 2}\nworkflow: {rounds: 1}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			flags := []string{args[0], "--out", "with", "-q"}
			_, errs, code := wedgeHere(t, append(flags, args[1:]...)...)
			if code != exitOK || strings.Contains(errs, "not written") {
				t.Fatalf("exit code %d:\n%s", code, errs)
			}
			var trace struct{ TraceEvents []json.RawMessage }
			if err := json.Unmarshal([]byte(readFile(t, "with/trace.json")), &trace); err != nil || len(trace.TraceEvents) == 0 {
				t.Errorf("trace.json has %d events: %v", len(trace.TraceEvents), err)
			}
			if page := readFile(t, "with/report.html"); !strings.HasPrefix(page, "<!doctype html>") && !strings.HasPrefix(page, "<!DOCTYPE html>") {
				t.Errorf("report.html begins with %.40q", page)
			}
			flags = []string{args[0], "--out", "without", "-q", "--no-report"}
			if _, errs, code := wedgeHere(t, append(flags, args[1:]...)...); code != exitOK {
				t.Fatalf("exit code %d:\n%s", code, errs)
			}
			with, without := namesIn(t, "with"), namesIn(t, "without")
			with = slices.DeleteFunc(with, func(name string) bool { return name == "trace.json" || name == "report.html" })
			if !slices.Equal(with, without) {
				t.Errorf("without a report there is %v, with one besides %v", without, with)
			}
		})
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTraceIsTheSameEachTime, byte for byte, in virtual time.
func TestTraceIsTheSameEachTime(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, out := range []string{"a", "b"} {
		if _, errs, code := wedgeHere(t, "repro", "starvation", "--out", out, "-q"); code != exitOK {
			t.Fatal(errs)
		}
	}
	if readFile(t, "a/trace.json") != readFile(t, "b/trace.json") {
		t.Error("another run of the same seed has another trace")
	}
}

// TestAfterRunThatCannotWrite says so in a line for each file, and leaves nothing half written.
func TestAfterRunThatCannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte("no journal\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&errs)
	new(afterRun).write(cmd, dir)
	const want = "wedge: trace.json was not written: events.jsonl:1: found \"no journal\", want an object of JSON\n"
	if errs.String() != want { // the page tells what it could not read
		t.Errorf("it says\n%s", errs.String())
	}
	if names := namesIn(t, dir); !slices.Equal(names, []string{"events.jsonl", "report.html"}) {
		t.Errorf("left behind: %v", names)
	}
}
