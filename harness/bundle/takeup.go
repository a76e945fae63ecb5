package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// takeUp opens the bundle at dir, if it is one of a run with the given run.json. loose allows another
// version of wedge.
func takeUp(dir string, run []byte, loose bool, open func(dir string) (disk, error)) (string, disk, error) {
	dir = filepath.Clean(dir)
	if !isBundle(dir) {
		return "", nil, fmt.Errorf("bundle: %s cannot be resumed: it is no bundle of an earlier run", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err == nil {
		err = sameRun(text, run, loose)
	}
	var d disk
	if err == nil {
		d, err = open(dir)
	}
	if err != nil {
		return "", nil, fmt.Errorf("bundle: %s cannot be resumed: %w", dir, withoutPath(err))
	}
	if err := removeParts(d); err != nil {
		d.close()
		return "", nil, fmt.Errorf("bundle: %s cannot be resumed: %w", dir, withoutPath(err))
	}
	return dir, d, nil
}

// removeParts removes the files that a process was writing when it was killed.
func removeParts(d disk) error {
	return fs.WalkDir(d.fsys(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isPart(name) {
			return err
		}
		return d.remove(name)
	})
}

// interruptedMark is a file that is there while a replay has not passed yet what an interrupted process
// wrote: whoever is killed meanwhile may say no more than that it was running.
const interruptedMark = ".interrupted"

// markInterrupted keeps in the bundle that its run was interrupted, or finds out that it was.
func (b *Bundle) markInterrupted() error {
	switch {
	case b.o.AppendLogs:
		return nil
	case b.o.Interrupted:
		return write(b.disk, interruptedMark, nil)
	}
	b.o.Interrupted = b.disk.exists(interruptedMark) == nil
	return nil
}

// unmarkInterrupted is for a replay that has passed everything.
func (b *Bundle) unmarkInterrupted() {
	if !b.o.Resume || !b.o.Interrupted || b.stopped() {
		return
	}
	if err := b.disk.remove(interruptedMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.fail("removing "+interruptedMark, err)
	}
}

// part returns the name of a file while it is being written: one that cannot be mistaken for the
// file's, in the same folder, so that the rename is one step.
func part(name string) string { return path.Join(parent(name), "."+path.Base(name)+".part") }

func isPart(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".part")
}

// sameRun compares two run.json: an error says in what the second differs from the first. Where and
// when they were written is no difference, and if loose neither is the version of wedge.
func sameRun(there, here []byte, loose bool) error {
	a, err := decode(there)
	if err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	b, err := decode(here)
	if err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	for _, field := range []string{"go", "platform", "started"} {
		delete(a, field)
		delete(b, field)
	}
	if loose {
		delete(a, "version")
		delete(b, "version")
	}
	for _, field := range []string{"schema", "name", "seed", "clock", "scale"} { // what tells most, first
		if err := sameValue(field, a[field], b[field]); err != nil {
			return err
		}
	}
	return sameValue("", a, b)
}

func decode(text []byte) (map[string]any, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber() // a seed has 64 bits
	var out map[string]any
	err := in.Decode(&out)
	return out, err
}

// sameValue returns an error that names the first difference, by the names of fields.
func sameValue(field string, a, b any) error {
	am, aIs := a.(map[string]any)
	bm, bIs := b.(map[string]any)
	if !aIs || !bIs {
		at, bt := short(a), short(b)
		if !bytes.Equal(at, bt) {
			return fmt.Errorf("%s is %.80s in its %s and %.80s now", field, at, RunFile, bt)
		}
		return nil
	}
	var names []string
	for name := range am {
		names = append(names, name)
	}
	for name := range bm {
		if _, ok := am[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		inner := strings.TrimPrefix(field+"."+name, ".")
		if err := sameValue(inner, am[name], bm[name]); err != nil {
			return err
		}
	}
	return nil
}

// short returns a value as JSON; a field that is not there is "none".
func short(v any) []byte {
	if v == nil {
		return []byte("none")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error()) // cannot be: it was decoded
	}
	return text
}
