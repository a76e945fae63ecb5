package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport makes the page of a bundle: in the bundle, elsewhere, and on standard output, each the same.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, errs, code := wedgeHere(t, "repro", "starvation", "-q", "--out", "hang", "--no-report"); code != exitOK {
		t.Fatal(code, errs)
	}
	out, errs, code := wedgeHere(t, "report", "hang")
	if code != exitOK || errs != "" || !strings.HasPrefix(out, filepath.Join("hang", reportPage)) {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
	if _, errs, code := wedgeHere(t, "report", "hang", "-o", "page.html"); code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	if out, errs, code := wedgeHere(t, "report", "hang", "-o", "p\x1b[31m.html"); code != exitOK || errs != "" || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d, %q, %q; want no escape of a terminal", code, out, errs)
	}
	printed, _, _ := wedgeHere(t, "report", "hang", "-o", "-")
	for _, name := range []string{filepath.Join("hang", reportPage), "page.html"} {
		page, err := os.ReadFile(name)
		if err != nil || string(page) != printed {
			t.Errorf("%s is not the page on standard output (%v)", name, err)
		}
	}
	for _, want := range []string{"starved", "wedge repro starvation --seed 1", `data-lanes="30"`} {
		if !strings.Contains(printed, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if left, _ := filepath.Glob("*/.report*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What is no bundle is told of in one line that says what is wanted.
func TestReportBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := wedgeHere(t, "repro", "silent-stream", "-q", "--out", "hang", "--no-report"); code != exitOK {
		t.Fatal(code, errs)
	}
	for _, c := range []struct {
		args string
		want string
		code int
	}{
		{"report", "want the directory of an evidence bundle, found 0", exitUsage},
		{"report a b", "want the directory of an evidence bundle, found 2", exitUsage},
		{"report nothing-here", "nothing-here: no such file or directory", exitUsage},
		{"report file", "file: found a file, want the directory", exitUsage},
		{"report empty", "empty: found no run.json", exitUsage},
		{"report hang -o hang", "--output: found the directory hang, want a file", exitUsage},
		{"report hang -o hang/run.json", "--output: found hang/run.json, which is part of the evidence", exitUsage},
	} {
		_, errs, code := wedgeHere(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want %d and %q", c.args, code, errs, c.code, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join("empty", "events.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := wedgeHere(t, "report", "empty", "-o", filepath.Join("no", "such", "place.html")); code != exitFailed || strings.Count(errs, "\n") != 1 {
		t.Errorf("a place that cannot be written: exit code %d, %q", code, errs)
	}
}

// TestReplaceFile: what is there and is no file stays what it is.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link, null := filepath.Join(dir, "page.html"), filepath.Join(dir, "link"), filepath.Join(dir, "null")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink("page.html", link), os.Symlink(os.DevNull, null)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, null} {
		if err := replaceFile(name, []byte("new")); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s is no link any more: %v, %v", name, info, err)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "new" {
		t.Errorf("found %q (%v) behind the link", text, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s: %v, %v", os.DevNull, info, err)
	}
	if err := replaceFile(dir, nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}
