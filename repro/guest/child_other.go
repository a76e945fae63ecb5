//go:build !unix

package guest

import (
	"errors"
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here, so that only the harness itself is ended and
// not what it has started.
func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, s os.Signal) { _ = cmd.Process.Signal(s) }

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func quitProcess(*exec.Cmd) error { return errors.New("there is no SIGQUIT here") }

func straysOf(string) []int { return nil }

func terminateAll([]int) {}

func killAll([]int) {}

func groupEmpty(*exec.Cmd) bool { return true }
