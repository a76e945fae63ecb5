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
		if state, of := stateOf(file); of == group && state != "Z" && state != "X" {
			return false
		}
	}
	return true
}

// stateOf reads the state and the group of a process that is there still.
func stateOf(file string) (state, group string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", ""
	}
	// pid (name) state parent group …, with anything in the name.
	if f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(f) > 2 {
		return f[0], f[2]
	}
	return "", ""
}

// straysOf finds the processes that have a line in the environment that they were started with, where
// there is a /proc: those that a harness has started and that have left its group.
func straysOf(mark string) []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !hasLine(text, mark) {
			continue // somebody else's, or it has just ended
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasLine says whether an environment has a variable with a value.
func hasLine(environ []byte, line string) bool {
	for one := range bytes.SplitSeq(environ, []byte{0}) {
		if string(one) == line {
			return true
		}
	}
	return false
}

func terminateAll(pids []int) { signalAll(pids, syscall.SIGTERM) }

func killAll(pids []int) { signalAll(pids, syscall.SIGKILL) }

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}
