package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustCreate(t *testing.T, dir string, o Options) *Bundle {
	t.Helper()
	b, err := Create(dir, Run{Name: "tiny", Seed: 7, Clock: "virtual", Version: "test"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// tree lists what is below dir, with modes, for comparison.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%v %s\n", info.Mode(), filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCreateAndWrite(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "out", "tiny-7")
	b := mustCreate(t, dir, Options{})
	events := b.Log(EventsLog)
	events.Write([]byte("{\"a\":1}\n"))
	events.Write([]byte("{\"a\":2}\n"))
	if got := read(t, dir, EventsLog); got != "" {
		t.Errorf("before a flush the log holds %q", got)
	}
	b.Flush()
	if got := read(t, dir, EventsLog); got != "{\"a\":1}\n{\"a\":2}\n" {
		t.Errorf("after a flush the log holds %q", got)
	}
	b.WriteJSON("stalls/01/verdict.json", map[string]int{"n": 1})
	b.WriteFile("stalls/01/goroutines.txt", []byte("one\n"))
	b.Rename("stalls/01/goroutines.txt", "stalls/01/goroutines-1.txt")
	b.Rename("stalls/01/none", "stalls/01/other")
	b.WriteFile("stalls/02/x", nil)
	b.RemoveAll("stalls/02")
	b.WriteFile("stalls/02/y", nil)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := `drwx------ .
-rw------- events.jsonl
-rw------- run.json
drwx------ stalls
drwx------ stalls/01
-rw------- stalls/01/goroutines-1.txt
-rw------- stalls/01/verdict.json
drwx------ stalls/02
-rw------- stalls/02/y
`
	if got := tree(t, dir); got != want {
		t.Errorf("the bundle is\n%swant\n%s", got, want)
	}
	var run Run
	if err := json.Unmarshal([]byte(read(t, dir, RunFile)), &run); err != nil || run.Schema != Schema || run.Seed != 7 || run.Go != "" {
		t.Errorf("run.json reads %+v, %v", run, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("beside the bundle are %v", left)
	}
}

func TestWallRunSaysWhereItRan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b, err := Create(dir, Run{Name: "x", Clock: "wall"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var run Run
	if err := json.Unmarshal([]byte(read(t, dir, RunFile)), &run); err != nil || run.Go == "" || run.Platform == "" || run.Started == "" {
		t.Errorf("run.json reads %+v, %v", run, err)
	}
}

func TestCreateTouchesNothingOfOthers(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(t *testing.T, dir string)
		replace bool
		want    string // in the error; "": replaced
	}{
		{"nothing there", func(*testing.T, string) {}, true, ""},
		{"an empty directory", func(t *testing.T, dir string) { os.Mkdir(dir, 0o755) }, true, ""},
		{"an empty directory, new path wanted", func(t *testing.T, dir string) { os.Mkdir(dir, 0o755) }, false, ""},
		{"an earlier bundle", earlier, true, ""},
		{"an earlier bundle, new path wanted", earlier, false, "exists, want a new path"},
		{"a directory of somebody else", func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o644)
		}, true, "no bundle"},
		{"somebody else's run.json", func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, RunFile), []byte(`{"schema":"other/1"}`), 0o644)
		}, true, "no bundle"},
		{"a run.json that is none", func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, RunFile), []byte(`wedge.run/1`), 0o644)
		}, true, "no bundle"},
		{"a file", func(t *testing.T, dir string) { os.WriteFile(dir, []byte("x"), 0o644) }, true, "no directory"},
		{"a link to an earlier bundle", func(t *testing.T, dir string) {
			earlier(t, dir+"-real")
			os.Symlink(filepath.Base(dir)+"-real", dir)
		}, true, "no directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "b")
			c.before(t, dir)
			before := tree(t, top)
			b, err := Create(dir, Run{Name: "new"}, Options{Replace: c.replace})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q, want one line with %q", err, c.want)
				}
				if after := tree(t, top); after != before {
					t.Errorf("before\n%safter\n%s", before, after)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b.Close()
			if got, want := tree(t, top), "drwx------ b\n-rw------- b/run.json\n"; !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 3 {
				t.Errorf("left behind\n%s", got)
			}
		})
	}
}

func earlier(t *testing.T, dir string) {
	b := mustCreate(t, dir, Options{})
	b.WriteFile("old.txt", []byte("old"))
	b.Close()
}

func TestCreateWhereNobodyMayWrite(t *testing.T) {
	top := t.TempDir()
	os.WriteFile(filepath.Join(top, "file"), nil, 0o600)
	for _, dir := range []string{filepath.Join(top, "file", "b"), filepath.Join(top, "x", "y", strings.Repeat("n", 300))} {
		before := tree(t, top)
		_, err := Create(dir, Run{}, Options{Replace: true})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line", dir, err)
		}
		if after := tree(t, top); after != before {
			t.Errorf("before\n%safter\n%s", before, after)
		}
	}
}

func TestNilWritesNothing(t *testing.T) {
	var b *Bundle
	if n, err := b.Log(EventsLog).Write([]byte("x\n")); n != 2 || err != nil {
		t.Error(n, err)
	}
	b.WriteFile("a", nil)
	b.WriteJSON("b", 1)
	b.Rename("a", "b")
	b.RemoveAll("a")
	b.Flush()
	if b.Dir() != "" || b.Err() != nil || b.Close() != nil {
		t.Error("a nil bundle says something")
	}
}

func TestSecretsAreInNoFile(t *testing.T) {
	const key = `sk-"1234567890`
	dir := filepath.Join(t.TempDir(), "b")
	b, err := Create(dir, Run{Name: "x", Config: map[string]string{"oops": key}}, Options{Secrets: []string{key, "", "EMPTY"}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b.Log(RouterLogFile), "refused %s\n", key)
	b.WriteJSON("calls.json", map[string]string{"error": "bad key " + key, "word": "EMPTY"})
	b.WriteFile("goroutines.txt", []byte(key))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{RunFile, RouterLogFile, "calls.json", "goroutines.txt"} {
		text := read(t, dir, name)
		if strings.Contains(text, "1234567890") || !strings.Contains(text, "[redacted]") {
			t.Errorf("%s holds %s", name, text)
		}
	}
	if !strings.Contains(read(t, dir, "calls.json"), "EMPTY") {
		t.Error("a placeholder was taken for a secret")
	}
}
