package agents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Directory is a workspace of real files: its methods do file I/O and so belong to worlds on the
// wall. An article that was saved is there after a crash, in full, as it was at its last save. Drafts
// are in a folder of their own and are not worth keeping. Make one with [NewDirectory].
type Directory struct {
	shared *Shared
	root   *os.Root // refuses paths and links that lead out of the directory
	// before is called ahead of each operation of a save, for tests; its error fails the save there.
	before func(operation string) error
}

var _ Workspace = (*Directory)(nil)

const (
	draftsFolder = ".drafts" // the drafts, under the paths of their articles
	savingFolder = ".saving" // files that are being saved: in the same file system as their final place
)

// NewDirectory returns a workspace of files under dir, which is made if it does not exist. Only the
// user can read what it writes.
func NewDirectory(s *Shared, dir string) (*Directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("agents: workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("agents: workspace: %w", err)
	}
	return &Directory{shared: s, root: root, before: func(string) error { return nil }}, nil
}

// Close gives back the handle of the directory. The files stay.
func (d *Directory) Close() error { return d.root.Close() }

// Shared implements Workspace.
func (d *Directory) Shared() *Shared { return d.shared }

// Write implements Workspace.
func (d *Directory) Write(path, text string) error { return d.draft(path, text, os.O_TRUNC) }

// Append implements Workspace.
func (d *Directory) Append(path, text string) error { return d.draft(path, text, os.O_APPEND) }

func (d *Directory) draft(name, text string, flag int) error {
	if err := checkPath(name); err != nil {
		return err
	}
	f, err := d.create(path.Join(draftsFolder, name), flag)
	if err != nil {
		return fmt.Errorf("agents: workspace: draft of %s: %w", name, err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("agents: workspace: draft of %s: %w", name, err)
	}
	return nil
}

// create opens a file for writing, in a folder that need not exist yet.
func (d *Directory) create(name string, flag int) (*os.File, error) {
	flag |= os.O_WRONLY | os.O_CREATE
	f, err := d.root.OpenFile(name, flag, 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, flag, 0o600)
}

// Save implements Workspace. The draft is copied to a new file, which takes the article's place only
// when the disk has it; a crash at any point leaves the old article or the new one.
func (d *Directory) Save(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	draft, err := d.root.Open(path.Join(draftsFolder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoDraft
	}
	if err == nil {
		err = errors.Join(d.replace(name, draft), draft.Close())
	}
	if err != nil {
		return fmt.Errorf("agents: workspace: save %s: %w", name, err)
	}
	return nil
}

// Forget implements Workspace.
func (d *Directory) Forget(task string) error {
	folder := folderOf(task)
	for _, name := range []string{folder, path.Join(draftsFolder, folder), path.Join(savingFolder, folder)} {
		if err := d.root.RemoveAll(name); err != nil {
			return fmt.Errorf("agents: workspace: forget %s: %w", task, err)
		}
	}
	return nil
}

func (d *Directory) replace(name string, content io.Reader) error {
	saving := path.Join(savingFolder, name)
	if err := d.copyDurably(saving, content); err != nil {
		return err
	}
	if err := d.makeFolder(path.Dir(name)); err != nil {
		return err
	}
	if err := d.before("rename"); err != nil {
		return err
	}
	if err := d.root.Rename(saving, name); err != nil {
		return err
	}
	// The rename itself is on the disk once the folder is.
	return d.syncFolder(path.Dir(name))
}

func (d *Directory) copyDurably(name string, content io.Reader) error {
	if err := d.before("write"); err != nil {
		return err
	}
	f, err := d.create(name, os.O_TRUNC)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, content); err == nil {
		err = d.before("sync file")
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeFolder makes a folder, and its parents, durable.
func (d *Directory) makeFolder(name string) error {
	if _, err := d.root.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := path.Dir(name)
	if err := d.makeFolder(parent); err != nil {
		return err
	}
	if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncFolder(parent)
}

func (d *Directory) syncFolder(name string) error {
	if err := d.before("sync folder"); err != nil {
		return err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
