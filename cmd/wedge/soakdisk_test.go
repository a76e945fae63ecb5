package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/soak"
)

// smallDisk returns a directory on a disk of its own, with room for so many bytes. It takes root to make one.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk; full disks without one are tested in harness/bundle")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", bytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// TestSoakDiskFull: a full disk is one clear line, the soak goes on or ends as it is told, what was written can be read, and
// once there is room the soak that ended goes on.
func TestSoakDiskFull(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const want = ": no space left on device; lines are lost until it can be written again; the soak "
	for reaction, c := range map[string]struct {
		verdict soak.Verdict
		code    int
		says    string
	}{
		"go_on": {soak.Passed, exitOK, "goes on"},
		"stop":  {soak.Stopped, exitFailed, "ends"},
	} {
		t.Run(reaction, func(t *testing.T) {
			disk := smallDisk(t, 3<<20)
			dir := filepath.Join(disk, "b")
			args := append(soakArgs(dir), "--set", "soak.on_disk_error="+reaction, "--set", "soak.random_faults=[]")
			cmd := soakVictim(args...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, &errs, &out)
			}
			if text := errs.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, want+c.says) {
				t.Errorf("it says\n%swant one line with %s", text, want+c.says)
			}
			readable(t, dir)
			if v := verdictOf(t, dir); v != c.verdict {
				t.Errorf("soak.json says %s, want %s", v, c.verdict)
			}
			if _, err := os.Stat(filepath.Join(dir, ".reserve")); err == nil {
				t.Error("the reserve is still there")
			}
			if c.verdict != soak.Stopped {
				return
			}
			if out, err := exec.Command("mount", "-o", "remount,size=100m", disk).CombinedOutput(); err != nil {
				t.Fatalf("remount: %v: %s", err, out)
			}
			if out, err := soakVictim("soak", "--resume", dir, "-q", "--no-report").CombinedOutput(); err != nil {
				t.Fatalf("resumed: %v\n%s", err, out)
			}
			if v := verdictOf(t, dir); v != soak.Passed {
				t.Errorf("resumed: %s", v)
			}
			readable(t, dir)
		})
	}
}

// TestSoakDirectoryVanishes: somebody moves the directory of a soak that goes on away; it says so once, and has its result all
// the same.
func TestSoakDirectoryVanishes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := filepath.Join(t.TempDir(), "b")
	args := append(soakArgs(dir), "--for", "240h", "--set", "soak.random_faults=[]")
	cmd := soakVictim(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); logged(dir) < 100_000 && time.Since(began) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if err := os.Rename(dir, dir+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &errs)
	}
	if text := errs.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "; the soak goes on") {
		t.Errorf("it says\n%s", text)
	}
	if !strings.Contains(out.String(), "PASSED") || !strings.Contains(out.String(), "The files are incomplete") {
		t.Errorf("the result:\n%s", &out)
	}
}
