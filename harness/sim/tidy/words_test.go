package tidy

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// forbiddenWords would tie the module to one machine. They are put together here so that this file
// does not contain them.
var forbiddenWords = []string{"/wo" + "rk/", "/ro" + "ot/", "/tmp" + "/bash"}

// ruleWords looks for words that must not be in any file, except in the middle of a longer path.
func ruleWords(name string, text []byte) []finding {
	var out []finding
	for _, w := range forbiddenWords {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(w))
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			if i > 0 && (unicode.IsLetter(rune(text[i-1])) || unicode.IsDigit(rune(text[i-1]))) {
				continue
			}
			var f finding
			f.where.Filename, f.where.Line = name, 1+bytes.Count(text[:i], []byte("\n"))
			f.text = "mentions " + w + ", a path of some machine"
			out = append(out, f)
		}
	}
	return out
}

// files lists what git tracks or would add. Without git, as in an unpacked archive, that is every file.
func files(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	if list, err := cmd.Output(); err == nil {
		return strings.Split(strings.TrimRight(string(list), "\x00"), "\x00"), nil
	}
	return walk(root)
}

// walk lists every file but those of git itself.
func walk(root string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func TestWalk(t *testing.T) {
	names, err := walk(moduleRoot(t))
	if err != nil || !slices.Contains(names, "go.mod") || !slices.Contains(names, ".ci/run") {
		t.Errorf("%d files, %v", len(names), err)
	}
}

func TestWords(t *testing.T) {
	root := moduleRoot(t)
	list, err := files(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range list {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil { // deleted, and not committed yet
			continue
		}
		seen++
		report(t, ruleWords(name, text))
	}
	if seen < 10 {
		t.Errorf("only %d files read", seen)
	}
}

func TestWordsCanaries(t *testing.T) {
	for _, w := range forbiddenWords {
		if got := ruleWords("x.md", []byte("first\nsee "+w+"main\n")); len(got) != 1 || got[0].where.Line != 2 {
			t.Errorf("%s: %v", w, got)
		}
	}
	if got := ruleWords("x.md", []byte("frame"+strings.Join(forbiddenWords, "a"))); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}
