//go:build unix

package guest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup has the program lead a process group of its own, in which its children are too.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to all of the group. That a group is gone already is no error. Its number
// stays taken as long as anybody is in it, so that it is nobody else's.
func signalGroup(cmd *exec.Cmd, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-cmd.Process.Pid, number)
	}
}

func terminateGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// quitProcess has a Go program dump its goroutines and end.
func quitProcess(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGQUIT) }

// groupEmpty says whether nobody is left of the group but those that have ended and that their parent has
// not asked for: in containers there is often nobody who would.
func groupEmpty(cmd *exec.Cmd) bool {
	return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) || onlyZombies(strconv.Itoa(cmd.Process.Pid))
}

// onlyZombies looks at all processes in /proc. Where there is none, it says no.
func onlyZombies(group string) bool {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return false
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state parent group …, with anything in the name.
		_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == group && f[0] != "Z" && f[0] != "X" {
			return false
		}
	}
	return true
}
