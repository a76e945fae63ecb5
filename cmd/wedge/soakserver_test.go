package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/soak"
)

// TestSoakServer: a soak against somebody's own server, which here is wedge serve, that is killed half-way and goes on.
func TestSoakServer(t *testing.T) {
	s := serve(t, "--preset", "instant", "-q")
	const key = "sk-a-secret-of-the-server"
	t.Setenv("WEDGE_API_KEY", key)
	dir := filepath.Join(t.TempDir(), "b")
	out, errs, code := wedge(t, "soak", "--base-url", s.line.BaseURL, "--model", "simulated", "--tasks", "16", "--for", "2h", "--out", dir, "--json", "-q", "--no-report",
		"--set", "fleet.agents=4", "--set", "workflow.think=1ms", "--set", "workflow.rounds=1", "--set", "soak.window=1s", "--threshold", "failed(calls) == 0")
	var d soak.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %v, %s\n%s", code, err, errs, out)
	}
	if d.Clock != "wall" || d.Ended != "tasks" || d.Totals.TasksDone != 16 || d.Server == nil || d.Server.BaseURL != s.line.BaseURL || d.Totals.CallsFailed != 0 {
		t.Errorf("%+v", d)
	}
	readable(t, dir)
	// As if it had been killed when half of the tasks were to be done.
	text, err := os.ReadFile(filepath.Join(dir, soak.DocumentFile))
	if err != nil || strings.Contains(string(text), key) {
		t.Fatalf("%v: %s", err, text)
	}
	for _, edit := range [][2]string{{soak.DocumentFile, `"verdict": "passed"`}, {"run.json", `"tasks": 16`}} {
		file := filepath.Join(dir, edit[0])
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), edit[1]) {
			t.Fatalf("%s: %v, want %s in it", edit[0], err, edit[1])
		}
		other := map[string]string{soak.DocumentFile: `"verdict": "running"`, "run.json": `"tasks": 24`}[edit[0]]
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), edit[1], other, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code = wedge(t, "soak", "--resume", dir, "--json", "-q", "--no-report")
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitOK {
		t.Fatalf("resumed: exit code %d, %v, %s\n%s", code, err, errs, out)
	}
	if d.Totals.TasksDone != 24 || d.Resumed != 1 || d.Totals.CallsFailed != 0 {
		t.Errorf("resumed: %+v", d)
	}
	readable(t, dir)
	if code := s.end(); code != exitOK {
		t.Errorf("the servers: exit code %d", code)
	}
	// A server that is not there.
	if _, errs, code := wedge(t, "soak", "--base-url", s.line.BaseURL, "--for", "1h", "--out", "-", "-q"); code != exitFailed || !strings.Contains(errs, "/models") || strings.Count(errs, "\n") != 1 {
		t.Errorf("without a server: exit code %d, %q", code, errs)
	}
}
