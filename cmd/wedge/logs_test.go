package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness/requestlog"
)

func TestLogsSayWhatIsOpenAndHowLongTheOthersTook(t *testing.T) {
	for _, name := range []string{"router.log", "two.log", "nginx.log", "envoy.log", "slog.json"} {
		t.Run(name, func(t *testing.T) {
			out := here(t, "testdata/logs/"+name+".txt")
			t.Chdir(here(t, "testdata/logs"))
			stdout, stderr, code := wedgeHere(t, "logs", name)
			if code != exitOK || stderr != "" {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			if strings.ContainsRune(stdout, '\x1b') {
				t.Error("what a log holds has reached the terminal as it is")
			}
			golden(t, out, stdout)
		})
	}
}

// The incident's log gave bare microseconds that were read as nanoseconds.
func TestLogsTellTheUnitOfLatencies(t *testing.T) {
	two, all := here(t, "testdata/logs/two.log"), here(t, "testdata/logs/router.log")
	stdout, _, _ := wedge(t, "logs", two)
	for _, want := range []string{"microseconds (2 of 2 agree with the time stamps)", "62.69 s   62690782", "264.6 s   264599869"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	stdout, _, _ = wedge(t, "logs", all, "--json")
	var r requestlog.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != requestlog.Schema || r.Unit.Unit != "microseconds" || r.Unit.Telling < 20 || r.Unit.Agree != r.Unit.Telling || r.Requests.Open != 2 || len(r.Open) != 2 {
		t.Errorf("%+v, %+v", r.Unit, r.Requests)
	}
}

func TestLogsOfSeveralFilesAreOne(t *testing.T) {
	text := readFile(t, "testdata/logs/two.log")
	t.Chdir(t.TempDir())
	lines := strings.SplitAfter(text, "\n")
	for name, part := range map[string]string{"old": strings.Join(lines[:2], ""), "new": strings.Join(lines[2:], "")} {
		if err := os.WriteFile(name, []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"old", "new"}, {"new", "old"}} {
		stdout, _, code := wedgeHere(t, append([]string{"logs"}, args...)...)
		if code != exitOK || !strings.Contains(stdout, "All 2 requests that started are finished.") {
			t.Errorf("%v: exit code %d\n%s", args, code, stdout)
		}
	}
}

func TestLogsRefuseBadInputInOneLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "binary": "\x7fELF\x00\x00", "prose": "hello\nworld\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, want string }{
		{"nosuch", "no such file or directory"}, {".", "is a directory"}, {"empty", "is empty"}, {"binary", "is no text"}, {"prose", "no line of 2 is about a request"},
	} {
		t.Chdir(dir)
		stdout, stderr, code := wedgeHere(t, "logs", test.name)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "wedge: "+test.name+": ") || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d, %q, %q", test.name, code, stdout, stderr)
		}
	}
	if _, stderr, code := wedge(t, "logs"); code != exitUsage || !strings.Contains(stderr, "found no file") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// The simulated router writes the log of the original, in text and in JSON.
func TestLogsOfARun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, form := range []string{"false", "true"} {
		if _, stderr, code := wedgeHere(t, "repro", "starvation", "--out", form, "-q", "--set", "servers.router.log_json="+form); code != exitOK {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		file, err := os.Open(filepath.Join(form, "router.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var out strings.Builder
		cmd := newLogs()
		cmd.SetArgs([]string{"-"})
		cmd.SetIn(file)
		cmd.SetOut(&out)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"standard input  1200 lines: SGLang router log (1200)", "All 600 requests that started are finished.", "+ unit in the log: microseconds ("} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("log_json=%s: no %q in\n%s", form, want, out.String())
			}
		}
	}
}
