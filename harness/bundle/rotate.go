package bundle

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rotation bounds a log. With it NAME.jsonl is a sequence of files NAME-000001.jsonl,
// NAME-000002.jsonl and so on, each cut at the end of a line. Which line is in which file depends on
// the lines alone, not on when they were written. The zero value is one file without a bound.
type Rotation struct {
	// BytesMax is the most that one file holds, but that a longer line has a file of its own. 0: no
	// rotation.
	BytesMax int64
	// FilesMax is how many files of a log are kept: the oldest are removed. 0: all.
	FilesMax int
}

// position is where a line belongs: the number of the file, 0 if the log is not rotated, and how many
// bytes of lines stand before it in that file, lost ones among them. It depends on the lines alone.
type position struct {
	number int
	bytes  int64
}

// fits returns how many bytes of whole lines, at the beginning of lines, belong into the file at the
// position: 0 if the next line begins the next file.
func (r Rotation) fits(at position, lines []byte) int {
	room := r.BytesMax - at.bytes
	if at.number == 0 || room >= int64(len(lines)) {
		return len(lines)
	}
	n := bytes.LastIndexByte(lines[:max(room, 0)], '\n') + 1
	if n == 0 && at.bytes == 0 {
		return bytes.IndexByte(lines, '\n') + 1
	}
	return n
}

// LogOptions says how one log is written, where that is not as the bundle's [Options] say.
type LogOptions struct {
	// Rotate is this log's rotation.
	Rotate Rotation
	// Append, in a bundle that is resumed, lets this log go on after its last whole line although the
	// others are replayed: for lines that come out differently each time, such as measurements of the
	// process.
	Append bool
}

// Logs returns the names of the files that hold the log with the given name, in the order of their
// lines: the one file of a log that was not rotated, or those of the sequence that are still there.
// It returns none if there is no such log, and an error if the folder cannot be read.
func Logs(fsys fs.FS, name string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, path.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("bundle: files of %s: %w", name, withoutPath(err))
	}
	var numbers []int
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		switch n, ok := numberOf(name, e.Name()); {
		case e.Name() == path.Base(name):
			out = append(out, name)
		case ok:
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		out = append(out, numbered(name, n))
	}
	return out, nil
}

// numbered returns the name of a log's n-th file, counted from 1; 0 is a log that is not rotated.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s-%06d%s", strings.TrimSuffix(name, ext), n, ext)
}

// numberOf returns which file of the log name the file with the given base name is.
func numberOf(name, base string) (n int, ok bool) {
	ext := path.Ext(name)
	digits, ok := strings.CutPrefix(base, strings.TrimSuffix(path.Base(name), ext)+"-")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(digits, ext))
	return n, err == nil && n > 0 && base == path.Base(numbered(name, n))
}
