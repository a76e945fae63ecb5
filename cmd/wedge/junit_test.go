package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/spf13/cobra"

	"example.com/wedge/repro/soak"
	"example.com/wedge/repro/threshold"
)

// readJUnit reads a file as CI would, and holds its counts against its tests.
func readJUnit(t *testing.T, file string) junit.Testsuites {
	t.Helper()
	text := readFile(t, file)
	var all junit.Testsuites
	if err := xml.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%s: %v:\n%s", file, err, text)
	}
	if !strings.HasPrefix(text, "<?xml ") || len(all.Suites) != 1 {
		t.Fatalf("%s is\n%s", file, text)
	}
	s := all.Suites[0]
	failures, errors, names := 0, 0, map[string]bool{}
	for _, c := range s.Testcases {
		if c.Failure != nil {
			failures++
		}
		if c.Error != nil {
			errors++
		}
		if names[c.Name] || c.Name == "" || c.Classname == "" {
			t.Errorf("a test named %q of %q, after %v", c.Name, c.Classname, names)
		}
		names[c.Name] = true
	}
	if n := len(s.Testcases); s.Tests != n || all.Tests != n || s.Failures != failures || all.Failures != failures || s.Errors != errors || all.Errors != errors {
		t.Errorf("the counts are %d, %d, %d and %d, %d, %d of %d tests, %d failures, %d errors",
			all.Tests, all.Failures, all.Errors, s.Tests, s.Failures, s.Errors, n, failures, errors)
	}
	return all
}

// brief is a line for each test.
func brief(s junit.Testsuites) string {
	var b strings.Builder
	for _, c := range s.Suites[0].Testcases {
		switch {
		case c.Failure != nil:
			fmt.Fprintf(&b, "failure %s %s: %s\n", c.Failure.Type, c.Name, c.Failure.Message)
		case c.Error != nil:
			fmt.Fprintf(&b, "error %s %s: %s\n", c.Error.Type, c.Name, c.Error.Message)
		default:
			fmt.Fprintf(&b, "passed %s\n", c.Name)
		}
	}
	return b.String()
}

func TestJUnit(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"mine.yaml":  "fleet: {agents: 2}\nworkflow: {rounds: 1}\nexpect: {final_outcome: wedged}\n",
		"wrong.yaml": "fleet: {agents: -2}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string // the tests; a line may be a prefix of what there is
	}{
		{"repro starvation --out -", exitOK, "passed starvation: the verdict is the expected one\n"},
		{"repro mine.yaml --out -", exitMismatch, "failure completed mine: the verdict is the expected one: expected final outcome wedged; found outcome slow, layer decode,"},
		{"run mine.yaml --out -", exitOK, "passed mine: the run is completed\n"},
		{"repro silent-stream --print", exitOK, ""},
		{"run wrong.yaml --out -", exitUsage, "error input the command ends by itself: wrong.yaml"},
		{"repro nothing --out -", exitUsage, `error input the command ends by itself: repro: unknown scenario "nothing", want one of starvation,`},
		{"repro mine.yaml --out mine.yaml", exitUsage, "error input the command ends by itself: --out: bundle: mine.yaml exists"},
		{"compare mine.yaml --policy none --policy idle-60s --seeds 1-2 --out - -q", exitOK, "passed mine: none\npassed mine: idle-60s\n"},
		{"compare silent-stream --policy none --policy idle-60s --policy oracle --seeds 1-3 --out - -q", exitOK,
			"failure not_completed silent-stream: none: in 3 of 3 runs tasks failed or did not end\npassed silent-stream: idle-60s\n"},
		{"compare nothing --out -", exitUsage, `error input the command ends by itself: repro: unknown scenario "nothing", want one of starvation,`},
	} {
		t.Run(c.args, func(t *testing.T) {
			os.Remove("junit.xml")
			_, errs, code := wedgeHere(t, append(strings.Fields(c.args), "--junit", "junit.xml")...)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, errs)
			}
			if c.want == "" {
				if _, err := os.Stat("junit.xml"); err == nil {
					t.Error("a file was written where nothing was run")
				}
				return
			}
			all := readJUnit(t, "junit.xml")
			if got := brief(all); !strings.HasPrefix(got, c.want) {
				t.Errorf("the tests are\n%swant\n%s", got, c.want)
			}
			command, _, _ := strings.Cut(c.args, " ")
			if all.Suites[0].Name != "wedge "+command {
				t.Errorf("the suite is %q", all.Suites[0].Name)
			}
		})
	}
	if parts, _ := filepath.Glob(".junit*"); len(parts) > 0 {
		t.Errorf("left behind %v", parts)
	}
}

// TestJUnitOfAStall shows the whole file.
func TestJUnitOfAStall(t *testing.T) {
	file := here(t, "testdata/junit-silent-stream.xml")
	t.Chdir(t.TempDir())
	out, _, _ := wedgeHere(t, "repro", "silent-stream", "--print")
	if err := os.WriteFile("mine.yaml", []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := wedgeHere(t, "run", "mine.yaml", "--out", "-", "--junit", "junit.xml"); code != exitStalled {
		t.Errorf("exit code %d: %s", code, errs)
	}
	readJUnit(t, "junit.xml")
	golden(t, file, readFile(t, "junit.xml"))
}

func TestJUnitRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, want := range map[string]string{"": "want a file", "none/junit.xml": "no directory none", ".": "found the directory"} {
		out, errs, code := wedgeHere(t, "repro", "starvation", "--out", "-", "--junit", file)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("--junit %q: exit code %d, %q", file, code, errs)
		}
	}
}

// TestJUnitWhole: a file that cannot be replaced stays as it was, and the command says so.
func TestJUnitWhole(t *testing.T) {
	root := os.Geteuid() == 0 // who may write everywhere, but not to a full disk
	if root {
		t.Chdir(smallDisk(t, 64<<10))
	} else {
		t.Chdir(t.TempDir())
	}
	if err := os.WriteFile("junit.xml", []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if root {
		if os.WriteFile("full", make([]byte, 1<<20), 0o600) == nil {
			t.Fatal("the disk takes more than it has room for")
		}
	} else {
		if err := os.Chmod(".", 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(".", 0o700)
	}
	_, errs, code := wedgeHere(t, "repro", "starvation", "--out", "-", "--junit", "junit.xml")
	if code != exitFailed || !strings.HasPrefix(errs, "wedge: --junit: ") || readFile(t, "junit.xml") != "before" {
		t.Errorf("exit code %d, %q, the file is %q", code, errs, readFile(t, "junit.xml"))
	}
}

func TestJUnitOfSoaks(t *testing.T) {
	thresholds := []threshold.Outcome{
		{Expr: "stalls == 0", OK: true, Text: "0"},
		{Expr: "p95(call) < 120s && goodput > 0.9", Text: "132s", Term: "p95(call) < 120s", Window: 3},
		{Expr: "rss_growth < 5%/h", Missing: "it was not measured"},
	}
	const met = "passed x: stalls == 0\nfailure threshold_missed x: p95(call) < 120s && goodput > 0.9: found 132s, which is about p95(call) < 120s, in window 3 after the warm-up\n" +
		"failure threshold_missed x: rss_growth < 5%/h: it was not measured\n"
	for verdict, want := range map[soak.Verdict]string{
		soak.Missed:      "passed x: the soak lasts\n" + met,
		soak.Stalled:     "failure stalled x: the soak lasts: what was\n" + met,
		soak.Failed:      "failure failed x: the soak lasts: what was\n" + met,
		soak.Stopped:     "error files x: the soak lasts: disk full\n" + met,
		soak.Interrupted: "error interrupted the command ends by itself: interrupted\n",
	} {
		t.Run(string(verdict), func(t *testing.T) {
			t.Chdir(t.TempDir())
			var j junitFlag
			d := &soak.Document{Scenario: "x", Verdict: verdict, Summary: "what was", Thresholds: thresholds, AtS: 86400}
			if verdict == soak.Stopped {
				d.Files.Error = "disk full"
			}
			cmd := &cobra.Command{Use: "soak", SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
				return j.around(cmd, func() error {
					j.soak(d)
					return soakExit(&soak.Result{Document: *d})
				})
			}}
			j.register(cmd.Flags())
			cmd.SetArgs([]string{"--junit", "junit.xml"})
			cmd.SetErr(io.Discard)
			_ = cmd.Execute() // its errors are soak's
			all := readJUnit(t, "junit.xml")
			if got := brief(all); got != want {
				t.Errorf("the tests are\n%swant\n%s", got, want)
			}
			if verdict != soak.Interrupted && all.Time != "86400.000" {
				t.Errorf("the time is %s", all.Time)
			}
		})
	}
}

// FuzzXMLText: whatever is said somewhere, the file is one that XML readers take.
func FuzzXMLText(f *testing.F) {
	f.Add("plain")
	f.Add("]]> <script>&amp; \x1b[31m \x00 \uffff \xff \r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var j junitFlag
		j.property("p", text)
		j.suite.AddTestcase(j.failure(text, "kind", text, text))
		var b strings.Builder
		if err := (&junit.Testsuites{Suites: []junit.Testsuite{j.suite}}).WriteXML(&b); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(b.String()) {
			t.Fatal("no UTF-8")
		}
		in := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			if _, err := in.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%v:\n%s", err, b.String())
			}
		}
	})
}
