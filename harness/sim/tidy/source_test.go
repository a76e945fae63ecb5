package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "example.com/wedge"

// pkg is a package's non-test source.
type pkg struct {
	dir   string // relative to the module, with slashes
	name  string
	files []*file
}

type file struct {
	path string // relative to the module, with slashes
	text string
	ast  *ast.File
}

// module is all source there is.
type module struct {
	root string
	fset *token.FileSet
	pkgs []*pkg // in the order of their directories
}

// finding is a broken rule.
type finding struct {
	where token.Position
	text  string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s", f.where.Filename, f.where.Line, f.text)
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// load parses the whole module. It does not need it to compile.
func load(t *testing.T) *module {
	t.Helper()
	m := &module{root: moduleRoot(t), fset: token.NewFileSet()}
	err := filepath.WalkDir(m.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); rel != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "wedge-out") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return m.add(rel, string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.pkgs) < 3 {
		t.Fatalf("only %d packages found under %s", len(m.pkgs), m.root)
	}
	return m
}

// add parses a file. A syntax error is the compiler's business: what could be parsed is looked at.
func (m *module) add(name, text string) error {
	f, err := parser.ParseFile(m.fset, name, text, parser.ParseComments)
	if f == nil {
		return err
	}
	dir := path.Dir(name)
	p := m.find(dir)
	if p == nil {
		p = &pkg{dir: dir, name: f.Name.Name}
		m.pkgs = append(m.pkgs, p)
	}
	p.files = append(p.files, &file{path: name, text: text, ast: f})
	return nil
}

func (m *module) find(dir string) *pkg {
	for _, p := range m.pkgs {
		if p.dir == dir {
			return p
		}
	}
	return nil
}

func (m *module) at(pos token.Pos) token.Position { return m.fset.Position(pos) }

// importPath returns the path that an import spec names.
func importPath(s *ast.ImportSpec) string { return strings.Trim(s.Path.Value, "`\"") }

func report(t *testing.T, findings []finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

// sourceOf makes a module of one file, for canaries.
func sourceOf(t *testing.T, name, text string) *module {
	t.Helper()
	m := &module{root: moduleRoot(t), fset: token.NewFileSet()}
	if err := m.add(name, text); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

// canaries runs a rule over snippets. It must find something with the text on each line that has a
// comment `// want: text`, and nothing elsewhere.
func canaries(t *testing.T, rule func(m *module) []finding, name string, snippets ...string) {
	t.Helper()
	caught := 0
	for _, text := range snippets {
		got := rule(sourceOf(t, name, text))
		for i, line := range strings.Split(text, "\n") {
			_, want, wanted := strings.Cut(line, "// want: ")
			found := false
			for _, f := range got {
				if f.where.Line == i+1 && !wanted {
					t.Errorf("%v, unexpectedly, in\n%s", f, text)
				}
				found = found || f.where.Line == i+1 && strings.Contains(f.text, want)
			}
			if wanted && !found {
				t.Errorf("line %d: not caught: want %q, in\n%s", i+1, want, text)
			}
			if wanted && found {
				caught++
			}
		}
	}
	if caught == 0 {
		t.Error("no canary was caught")
	}
}
