package strict

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// fileBytesMax is far above any file that a person writes.
const fileBytesMax = 16 << 20

// ReadFile reads a file that a person has written, which may be a pipe as well. The error says what is
// wrong without the path, which an [Error] names: also that there is no end to it, as with /dev/zero.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(text) > fileBytesMax {
		return nil, fmt.Errorf("found more than %d MiB, want a file that a person writes", fileBytesMax>>20)
	}
	return text, nil
}

// reason is a file error without the operation and the path.
func reason(err error) error {
	if of, ok := errors.AsType[*os.PathError](err); ok {
		return of.Err
	}
	return err
}
