package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place puts a directory with the given run.json at dir and opens it.
func place(dir string, run []byte, replace bool, open func(dir string) (disk, error)) (string, disk, error) {
	dir = filepath.Clean(dir)
	taken, err := occupied(dir, replace)
	if err != nil {
		return "", nil, err
	}
	var d disk
	above, err := makeParents(filepath.Dir(dir))
	if err == nil {
		d, err = build(dir, run, taken, open)
	}
	if err != nil {
		for i := len(above) - 1; i >= 0; i-- {
			_ = os.Remove(above[i]) // fails if somebody else has put something there, and should
		}
		return "", nil, fmt.Errorf("bundle: %s cannot be made: %w", dir, err)
	}
	return dir, d, nil
}

// occupied says whether a bundle, or an empty directory, is at dir and may be replaced. Anything else
// there is an error.
func occupied(dir string, replace bool) (bool, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("bundle: %w", err)
	case !info.IsDir():
		return false, fmt.Errorf("bundle: %s exists and is no directory (%s), want a new path or an earlier bundle", dir, info.Mode().Type())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("bundle: %w", err)
	}
	switch {
	case len(entries) == 0:
		return true, nil
	case !replace:
		return false, fmt.Errorf("bundle: %s exists, want a new path", dir)
	case !isBundle(dir):
		return false, fmt.Errorf("bundle: %s exists and is no bundle of an earlier run (its %s does not say so), want a new path or an earlier bundle", dir, RunFile)
	}
	return true, nil
}

// isBundle says whether a directory has a run.json with a schema of ours.
func isBundle(dir string) bool {
	name := filepath.Join(dir, RunFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	const sane = 16 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(f, sane))
	var run struct {
		Schema string `json:"schema"`
	}
	return err == nil && json.Unmarshal(text, &run) == nil && strings.HasPrefix(run.Schema, schemaFamily)
}

// makeParents makes a directory and those above it, and returns the ones that it made, also when it
// fails half-way.
func makeParents(dir string) (made []string, err error) {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is no directory", dir)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if made, err = makeParents(filepath.Dir(dir)); err != nil {
		return made, err
	}
	switch err := os.Mkdir(dir, dirMode); {
	case errors.Is(err, fs.ErrExist):
		return made, nil
	case err != nil:
		return made, err
	}
	return append(made, dir), nil
}

// build makes the directory beside its place and moves it there.
func build(dir string, run []byte, taken bool, open func(dir string) (disk, error)) (disk, error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return nil, err
	}
	made, err := open(temp)
	if err == nil {
		err = write(made, RunFile, run)
		made.close()
	}
	if err == nil {
		err = exchange(temp, dir, taken)
	}
	if err != nil {
		_ = os.RemoveAll(temp) // the first error tells more
		return nil, err
	}
	return open(dir)
}

// exchange renames temp to dir. What is at dir is moved aside before and removed after, so that there
// is a bundle at dir, the old one or the new, at all times but an instant.
func exchange(temp, dir string, taken bool) error {
	if !taken {
		return os.Rename(temp, dir)
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".old-*")
	if err != nil {
		return err
	}
	old := filepath.Join(aside, "bundle")
	if err := os.Rename(dir, old); err != nil {
		_ = os.Remove(aside)
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		_ = os.Rename(old, dir)
		_ = os.Remove(aside)
		return err
	}
	return os.RemoveAll(aside)
}
