//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestIntegrationShells lets each shell read its completion script.
func TestIntegrationShells(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Fatal(err)
			}
			script, _, _ := wedgeHere(t, "completion", shell)
			file := filepath.Join(t.TempDir(), "wedge")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(program, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestIntegrationManPages lets mandoc and groff look for mistakes.
func TestIntegrationManPages(t *testing.T) {
	pages, err := manPages(newRoot(), "2026-01-31")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := writePages(dir, pages); err != nil {
		t.Fatal(err)
	}
	for _, reader := range [][]string{{"mandoc", "-Tlint", "-Wwarning"}, {"groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z"}} {
		t.Run(reader[0], func(t *testing.T) {
			program, err := exec.LookPath(reader[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pages {
				if out, err := exec.Command(program, append(reader[1:], filepath.Join(dir, p.name))...).CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s: %v: %s", p.name, err, out)
				}
			}
		})
	}
}
