//go:build integration

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// TestIntegrationSoak: a minute of a soak over real HTTP, with faults that come and go, in which nothing leaks and the
// fleet recovers from each of them.
func TestIntegrationSoak(t *testing.T) {
	t.Parallel()
	bin, dir := build(t, "."), filepath.Join(t.TempDir(), "bundle")
	cmd := exec.Command(bin, "soak", "healthy", "--clock", "wall", "--scale", "60", "--for", "50m", "--seed", "3", "--out", dir, "--json", "-q", "--no-report",
		"--set", "fleet.agents=60", "--set", "soak.window=30s", "--set", "policy.idle=1m", "--set", "policy.first_token=2m",
		"--set", "soak.random_faults=["+
			"{fault: {id: quiet, where: stream, what: silence, after_tokens: 20, probability: 0.3}, every: 8m, lasts: 1m}, "+
			"{fault: {id: reset, where: stream, what: reset, after_tokens: 10, probability: 0.3}, every: 8m, lasts: 1m}, "+
			"{fault: {id: busy, where: router, what: status, status: 503, probability: 0.5}, every: 8m, lasts: 30s}]",
		"--threshold", "goodput > 0.5", "--threshold", "calls > 1000", "--threshold", "open_bodies < 500")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var d soak.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if d.Verdict != soak.Passed || d.Outcome != diagnose.Completed || d.Ended != "for" || d.Totals.TasksDone == 0 || d.Totals.Again == 0 {
		t.Errorf("%s, %s, ended by %s: %+v", d.Verdict, d.Outcome, d.Ended, d.Totals)
	}
	faults := 0
	for _, f := range d.Faults {
		faults += f.Times
	}
	if faults < 3 {
		t.Errorf("%d faults came: %+v", faults, d.Faults)
	}
	for _, f := range d.Leaks {
		if f.Verdict == series.VerdictLeaking {
			t.Errorf("%s leaks: %s", f.Name, f.Why)
		}
	}
	readable(t, dir)
}
