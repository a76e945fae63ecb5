package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"example.com/wedge/harness/bundle"
)

// lineBytesMax bounds a line, and with it the memory for reading a file that is no journal.
const lineBytesMax = 1 << 20

// ReadAll reads the journal with the given name, such as [bundle.EventsLog], from a bundle: one file, or
// the rotated ones that are left. What has been put together before an error has been told by then. The
// error is a *[LineError], or that of a file that cannot be read: fs.ErrNotExist if there is no journal.
func ReadAll(fsys fs.FS, name string, h Handler) (Summary, error) {
	files, err := bundle.Logs(fsys, name)
	if err != nil {
		return Summary{}, err
	}
	if len(files) == 0 {
		return Summary{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return ReadFiles(fsys, files, files[0] != name, h)
}

// ReadFiles reads a journal from some of its files, in the order of their lines. middle says that there may
// have been older ones.
func ReadFiles(fsys fs.FS, files []string, middle bool, h Handler) (Summary, error) {
	r := NewReader("", h)
	if middle {
		r.Middle()
	}
	for i, name := range files {
		if err := r.readFile(fsys, name, i == len(files)-1); err != nil {
			return r.sum, err
		}
	}
	return r.Close(), nil
}

func (r *Reader) readFile(fsys fs.FS, name string, last bool) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r.file, r.number = name, 0
	in := bufio.NewReaderSize(f, 64<<10)
	var long []byte // of a line that is longer than the buffer
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) && len(long) < lineBytesMax {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line, long = long, long[:0]
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return &LineError{name, r.number + 1, "", fmt.Sprintf("found a line of more than %d bytes, want one of a journal", lineBytesMax)}
		case errors.Is(err, io.EOF):
			return r.rest(line, last)
		case err != nil:
			return fmt.Errorf("record: %s: %w", name, err)
		}
		if err := r.Feed(line); err != nil {
			return err
		}
	}
}

// rest takes what stands after the last line end of a file. A run that was killed leaves half a line
// there; in a file that was followed by another it is an error like any other.
func (r *Reader) rest(line []byte, last bool) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil
	case last:
		r.sum.Broken = true
		return nil
	}
	return r.Feed(line)
}
