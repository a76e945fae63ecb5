package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dumps of real programs, from the reader's own tests.
const dumpsDir = "../../harness/goroutine/testdata"

// TestDumpGolden: what is printed about dumps of real programs.
func TestDumpGolden(t *testing.T) {
	goldens := here(t, "testdata")
	root := here(t, "../..")
	for _, test := range []struct {
		name string
		args []string
		code int
	}{
		{"ab-ba", []string{"ab-ba.1.txt", "ab-ba.2.txt"}, exitStalled}, // as in the README
		{"busy", []string{"busy.1.txt", "busy.2.txt"}, exitOK},
		{"slot-leak", []string{"slot-leak.quit.txt"}, -1},
		{"asleep", []string{"go1.26-asleep.txt"}, exitStalled},
		{"timeout", []string{"go1.26-timeout.txt"}, -1},
		{"stages", []string{"go1.26-stages.txt"}, -1},
		{"cut", []string{"go1.26-cut.txt"}, -1},
		{"all", []string{"hand-go1.18.txt", "--all"}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(root)
			args := []string{"dump"}
			for _, arg := range test.args {
				switch {
				case strings.HasPrefix(arg, "go1."), strings.HasPrefix(arg, "hand-"):
					arg = "harness/goroutine/testdata/" + arg
				case strings.HasSuffix(arg, ".txt"):
					arg = "harness/goroutine/waits/testdata/shapes/" + arg
				}
				args = append(args, arg)
			}
			out, errs, code := wedgeHere(t, args...)
			if errs != "" || test.code >= 0 && code != test.code || code != exitOK && code != exitStalled {
				t.Errorf("exit code %d, standard error %q", code, errs)
			}
			golden(t, filepath.Join(goldens, "dump-"+test.name+".txt"), out)
		})
	}
	out, _, _ := wedgeHere(t, "dump", "--help")
	golden(t, filepath.Join(goldens, "help-dump.txt"), out)
}

// TestDumpExitCodeTells: stuck is 3, and what is only at rest is 0.
func TestDumpExitCodeTells(t *testing.T) {
	if _, _, code := wedge(t, "dump", here(t, dumpsDir+"/go1.26-asleep.txt")); code != exitStalled {
		t.Errorf("all goroutines asleep: exit code %d, want %d", code, exitStalled)
	}
	idle := "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:3 +0x1d\n"
	out, errs, code := dumpStdin(t, idle)
	if code != exitOK || errs != "" {
		t.Errorf("one that runs: exit code %d, %q\n%s", code, errs, out)
	}
}

// dumpStdin gives the command a text on standard input.
func dumpStdin(t *testing.T, text string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	root := newRoot()
	var out, errs bytes.Buffer
	root.SetArgs(append([]string{"dump"}, args...))
	root.SetIn(strings.NewReader(text))
	root.SetOut(&out)
	root.SetErr(&errs)
	code = exitCode(root.ExecuteContext(t.Context()), "wedge dump", &errs)
	return out.String(), errs.String(), code
}

func TestDumpBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(dir, "none.txt")}, "cannot be opened: no such file"},
		{[]string{dir}, "found a directory"},
		{[]string{write("empty.txt", "")}, "found an empty text, want a goroutine dump"},
		{[]string{write("page.html", "<!DOCTYPE html><p>x")}, "found a web page"},
		{[]string{write("text.txt", "hello\x1b[31m\nworld\n")}, `begins with "hello\\x1b[31m"`},
		{[]string{write("java.txt", "java.lang.Thread.State: WAITING\n")}, "found a Java thread dump"},
		{[]string{write("data.json", `{"a": 1}`)}, "found JSON that holds no goroutines"},
		{[]string{write("x.gz", "\x1f\x8b\x08\x00rubbish")}, "x.gz"},
		{[]string{server.URL}, "status 404"},
		{[]string{"localhost:1/path"}, "no dump from there"},
		{[]string{"--times", "0", server.URL}, "--times: found 0, want 1 to 100"},
		{[]string{"--every", "0s", server.URL}, "--every: found 0s"},
		{[]string{"--timeout", "0s", server.URL}, "--timeout: found 0s"},
		{[]string{here(t, dumpsDir+"/go1.26-asleep.txt"), here(t, dumpsDir+"/go1.26-asleep.txt")}, "found the same bytes as in"},
		{[]string{"-", "-"}, "found it 2 times"},
		{[]string{"--yes", "x"}, "want --pid with them"},
		{[]string{"--pid", "1", "x"}, "want one of them"},
		{[]string{"--pid", "-1"}, "want the number of a process"},
		{[]string{"--pid", "999999999"}, "no such process"},
		{[]string{"--html", filepath.Join(dir, "r.html"), "--each", here(t, dumpsDir+"/go1.26-asleep.txt"), here(t, dumpsDir+"/go1.26-stack.txt")}, "found 2 reports"},
	} {
		out, errs, code := wedgeHere(t, append([]string{"dump"}, test.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit code %d, standard output %q, standard error\n%swant one line with %q", test.args, code, out, errs, test.want)
		}
	}
}

// TestDumpURL asks this test's own pprof address twice: the goroutine that waits is still there.
func TestDumpURL(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(mux)
	defer server.Close()
	release := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		parkForDump(release)
	}()
	defer func() {
		close(release)
		<-ended
	}()
	address := strings.TrimPrefix(server.URL, "http://")
	out, errs, code := wedge(t, "dump", address+"/?token=secret-token", "--every", "1ms", "--json")
	if errs != "" || code != exitOK && code != exitStalled {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	if strings.Contains(out, "secret-token") {
		t.Error("the query is in the output")
	}
	var r dumpReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != dumpSchema || len(r.Snapshots) != 2 || r.Movement == nil || r.Movement.Still == 0 {
		t.Fatalf("schema %q, %d snapshots, movement %+v", r.Schema, len(r.Snapshots), r.Movement)
	}
	found := false
	for _, g := range r.Movement.ByGroup {
		found = found || strings.Contains(g.Place, "parkForDump") && g.Still == 1
	}
	if !found {
		t.Errorf("the waiting goroutine is not among those that are still where they were: %+v", r.Movement.ByGroup)
	}
}

func parkForDump(release chan struct{}) { <-release }

// TestDumpFiles writes the page, the picture and the graph, and checks that texts in them are escaped.
func TestDumpFiles(t *testing.T) {
	hostile := "goroutine 1 [chan receive, 5 minutes]:\nmain.<script>alert(1)</script>(0xc000012345)\n\t/app/\"><img src=x>.go:3 +0x1d\n\n" +
		"goroutine 2 [select, 5 minutes labels:{\"who\": \"</details><script>\\u001b[31m\"}]:\nmain.work()\n\t/app/work.go:3 +0x1d\n"
	t.Chdir(t.TempDir())
	out, errs, code := dumpStdin(t, hostile, "--html", "r.html", "--svg", "r.svg", "--dot", "r.dot")
	if errs != "" || code == exitFailed {
		t.Fatalf("exit code %d, %q", code, errs)
	}
	if strings.Contains(out, "\x1b") {
		t.Error("an escape sequence reaches the terminal")
	}
	for _, name := range []string{"r.html", "r.svg"} {
		text := readFile(t, name)
		if strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, "http-equiv=\"refresh") {
			t.Errorf("%s has markup from the dump", name)
		}
	}
	if page := readFile(t, "r.html"); strings.Contains(page, "src=\"http") || strings.Contains(page, "href=\"http") || !strings.Contains(page, "<svg") {
		t.Error("the page loads something, or has no picture")
	}
	if dot := readFile(t, "r.dot"); !strings.HasPrefix(dot, "digraph") {
		t.Errorf("the graph begins with %.20q", dot)
	}
}

// TestDumpProfiles: texts without ids of goroutines are read, and it is said what they cannot tell.
func TestDumpProfiles(t *testing.T) {
	text := "goroutine profile: total 43\n40 @ 0x1 0x2\n#\t0x1\tsync.runtime_SemacquireMutex+0x25\t/go/src/runtime/sema.go:95\n" +
		"#\t0x2\tmain.work+0x1d\t/app/main.go:4\n\n3 @ 0x3\n#\t0x3\tmain.main+0x1d\t/app/main.go:9\n"
	t.Chdir(t.TempDir())
	out, errs, code := dumpStdin(t, text, "--html", "r.html", "--svg", "r.svg")
	if errs != "" || code == exitFailed {
		t.Fatalf("exit code %d, %q", code, errs)
	}
	for _, want := range []string{"43 goroutines, profile text", "40 × goroutines", "has no ids"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(readFile(t, "r.svg"), "goroutine 0") {
		t.Error("the picture names goroutine 0")
	}
}

// TestDumpSourcesApart: dumps of different programs are not compared.
func TestDumpSourcesApart(t *testing.T) {
	one := "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:3 +0x1d\n"
	other := "goroutine 1 [running]:\nother.main()\n\t/app/other.go:3 +0x1d\n"
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a": one, "b": other} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := wedgeHere(t, "dump", "a", "b", "--json")
	d := json.NewDecoder(strings.NewReader(out))
	reports := 0
	for {
		var r dumpReport
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		reports++
		if r.Movement != nil {
			t.Error("different programs were compared")
		}
	}
	if reports != 2 {
		t.Errorf("%d reports, want 2", reports)
	}
}

// TestDumpInterrupted: an interrupt while it waits for the second dump ends it.
func TestDumpInterrupted(t *testing.T) {
	mux := http.NewServeMux()
	ctx, cancel := context.WithCancel(context.Background())
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		pprof.Index(w, r)
		cancel()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"dump", server.URL, "--every", "1h"}, &out, &errs); code != exitInterrupted {
		t.Errorf("exit code %d, want %d; %s", code, exitInterrupted, errs.String())
	}
}
