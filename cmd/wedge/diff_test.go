package main

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/wedge/repro/diff"
)

// TestDiff compares a run with one that has more slots, and one of silent streams with its cure.
func TestDiff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct{ file, scenario, set, flags string }{
		{"diff-slots.txt", "starvation", "pacer.slots=20", ""},
		{"diff-cure.txt", "silent-stream", "policy.idle=60s", "-v"},
		{"diff-same.txt", "healthy", "", ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := here(t, "testdata/"+c.file)
			t.Chdir(t.TempDir())
			args := []string{"repro", c.scenario, "-q", "--out", "before"}
			if _, errs, code := wedgeHere(t, args...); code != exitOK {
				t.Fatal(code, errs)
			}
			args[4] = "after"
			if c.set != "" {
				args = append(args, "--set", c.set)
			}
			wedgeHere(t, args...) // the cure of a hang does not reproduce it
			args = []string{"diff", "before", "after"}
			if c.flags != "" {
				args = append(args, c.flags)
			}
			out, errs, code := wedgeHere(t, args...)
			if code != exitOK || errs != "" {
				t.Fatal(code, errs)
			}
			golden(t, file, out)
			out, _, code = wedgeHere(t, append(args, "--json", "--exit-code")...)
			var r diff.Report
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.Schema != diff.Schema {
				t.Error(err, r.Schema)
			}
			want := exitOK
			if r.A.Outcome != r.B.Outcome {
				want = exitMismatch
			}
			if code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
}

func TestDiffBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"want the directories of two evidence bundles, found 1": {"diff", "a"},
		"nothing-here: no such file or directory":               {"diff", "nothing-here", "b"},
	} {
		out, errs, code := wedge(t, args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("exit code %d, %q, %q", code, out, errs)
		}
	}
}
