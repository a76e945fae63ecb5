//go:build integration && unix

package guest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/guest"
)

// modules is where .ci/clients installs the official client for Node, and a Node that it likes.
const modules = "../serving/api/clients/testdata/node/node_modules"

// nodeHarness returns the command of the harness for Node, in a directory from which its client is found.
func nodeHarness(t *testing.T) []string {
	t.Helper()
	from, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(from, "openai")); err != nil {
		t.Fatalf("%v: run .ci/clients, which installs it", err)
	}
	node, err := filepath.Glob(filepath.Join(from, "node-*/bin/node"))
	if err != nil || len(node) == 0 { // there is none for this kind of machine
		path, err := exec.LookPath("node")
		if err != nil {
			t.Fatal(err)
		}
		node = []string{path}
	}
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/node/harness.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "harness.mjs"), text, 0o600)
	}
	if err == nil {
		err = os.Symlink(from, filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{node[0], filepath.Join(dir, "harness.mjs")}
}

// TestIntegrationNode runs a harness for Node through two hangs and a run without any.
func TestIntegrationNode(t *testing.T) {
	command := nodeHarness(t)
	for _, c := range []struct {
		name, scenario string
		set            []string
		args           []string // agents, rounds, limit, tries
		scale          float64
		outcome        diagnose.Outcome
		cause          diagnose.Cause
		final          diagnose.Outcome
		stalled        bool
	}{
		{"healthy", "healthy", nil, []string{"30", "3", "16", "3"}, 60, diagnose.Completed, diagnose.CauseNone, diagnose.Completed, false},
		{"silent-stream", "silent-stream", []string{"faults.silence.from=30s"}, []string{"30", "2", "16", "3"}, 60, diagnose.Wedged, diagnose.CauseSilentStream, diagnose.Wedged, true},
		{"router-queue", "router-queue", nil, []string{"30", "1", "30", "2"}, 25, diagnose.Storming, diagnose.CauseRouterQueue, diagnose.Storming, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := scenario(t, c.scenario, c.set...)
			// A Node is no Go program: that it would be asked to quit changes nothing.
			p := play(t, s, guest.Options{Command: append(append([]string{}, command...), c.args...), Scale: c.scale, Quit: true})
			v := &p.Verdict
			if v.Outcome != c.outcome || v.Cause != c.cause || v.FinalOutcome != c.final || p.Stalled != c.stalled {
				t.Errorf("seed %d: %s, cause %s, finally %s, stalled %t, want %s, %s, %s, %t:\n%s\n%s",
					s.Seed, v.Outcome, v.Cause, v.FinalOutcome, p.Stalled, c.outcome, c.cause, c.final, c.stalled, v.Summary, p.errs)
			}
			if c.name == "silent-stream" && (p.Dump == nil || p.Dump.Err == "") {
				t.Errorf("seed %d: dump %+v, want the reason why there is none", s.Seed, p.Dump)
			}
		})
	}
}
