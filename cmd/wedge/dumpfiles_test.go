package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDumpFilesRefused: a file that cannot be written is refused by its flag before anything is read, ended or written.
func TestDumpFilesRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const dump = "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:3 +0x1d\n"
	if err := os.WriteFile("dump.txt", []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"--html: found none/x.html, want a file in a directory that exists", []string{"--html", "none/x.html"}},
		{"--svg: found the directory " + dir + ", want a file", []string{"--svg", dir}},
		{"--svg: found ./x, which --html writes, want a file of its own", []string{"--html", "x", "--svg", "./x"}},
		{"--dot: found ./dump.txt, which is to be read, want another file", []string{"--dot", "./dump.txt"}},
	} {
		out, errs, code := wedgeHere(t, append([]string{"dump", "dump.txt"}, test.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit code %d, standard output %q, standard error %q, want %d and %q", test.args, code, out, errs, exitUsage, test.want)
		}
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) != 1 {
		t.Errorf("files left: %q (%v), want the dump alone", left, err)
	}
	if text, err := os.ReadFile("dump.txt"); err != nil || string(text) != dump {
		t.Errorf("the dump that was read is %q now (%v)", text, err)
	}
}
