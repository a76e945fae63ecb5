package goroutine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormsInContainers wraps a text of each form in what logs and reports do.
func TestFormsInContainers(t *testing.T) {
	forms := []string{"14-names", "08-elided", "37-profile-labels", "37-leak-profile", "hand-36-merged",
		"go1.27-labels", "hand-41-delve", "hand-41-gdb", "hand-41-panicparse"}
	wraps := map[string]func(string) string{
		"docker":  func(s string) string { return each(s, dockerLine, false) },
		"compose": func(s string) string { return each(s, func(l string) string { return "api-1  | " + l }, false) },
		"journald": func(s string) string {
			return each(s, func(l string) string { return "Nov 03 10:00:01 h app[7]: " + l }, true)
		},
		"CRI": inParts,
		"ISO time": func(s string) string {
			return each(s, func(l string) string { return "2026-01-02T03:04:05.678Z " + l }, false)
		},
		"ANSI": func(s string) string {
			return each(s, func(l string) string { return "\x1b[31m" + l + "\x1b[0m" }, false)
		},
		"CRLF":       func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"one string": func(s string) string { return `{"level":"error","msg":` + quotedJSON(s) + `,"pid":7}` + "\n" },
		"fence":      func(s string) string { return "It hangs:\n\n```\n" + s + "```\n\nThanks!\n" },
		"indent": func(s string) string {
			return "It hangs:\n\n" + each(s, func(l string) string { return strings.TrimRight("    "+l, " ") }, false)
		},
		"quote": func(s string) string { return each(s, func(l string) string { return "> " + l }, false) },
	}
	for _, form := range forms {
		text, err := os.ReadFile(filepath.Join("testdata", "traps", form+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := ParseAll(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		want := summary(plain)
		for name, wrap := range wraps {
			got, err := ParseAll(strings.NewReader(wrap(string(text))))
			if err != nil {
				t.Fatal(err)
			}
			if s := summary(got); s != want {
				t.Errorf("%s in %s\n got %s\nwant %s", form, name, s, want)
			}
		}
	}
}
