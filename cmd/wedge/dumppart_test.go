package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine/waits"
)

// TestDumpPart cuts dumps of programs that go on at their lines, as buffers, kubectl logs --tail and people do. What is
// missing from such a text may be what others wait for, so none of them may be called stuck.
func TestDumpPart(t *testing.T) {
	for _, name := range []string{"busy", "http-headers", "pipeline", "rate", "results", "workers"} {
		for _, form := range []string{"1", "quit"} {
			file := filepath.Join("..", "..", "harness", "goroutine", "waits", "testdata", "shapes", name+"."+form+".txt")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(text, []byte("\n"))
			for i := 1; i < len(lines); i++ {
				head, tail := bytes.Join(lines[:i], nil), bytes.Join(lines[i:], nil)
				if !endsWhole(lines, i) {
					checkPart(t, file, head)
				}
				checkPart(t, file, tail)
			}
		}
	}
}

// endsWhole reports whether the first n lines end in a whole goroutine: then nothing shows that more came.
func endsWhole(lines [][]byte, n int) bool {
	if n < 2 || len(lines[n]) <= 1 || len(lines[n-1]) <= 1 {
		return true
	}
	before := string(lines[n-2])
	return strings.HasPrefix(before, "created by") || strings.HasPrefix(before, "main.main(") || strings.HasPrefix(before, "runtime.main(")
}

func checkPart(t *testing.T, file string, part []byte) {
	t.Helper()
	texts, err := readDumps(file, bytes.NewReader(part))
	if err != nil {
		return // no goroutine is left in it
	}
	for _, s := range texts.snapshots {
		switch v := s.analysis.Verdict; v.Outcome {
		case waits.Deadlocked, waits.Wedged:
			t.Errorf("%s: %d bytes of it, which begin with %q and end in %q, are called %s: %s", file, len(part),
				firstLine(part), part[max(0, len(part)-40):], v.Outcome, v.Reason)
		}
	}
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
