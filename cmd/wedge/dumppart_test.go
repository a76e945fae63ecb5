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
			step := 1
			if testing.Short() {
				step = 7
			}
			for i := 1; i < len(lines); i += step {
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

// TestDumpTwoProfiles: profiles have no ids, and two of one process are compared by how many are at one place.
func TestDumpTwoProfiles(t *testing.T) {
	t.Chdir(t.TempDir())
	const profile = `goroutine profile: total %TOTAL
%N @ 0x47a0ae 0x40e3b3 0x6f4a52 0x4821a1
#	0x6f4a51	main.query.func1+0x31	/app/main.go:23

1 @ 0x47a0ae 0x47fa36 0x6f4b12 0x447e4b 0x4821a1
#	0x47fa35	time.Sleep+0x115	/go/src/runtime/time.go:363
#	0x6f4b11	main.main+0x71		/app/main.go:37
#	0x447e4a	runtime.main+0x26a	/go/src/runtime/proc.go:285
`
	for name, n := range map[string][2]string{"a": {"12", "13"}, "b": {"40", "41"}} {
		text := strings.NewReplacer("%N", n[0], "%TOTAL", n[1]).Replace(profile)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := wedgeHere(t, "dump", "a", "b")
	if want := "at main.query.func1 main.go:23 there were 12 and are 40"; code != exitOK || errs != "" || !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("exit code %d, standard error %q, want %q in\n%s", code, errs, want, out)
	}
}
