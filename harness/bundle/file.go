package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Modes of what a bundle holds.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// WriteFile makes a file with the given content: complete and under its name, or not at all. The
// name is slash-separated and relative to the bundle; folders are made as needed. Failures are kept:
// see [Bundle.Err].
func (b *Bundle) WriteFile(name string, content []byte) {
	if b == nil || b.stopped() {
		return
	}
	if !strings.HasSuffix(name, ".gz") {
		content = b.redact(content)
	}
	if err := b.writeFile(name, content); err != nil {
		b.fail("writing "+name, err)
	}
}

// WriteJSON makes a file with the indented JSON of v.
func (b *Bundle) WriteJSON(name string, v any) {
	if b == nil || b.stopped() {
		return
	}
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		b.fail("writing "+name, err)
		return
	}
	b.WriteFile(name, append(text, '\n'))
}

func (b *Bundle) writeFile(name string, content []byte) error {
	if err := b.ensureDir(parent(name)); err != nil {
		return err
	}
	temp := part(name)
	if err := write(b.disk, temp, content); err != nil {
		_ = b.disk.remove(temp) // the first error tells more
		return err
	}
	return b.disk.rename(temp, name)
}

// write makes a file and fills it.
func write(d disk, name string, content []byte) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	n, err := f.Write(content)
	if err == nil && n < len(content) {
		err = fmt.Errorf("short write: %d of %d bytes", n, len(content))
	}
	return errors.Join(err, f.Close())
}

// ensureDir makes a folder and those above it.
func (b *Bundle) ensureDir(dir string) error {
	if dir == "" {
		return nil
	}
	b.mu.Lock()
	known := slices.Contains(b.dirs, dir)
	b.mu.Unlock()
	if known {
		return nil
	}
	if err := b.ensureDir(parent(dir)); err != nil {
		return err
	}
	if err := b.disk.mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	b.mu.Lock()
	b.dirs = append(b.dirs, dir)
	b.mu.Unlock()
	return nil
}

// Rename gives a file another name. It does nothing if there is no such file.
func (b *Bundle) Rename(from, to string) {
	if b == nil || b.stopped() {
		return
	}
	if err := b.disk.rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.fail("renaming "+from+" to "+to, err)
	}
}

// RemoveAll removes a folder and what is in it. It does nothing if there is no such folder.
func (b *Bundle) RemoveAll(dir string) {
	if b == nil || b.stopped() {
		return
	}
	b.mu.Lock()
	b.dirs = slices.DeleteFunc(b.dirs, func(d string) bool { return d == dir || strings.HasPrefix(d, dir+"/") })
	b.mu.Unlock()
	if err := b.disk.removeAll(dir); err != nil {
		b.fail("removing "+dir, err)
	}
}

// disk is the directory that a bundle writes to: the machine's, or in tests one that fails. Names are
// slash-separated and relative to it.
type disk interface {
	create(name string) (file, error) // for writing; it may exist
	mkdir(name string) error
	rename(from, to string) error
	remove(name string) error
	removeAll(name string) error
	grow(name string) (f file, size int64, err error) // for a log: what is written goes to the end
	exists(name string) error                         // not nil if there is no such file
	fsys() fs.FS                                      // for reading
	vanished() error                                  // not nil if the directory is not where it was
	close()
}

// file is an open file of a disk.
type file interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, at int64) (int, error)
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

// rootDisk is a directory of the machine. It is held open, so that nothing can be written outside it
// and renaming it does no harm.
type rootDisk struct {
	dir  string
	root *os.Root
	held *os.File // the directory, so that nobody else resumes it
}

// errHeld is of a directory that somebody else writes to.
var errHeld = errors.New("another process is writing it")

func openDisk(dir string) (disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	held, err := hold(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	return &rootDisk{dir: dir, root: root, held: held}, nil
}

func (d *rootDisk) create(name string) (file, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
}

func (d *rootDisk) grow(name string) (file, int64, error) {
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (d *rootDisk) mkdir(name string) error      { return d.root.Mkdir(name, dirMode) }
func (d *rootDisk) rename(from, to string) error { return d.root.Rename(from, to) }
func (d *rootDisk) remove(name string) error     { return d.root.Remove(name) }
func (d *rootDisk) removeAll(name string) error  { return d.root.RemoveAll(name) }
func (d *rootDisk) fsys() fs.FS                  { return d.root.FS() }

func (d *rootDisk) close() {
	d.held.Close() // which was only held
	d.root.Close()
}

func (d *rootDisk) exists(name string) error {
	_, err := d.root.Lstat(name)
	return err
}

func (d *rootDisk) vanished() error {
	there, err := os.Lstat(d.dir)
	if err != nil {
		return err
	}
	held, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(there, held) {
		return errors.New("another one has taken its place")
	}
	return nil
}
