package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a disk with so many bytes left. Like a real one, it writes what fits and then fails.
type fullDisk struct {
	disk
	left *int
}

type fullFile struct {
	file
	left *int
}

func (d fullDisk) create(name string) (file, error) {
	f, err := d.disk.create(name)
	if err != nil {
		return nil, err
	}
	return fullFile{f, d.left}, nil
}

func (f fullFile) Write(p []byte) (int, error) {
	fits := min(*f.left, len(p))
	*f.left -= fits
	n, err := f.file.Write(p[:fits])
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "write", Path: "somewhere", Err: syscall.ENOSPC}
	}
	return n, err
}

// TestDiskFull fills the disk at every size: whatever fits, there is one error, every log holds whole
// lines, and every other file is complete or absent.
func TestDiskFull(t *testing.T) {
	calls := []byte("{\"calls\":[1,2,3,4,5,6,7,8,9]}\n")
	failed := 0
	for room := 0; room < 900; room += 7 {
		top := t.TempDir()
		dir := filepath.Join(top, "b")
		left := room
		open := func(dir string) (disk, error) {
			d, err := openDisk(dir)
			return fullDisk{d, &left}, err
		}
		b, err := create(dir, Run{Name: "x"}, Options{Inline: true}, open)
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) || tree(t, top) != tree(t, t.TempDir()) {
				t.Fatalf("room %d: %v; left\n%s", room, err, tree(t, top))
			}
			continue
		}
		l := b.Log(EventsLog)
		for i := range 12 {
			fmt.Fprintf(l, "line %d\n", i)
			if i%3 == 2 {
				b.Flush()
				b.WriteFile(fmt.Sprintf("stalls/01/calls-%d.json", i), calls)
			}
		}
		err = b.Close()
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
				t.Errorf("room %d: error %q", room, err)
			}
		}
		if text := read(t, dir, EventsLog); text != "" && text[len(text)-1] != '\n' {
			t.Errorf("room %d: the log ends in %q", room, text)
		}
		written, _ := filepath.Glob(filepath.Join(dir, "stalls/01/*"))
		for _, name := range written {
			if got := read(t, name); got != string(calls) {
				t.Errorf("room %d: %s holds %q", room, name, got)
			}
		}
		if hidden, _ := filepath.Glob(filepath.Join(dir, "stalls/01/.*")); len(hidden) > 0 {
			t.Errorf("room %d: left behind %v", room, hidden)
		}
	}
	if failed < 10 {
		t.Errorf("the disk was full %d times only", failed)
	}
}

func TestDirectoryVanishes(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string)
	}{
		{"removed", func(t *testing.T, dir string) { os.RemoveAll(dir) }},
		{"moved", func(t *testing.T, dir string) { os.Rename(dir, dir+"-moved") }},
		{"replaced by a later run", func(t *testing.T, dir string) { mustCreate(t, dir, Options{Replace: true}) }},
		{"a log removed", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, EventsLog)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "b")
			b := mustCreate(t, dir, Options{})
			l := b.Log(EventsLog)
			l.Write([]byte("one\n"))
			b.Flush()
			c.do(t, dir)
			l.Write([]byte("two\n"))
			b.Flush()
			first := b.Err()
			b.WriteFile("verdict.json", []byte("{}"))
			if err := b.Close(); err == nil || err != first || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, then %v; want one that stays", first, err)
			}
		})
	}
}
