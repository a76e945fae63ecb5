//go:build unix && !aix && !illumos && !solaris

package bundle

import (
	"errors"
	"os"
	"syscall"
)

// hold keeps others from resuming a directory for as long as the file is open, which a process that is killed
// closes too. Where the file system knows no locks, nobody is kept from it.
func hold(dir *os.Root) (*os.File, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, errHeld
	}
	return f, nil
}
