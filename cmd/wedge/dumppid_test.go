//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const victimVariable = "WEDGE_TEST_VICTIM"

// TestDumpVictim is the program that the tests below look at: two goroutines in a deadlock, and a pprof
// address. It is skipped unless they start it.
func TestDumpVictim(t *testing.T) {
	if os.Getenv(victimVariable) == "" {
		t.Skip("started by other tests")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(mux)
	defer server.Close()
	var mutex sync.Mutex
	mutex.Lock()
	go victimWaits(&mutex)
	mutex.Lock()
}

func victimWaits(mutex *sync.Mutex) {
	fmt.Println("ready") // then this function is in every dump
	mutex.Lock()
}

// victim starts the program with its standard error at the given file, nil for a pipe.
func victim(t *testing.T, stderr *os.File) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDumpVictim$", "-test.v")
	cmd.Env = append(os.Environ(), victimVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if stderr != nil {
		cmd.Stderr = stderr
	} else if _, err := cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "ready") {
			return cmd
		}
	}
	t.Fatal("the program did not get ready")
	return nil
}

func stderrFile(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.WriteString("goroutine 99 [running]:\nan.earlier()\n\t/dump.go:1 +0x1\n\n"); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDumpPid ends a program and reads its dump from the file that its standard error goes to, from
// where it was before.
func TestDumpPid(t *testing.T) {
	program := victim(t, stderrFile(t))
	out, errs, code := dumpStdin(t, "", "--pid", fmt.Sprint(program.Process.Pid), "--yes", "--all")
	if code != exitOK && code != exitStalled {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	for _, want := range []string{"SIGQUIT makes it print its goroutines and END", "stderr.log"} {
		if !strings.Contains(errs, want) {
			t.Errorf("standard error has no %q: %s", want, errs)
		}
	}
	if !strings.Contains(out, "victimWaits") || strings.Contains(out, "an.earlier") {
		t.Errorf("not the dump of the program:\n%s", out)
	}
}

// TestDumpPidRefuses: nothing is sent without leave, to what is no Go program, or where the dump is lost.
func TestDumpPidRefuses(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Skip("no sleep command here")
	}
	defer func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}()
	asked, silent := victim(t, stderrFile(t)), victim(t, null)
	for _, test := range []struct {
		pid  int
		args []string
		want string
	}{
		{asked.Process.Pid, nil, "nothing was sent: --yes sends it"},
		{silent.Process.Pid, []string{"--yes"}, "its standard error goes nowhere"},
		{sleep.Process.Pid, []string{"--yes"}, "is no Go program"},
		{os.Getpid(), []string{"--yes"}, "that is wedge itself"},
	} {
		out, errs, code := dumpStdin(t, "y\n", append([]string{"--pid", fmt.Sprint(test.pid)}, test.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("exit code %d, %q %q, want %d and %q", code, out, errs, exitUsage, test.want)
		}
	}
	for _, program := range []*exec.Cmd{asked, silent} {
		if (&process{pid: program.Process.Pid}).ended() {
			t.Error("a program that was not to be touched has ended")
		}
	}
}

// TestDumpPidPipe: a dump that goes into somebody's pipe is not lost, and the user is told where it is.
func TestDumpPidPipe(t *testing.T) {
	program := victim(t, nil)
	out, errs, code := dumpStdin(t, "", "--pid", fmt.Sprint(program.Process.Pid), "--yes")
	if code != exitOK || !strings.Contains(out, "docker logs") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

// TestDumpPidPorts finds the pprof address of a program and leaves it alive.
func TestDumpPidPorts(t *testing.T) {
	program := victim(t, stderrFile(t))
	pid := fmt.Sprint(program.Process.Pid)
	out, errs, code := dumpStdin(t, "", "--pid", pid, "--ports", "--every", "1ms", "--all")
	if code != exitOK && code != exitStalled {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	if !strings.Contains(out, "victimWaits") || !strings.Contains(out, "What moved") {
		t.Errorf("not two dumps of the program:\n%s", out)
	}
	if (&process{pid: program.Process.Pid}).ended() {
		t.Error("it has ended")
	}
}

func TestKernelAddress(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"0100007F:1F90", "127.0.0.1:8080"},
		{"00000000:0050", "127.0.0.1:80"},
		{"00000000000000000000000000000000:1F90", "127.0.0.1:8080"},
		{"00000000000000000000000001000000:1F90", "[::1]:8080"},
		{"0000000000000000FFFF00000100007F:1F90", "127.0.0.1:8080"},
		{"nonsense", ""},
		{"01:02", ""},
	} {
		if got, _ := kernelAddress(test.in); got != test.want {
			t.Errorf("%s: got %q, want %q", test.in, got, test.want)
		}
	}
}
