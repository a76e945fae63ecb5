package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro/soak"
)

// asWedge has this test binary be the command, with these arguments, one a line.
const asWedge = "WEDGE_TEST_ARGS"

// TestSoakVictim is no test but the command itself, in a process that can be killed.
func TestSoakVictim(t *testing.T) {
	args := os.Getenv(asWedge)
	if args == "" {
		t.Skip("only as a process of its own")
	}
	os.Args = append([]string{"wedge"}, strings.Split(args, "\n")...)
	main()
}

// soakVictim is a command that runs in a process of its own.
func soakVictim(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestSoakVictim$")
	cmd.Env = append(os.Environ(), asWedge+"="+strings.Join(args, "\n"))
	return cmd
}

// soakArgs are those of a soak with failures, stalls and logs that rotate.
func soakArgs(dir string) []string {
	return []string{
		"soak", "starvation", "--for", "16h", "--seed", "7", "-q", "--out", dir, "--no-report", "--set", "policy.idle=2m",
		"--set", "soak.log_bytes_max=1048576", "--set", "soak.log_files_max=3", "--threshold", "goodput > 0.5",
		"--set", "soak.random_faults=[{fault: {id: quiet, where: stream, what: silence, after_tokens: 50, probability: 0.3}, every: 2h, lasts: 10m}]",
	}
}

// TestSoakKilled: whenever a soak is killed, what it leaves can be read, and it goes on to the same end as one that was
// never broken.
func TestSoakKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	top := t.TempDir()
	unbroken := filepath.Join(top, "unbroken")
	began := time.Now()
	if out, err := soakVictim(soakArgs(unbroken)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took, written := time.Since(began), logged(unbroken)
	want := exactSoak(t, unbroken)
	for i := range 10 {
		dir := filepath.Join(top, fmt.Sprint(i))
		cmd := soakVictim(soakArgs(dir)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var when string
		if i%2 == 0 {
			ms := rand.Int64N(took.Milliseconds())
			when = fmt.Sprintf("after %d ms", ms)
			time.Sleep(time.Duration(ms) * time.Millisecond)
		} else {
			bytes := rand.Int64N(written)
			when = fmt.Sprintf("at %d bytes", bytes)
			for cmd.Process.Signal(syscall.Signal(0)) == nil && logged(dir) < bytes && time.Since(began) < 10*took+time.Minute {
				time.Sleep(time.Millisecond)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Run(strings.ReplaceAll(when, " ", "-"), func(t *testing.T) { resumes(t, dir, want, unbroken) })
		began = time.Now()
	}
}

// resumes says whether what is at dir can be read, and goes on to the end that is wanted.
func resumes(t *testing.T, dir, want, unbroken string) {
	if _, err := os.Stat(dir); err != nil {
		t.Logf("it was killed before it had made its directory: %v", err)
		return
	}
	readable(t, dir)
	if ended := verdictOf(t, dir); ended != soak.Running && ended != "" {
		t.Logf("it was over: %s", ended)
	} else if out, err := soakVictim("soak", "--resume", dir, "-q", "--no-report").CombinedOutput(); err != nil {
		t.Fatalf("resumed: %v\n%s", err, out)
	}
	if got := exactSoak(t, dir); got != want {
		t.Errorf("soak.json differs from that of an unbroken run: %s\nwant %s", got, want)
	}
	for _, log := range []string{soak.WindowsLog, bundle.EventsLog, bundle.SamplesLog, bundle.RouterLogFile} {
		if got, want := allOf(t, dir, log), allOf(t, unbroken, log); got != want {
			t.Errorf("%s differs from that of an unbroken run", log)
		}
	}
	readable(t, dir)
}

// logged returns how many bytes of events have been written, those in files that are gone included.
func logged(dir string) (n int64) {
	files, _ := bundle.Logs(os.DirFS(dir), bundle.EventsLog)
	if len(files) == 0 {
		return 0
	}
	last := files[len(files)-1]
	var number int64
	_, _ = fmt.Sscanf(last, "events-%d.jsonl", &number)
	info, err := os.Stat(filepath.Join(dir, last))
	if err != nil {
		return 0
	}
	return (number-1)<<20 + info.Size()
}

// readable says whether all files are whole: JSON, or whole lines of JSON. What was being written under another
// name is no file of the bundle yet.
func readable(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		text, err := os.ReadFile(path)
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case ext == ".json" && !json.Valid(text):
			t.Errorf("%s is no JSON: %.200s", path, text)
		case ext == ".jsonl":
			for n, line := range bytes.SplitAfter(text, []byte("\n")) {
				// The kernel may have taken a part of what was written in one piece: only the last line.
				whole := json.Valid(line) && bytes.HasSuffix(line, []byte("\n"))
				if last := n == bytes.Count(text, []byte("\n")); !whole && !last {
					t.Errorf("%s:%d is no whole line of JSON: %.200s", path, n+1, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func verdictOf(t *testing.T, dir string) soak.Verdict {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, soak.DocumentFile))
	if os.IsNotExist(err) {
		return ""
	}
	var d soak.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d.Verdict
}

// exactSoak returns soak.json without what is about the process, the directory and the number of resumptions.
func exactSoak(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, soak.DocumentFile))
	var d map[string]any
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"process", "leaks", "files", "resumed", "next", "replay"} {
		delete(d, field)
	}
	text, err = json.MarshalIndent(d, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func allOf(t *testing.T, dir, log string) string {
	t.Helper()
	files, err := bundle.Logs(os.DirFS(dir), log)
	if err != nil || len(files) == 0 {
		t.Errorf("%s: %v, %v", log, files, err)
	}
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "%s\n%s", file, text)
	}
	return b.String()
}

// TestSoakSignal: an interrupt ends a soak with everything readable, exit code 130, and it goes on to the same end.
func TestSoakSignal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	top := t.TempDir()
	unbroken, dir := filepath.Join(top, "unbroken"), filepath.Join(top, "cut")
	began := time.Now()
	if out, err := soakVictim(soakArgs(unbroken)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	cmd := soakVictim(soakArgs(dir)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for logged(dir) < logged(unbroken)/3 && time.Since(began) < 10*took+time.Minute {
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Fatalf("%v\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "wedge soak --resume "+dir) {
		t.Errorf("it does not say how to go on:\n%s", &out)
	}
	if v := verdictOf(t, dir); v != soak.Interrupted {
		t.Fatalf("soak.json says %s", v)
	}
	readable(t, dir)
	if out, err := soakVictim("soak", "--resume", dir, "-q", "--no-report").CombinedOutput(); err != nil {
		t.Fatalf("resumed: %v\n%s", err, out)
	}
	if got, want := exactSoak(t, dir), exactSoak(t, unbroken); got != want {
		t.Errorf("soak.json differs from that of an unbroken run: %s\nwant %s", got, want)
	}
}
