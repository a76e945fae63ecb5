//go:build integration

package trace

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/wedge/repro"
)

// TestIntegrationAnotherReader has a reader of Chrome's traces, from npm, read the trace of starvation: it must find the agents, and
// nest calls, attempts and stages as they are meant.
func TestIntegrationAnotherReader(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/reader")); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v (.ci/clients installs Node)", name, err)
		}
		return out
	}
	run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")

	fsys := ran(t, "starvation", repro.Options{})
	text, _ := written(t, fsys, Options{})
	if err := os.WriteFile(filepath.Join(dir, "trace.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	var processes []struct {
		Name    string
		Threads []struct {
			Name   string
			Events []struct {
				Name       string
				Start, End int64
				Depth      int
			}
		}
	}
	if err := json.Unmarshal(run("node", "read.mjs", "trace.json"), &processes); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, l := range journal(t, fsys) {
		if l.Event == "call_end" {
			calls++
		}
	}
	depth := map[string]int{"call": 1, "attempt 1": 2, "slot": 2, "headers": 3, "stream": 3, "read_message": 1, "write": 1, "append": 1, "save": 1}
	seen := map[string]int{}
	for _, p := range processes {
		if p.Name != "agents" {
			continue
		}
		if len(p.Threads) != 30 {
			t.Errorf("it finds %d agents, want 30", len(p.Threads))
		}
		for _, thread := range p.Threads {
			for _, e := range thread.Events {
				seen[e.Name]++
				if want, ok := depth[e.Name]; ok && e.Depth != want {
					t.Errorf("%s of %s at %d µs is %d deep, want %d", e.Name, thread.Name, e.Start, e.Depth, want)
				}
			}
		}
	}
	if seen["call"] != calls || seen["attempt 1"] != calls || seen["slot"] == 0 || seen["stream"] == 0 {
		t.Errorf("it finds %v, want %d calls", seen, calls)
	}
}
