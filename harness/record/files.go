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
	return ReadLatest(fsys, name, 0, h)
}

// ReadLatest is ReadAll for so many of the latest bytes of the journal, and the rest of the line that begins
// before them left out. 0 is for all of it.
func ReadLatest(fsys fs.FS, name string, bytesMax int64, h Handler) (Summary, error) {
	files, err := bundle.Logs(fsys, name)
	if err != nil {
		return Summary{}, err
	}
	if len(files) == 0 {
		return Summary{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	rotated := files[0] != name
	files, skip, err := latest(fsys, files, bytesMax)
	if err != nil {
		return Summary{}, err
	}
	r := NewReader("", h)
	if rotated || skip > 0 {
		r.Middle()
	}
	for i, file := range files {
		r.file, r.number = file, 0
		if skip > 0 {
			r.file += " (latest part)" // so that lines are not counted from where people would
		}
		broken, err := eachLine(fsys, file, skip, i == len(files)-1, r.Feed)
		if err != nil {
			return r.sum, err
		}
		r.sum.Broken = broken
		skip = 0
	}
	return r.Close(), nil
}

// latest returns the files that hold the latest bytes, and how much of the first of them is too old.
func latest(fsys fs.FS, files []string, bytesMax int64) ([]string, int64, error) {
	if bytesMax <= 0 {
		return files, 0, nil
	}
	for i := len(files) - 1; i >= 0; i-- {
		info, err := fs.Stat(fsys, files[i])
		if err != nil {
			return nil, 0, err
		}
		if bytesMax -= info.Size(); bytesMax <= 0 {
			return files[i:], -bytesMax, nil
		}
	}
	return files, 0, nil
}

// eachLine calls feed with each line of a file, without the first bytes and the rest of the line that these
// end in. What stands behind the last line end of the last file of a log is half a line that a killed run
// has left, and is not fed: broken says so.
func eachLine(fsys fs.FS, name string, skip int64, last bool, feed func(line []byte) error) (broken bool, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := discard(f, skip-1); err != nil { // one less: if that is a line end, nothing is missing
		return false, fmt.Errorf("record: %s: %w", name, err)
	}
	in := bufio.NewReaderSize(f, 64<<10)
	var long []byte // of a line that is longer than the buffer
	for number := 1; ; {
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
			return false, &LineError{name, number, "", fmt.Sprintf("found a line of more than %d bytes, want one of a log of wedge's", lineBytesMax)}
		case errors.Is(err, io.EOF) && (last || len(bytes.TrimSpace(line)) == 0):
			return len(bytes.TrimSpace(line)) > 0, nil
		case err != nil && !errors.Is(err, io.EOF):
			return false, fmt.Errorf("record: %s: %w", name, err)
		}
		if skip > 0 {
			skip = 0
		} else if err := feed(line); err != nil {
			return false, err
		}
		if err != nil {
			return false, nil
		}
		number++
	}
}

// discard passes over so many bytes.
func discard(f fs.File, n int64) error {
	if n <= 0 {
		return nil
	}
	if s, ok := f.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, f, n)
	return err
}
