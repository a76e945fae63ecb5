//go:build integration && unix

package waits_test

import (
	"os"
	"syscall"
)

// interrupt makes a Go program print its goroutines and end.
func interrupt(p *os.Process) { p.Signal(syscall.SIGQUIT) }
