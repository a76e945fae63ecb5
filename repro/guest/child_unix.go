//go:build unix

package guest

import (
	"errors"
	"os"
	"os/exec"
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

// groupEmpty says whether nobody is left of the group.
func groupEmpty(cmd *exec.Cmd) bool {
	return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH)
}
