//go:build integration

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/wedge/harness/goroutine"
)

// build makes a program of this module and returns its path.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// TestIntegrationWallDump runs the main command live and reads its dump as a user would.
func TestIntegrationWallDump(t *testing.T) {
	t.Parallel()
	bin, out := build(t, "."), filepath.Join(t.TempDir(), "bundle")
	text, err := exec.Command(bin, "repro", "starvation", "--clock", "wall", "--scale", "60", "--json", "--out", out).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var v struct{ Outcome, Layer, Cause string }
	if err := json.Unmarshal(text, &v); err != nil || v.Outcome != "starved" || v.Layer != "pacer" || v.Cause != "starvation" {
		t.Errorf("verdict %+v, %v", v, err)
	}
	f, err := os.Open(filepath.Join(out, "stalls/01/goroutines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := goroutine.Parse(f)
	if err != nil || d.Stats.Truncated {
		t.Fatalf("dump: %v, %+v", err, d.Stats)
	}
	onTheWire, waiting := 0, 0
	for i := range d.Goroutines {
		g := &d.Goroutines[i]
		if g.Label("agent") == "" || !g.HasFunc("pacer.(*Pacer).Chat") {
			continue
		}
		if hasPackage(g, "net/http.") || hasPackage(g, "github.com/sashabaranov/go-openai.") {
			onTheWire++
		}
		if g.Label("stage") == "slot" && g.HasFunc("sim.(*Semaphore).Acquire") {
			waiting++
		}
	}
	if onTheWire < 16 || waiting != 14 {
		t.Errorf("%d goroutines with Chat on the wire, %d in the slot wait, want at least 16 and 14", onTheWire, waiting)
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", filepath.Join(out, "stalls/01/goroutines.pb.gz")).CombinedOutput()
	if err != nil || !bytes.Contains(top, []byte("Type: goroutine")) {
		t.Errorf("go tool pprof: %v\n%s", err, top)
	}
}

func hasPackage(g *goroutine.Goroutine, prefix string) bool {
	for _, f := range g.Frames {
		if strings.HasPrefix(f.Func, prefix) {
			return true
		}
	}
	return false
}

// TestIntegrationInterrupt ends runs in the middle with a signal, in both clocks.
func TestIntegrationInterrupt(t *testing.T) {
	bin := build(t, ".")
	for _, c := range []struct {
		name   string
		signal os.Signal
		lines  int // of standard error to wait for before the signal is sent
		args   []string
	}{
		{"wall", syscall.SIGINT, 2, []string{"repro", "starvation", "--clock", "wall", "--scale", "60"}},
		{"wall-term", syscall.SIGTERM, 2, []string{"repro", "silent-stream", "--clock", "wall", "--scale", "20"}},
		{"virtual", syscall.SIGINT, 1, []string{"repro", "starvation", "-v", "--set", "fleet.agents=30000", "--set", "pacer.slots=30000", "--set", "servers.router.queued_max=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "bundle")
			cmd := exec.Command(bin, append(c.args, "--json", "--out", out)...)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stderr)
			for range c.lines {
				if line, err := lines.ReadString('\n'); err != nil {
					t.Fatalf("%q, %v", line, err)
				}
			}
			for !written(filepath.Join(out, "events.jsonl")) && t.Context().Err() == nil {
				runtime.Gosched()
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(stdout)
			_ = cmd.Wait() // its exit code is looked at
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d, want %d", code, exitInterrupted)
			}
			var v struct{ Run struct{ Ended string } }
			if err := json.Unmarshal(text, &v); err != nil || v.Run.Ended != "interrupted" {
				t.Errorf("run ended as %q, %v:\n%s", v.Run.Ended, err, text)
			}
			checkBundle(t, out)
		})
	}
}

// written says whether a file has something in it. A virtual run writes once it has enough, which
// is when it is well under way.
func written(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// checkBundle reads every file of a bundle.
func checkBundle(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"run.json", "verdict.json", "events.jsonl", "samples.jsonl", "router.log", "end/calls.json", "end/waits.json", "end/servers.json", "end/goroutines.txt", "end/goroutines.pb.gz"} {
		// The router's log may be empty: the signal may come before the first request.
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 && name != "router.log" {
			t.Errorf("%s: %v, or empty", name, err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".json":
			if !json.Valid(text) {
				t.Errorf("%s is no JSON", path)
			}
		case ".jsonl":
			for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
				if !json.Valid(lines.Bytes()) {
					t.Errorf("%s: %s is no JSON", path, lines.Bytes())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestIntegrationForeignServer runs agents against a server in another process that shares no code
// with wedge, and looks for the API key in all that was written.
func TestIntegrationForeignServer(t *testing.T) {
	const key = "sk-a-very-secret-key-0123456789"
	bin, stub := build(t, "."), exec.Command(build(t, "./testdata/stub"))
	stub.Env = append(os.Environ(), "STUB_KEY="+key)
	stdout, err := stub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stub.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stub.Process.Kill()
		_ = stub.Wait()
	}()
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := fmt.Sprintf("http://%s/v1", strings.TrimSpace(addr))
	for _, c := range []struct {
		key  string
		code int
	}{{key, exitOK}, {"sk-another-secret-key-987654321", exitFailed}} {
		out := filepath.Join(t.TempDir(), "bundle")
		cmd := exec.Command(bin, "run", "--base-url", base, "--model", "m", "--out", out, "--json",
			"--set", "fleet.agents=5", "--set", "workflow.rounds=2", "--set", "workflow.think=10ms")
		cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+c.key)
		text, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("key %q: exit code %d, want %d\n%s", c.key, code, c.code, text)
		}
		if bytes.Contains(text, []byte(c.key)) {
			t.Errorf("the key is in the output:\n%s", text)
		}
		err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if bytes.Contains(content, []byte(c.key)) {
				t.Errorf("the key is in %s", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
