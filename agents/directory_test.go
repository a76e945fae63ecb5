package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
)

func sharedOf(t testing.TB) *Shared {
	t.Helper()
	wf := DefaultWorkflow()
	return NewShared(sim.NewWall(sim.WallOptions{}), &wf)
}

func openDirectory(t testing.TB, dir string) *Directory {
	t.Helper()
	d, err := NewDirectory(sharedOf(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestDirectorySavesInACrashSafeOrder(t *testing.T) {
	d := openDirectory(t, filepath.Join(t.TempDir(), "new", "workspace"))
	var order []string
	d.before = func(operation string) error {
		order = append(order, operation)
		return nil
	}
	must(t, d.Write("t/a.md", "one "), d.Append("t/a.md", "two"), d.Save("t/a.md"))
	// The folder is new, so the one above it is synced first.
	want := []string{"write", "sync file", "sync folder", "rename", "sync folder"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
	order = nil
	must(t, d.Append("t/a.md", " three"), d.Save("t/a.md"))
	if want := []string{"write", "sync file", "rename", "sync folder"}; !slices.Equal(order, want) {
		t.Errorf("order of the second save %q, want %q", order, want)
	}
}

// Whichever operation a save fails at, the article is the old one or the new one, and the next save
// works.
func TestDirectorySaveThatFails(t *testing.T) {
	broken := errors.New("broken")
	for n := range 4 {
		t.Run(fmt.Sprint("operation ", n+1), func(t *testing.T) {
			dir := t.TempDir()
			d := openDirectory(t, dir)
			must(t, d.Write("t/a.md", "old"), d.Save("t/a.md"), d.Write("t/a.md", "new"))
			done := 0
			d.before = func(operation string) error {
				if done++; done == n+1 {
					return broken
				}
				return nil
			}
			err := d.Save("t/a.md")
			if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "agents: workspace: save t/a.md: ") {
				t.Errorf("error %v", err)
			}
			want := "old"
			if n == 3 { // after the rename
				want = "new"
			}
			if got, err := os.ReadFile(filepath.Join(dir, "t/a.md")); err != nil || string(got) != want {
				t.Errorf("article %q (%v), want %q", got, err, want)
			}
			must(t, d.Append("t/a.md", "er"), d.Save("t/a.md"))
			if got, err := os.ReadFile(filepath.Join(dir, "t/a.md")); err != nil || string(got) != "newer" {
				t.Errorf("after another save: article %q (%v)", got, err)
			}
		})
	}
}

func TestDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workspace")
	d := openDirectory(t, dir)
	must(t, d.Write("t/a.md", "text"), d.Save("t/a.md"), d.Append("u/b.md", "text"))
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %v, want %v", path, got, want)
		}
		return nil
	}))
	if files != 3 { // two drafts, one article
		t.Errorf("%d files, want 3", files)
	}
}

func TestWorkspacesRefusePaths(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "workspace"), 0o700))
	must(t, os.Symlink(dir, filepath.Join(dir, "workspace", "link")))
	for _, ws := range []Workspace{NewMemory(sharedOf(t)), openDirectory(t, filepath.Join(dir, "workspace"))} {
		for _, path := range []string{"", ".", "..", "../x", "a/../../x", "/etc/x", "a//b", "a/./b", "./a", ".drafts/t/a", ".saving/x"} {
			for name, use := range map[string]func() error{
				"write":  func() error { return ws.Write(path, "x") },
				"append": func() error { return ws.Append(path, "x") },
				"save":   func() error { return ws.Save(path) },
			} {
				if err := use(); err == nil || errors.Is(err, ErrNoDraft) {
					t.Errorf("%T: %s %q: error %v, want a refusal", ws, name, path, err)
				}
			}
		}
		if err := ws.Save("t/never.md"); err != ErrNoDraft { //nolint:errorlint // as it is
			t.Errorf("%T: %v, want %v", ws, err, ErrNoDraft)
		}
	}
	d := openDirectory(t, filepath.Join(dir, "workspace"))
	must(t, d.Write("link/a.md", "x"))
	if err := d.Save("link/a.md"); err == nil {
		t.Error("a save followed a link out of the directory")
	}
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := NewDirectory(sharedOf(t), file); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line", err)
	}
	dir := t.TempDir()
	d := openDirectory(t, filepath.Join(dir, "workspace"))
	must(t, os.RemoveAll(dir))
	if err := d.Write("t/a.md", "x"); err == nil || !strings.HasPrefix(err.Error(), "agents: workspace: draft of t/a.md: ") {
		t.Errorf("a lost directory: error %v", err)
	}
}

// The two workspaces agree in everything that can be asked of both.
func TestWorkspacesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	memory, directory := NewMemory(sharedOf(t)), openDirectory(t, dir)
	saves := 0
	for i := range 600 {
		path := fmt.Sprintf("task-%d/%c.md", r.IntN(5), 'a'+r.IntN(3))
		text := filler(r.IntN(200))
		var one, other error
		switch r.IntN(4) {
		case 0:
			one, other = memory.Write(path, text), directory.Write(path, text)
		case 1, 2:
			one, other = memory.Append(path, text), directory.Append(path, text)
		case 3:
			one, other = memory.Save(path), directory.Save(path)
			saves++
		}
		if one != other { //nolint:errorlint // nil or ErrNoDraft
			t.Fatalf("step %d: %v and %v", i, one, other)
		}
		want, saved := memory.Article(path)
		got, err := os.ReadFile(filepath.Join(dir, path))
		if string(got) != want || saved == errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("step %d: %s: %q (%v) and %q (%v)", i, path, got, err, want, saved)
		}
	}
	if saves < 100 {
		t.Errorf("only %d saves", saves)
	}
}
