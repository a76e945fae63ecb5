package diagnose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// noImports stands for packages whose insides do not matter here.
type noImports struct{}

var _ types.Importer = noImports{}

func (noImports) Import(p string) (*types.Package, error) {
	pkg := types.NewPackage(p, path.Base(p))
	pkg.MarkComplete()
	return pkg, nil
}

// sources parses the package without its tests.
func sources(t *testing.T, fset *token.FileSet) []*ast.File {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// evidenceOnly are the names of wedge's packages that the diagnosis may use: records of what was seen, and
// none that would lead to what is simulated, or to the harness at work. Names that begin with one that ends
// in * are meant too.
var evidenceOnly = map[string][]string{
	"harness": {"Evidence", "Setup", "Totals", "Sample", "Gauge*", "AgentState", "AgentEnd", "ToolStats", "RouterView", "RouterRequest", "RouterAnswer", "GoroutineView", "WaitsView", "WaitsFinding", "StageCount"},
	"sim":     {"Instant", "ObjectState", "ProcessState", "Party"},
	"pacer":   {"CallState", "Stage*", "Limit*"},
}

// TestReadsEvidenceOnly parses the package's source: of the packages that a run is made of it uses only
// what a run against real servers writes down too.
func TestReadsEvidenceOnly(t *testing.T) {
	fset := token.NewFileSet()
	used := map[string]int{}
	for _, f := range sources(t, fset) {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || evidenceOnly[x.Name] == nil || x.Obj != nil {
				return true
			}
			used[x.Name]++
			for _, allowed := range evidenceOnly[x.Name] {
				if stem, open := strings.CutSuffix(allowed, "*"); sel.Sel.Name == allowed || open && strings.HasPrefix(sel.Sel.Name, stem) {
					return true
				}
			}
			t.Errorf("%s uses %s.%s, which is no record of what was seen", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
			return true
		})
	}
	for name := range evidenceOnly {
		if used[name] == 0 {
			t.Errorf("nothing of %s is used: this test cannot fail", name)
		}
	}
}

// TestRules parses the package's source: it may import four packages of wedge, may not read a clock
// or draw numbers, and may not range over a map, since its verdicts are the same byte for byte.
func TestRules(t *testing.T) {
	fset := token.NewFileSet()
	files := sources(t, fset)
	allowed := map[string]bool{"example.com/wedge/harness": true, "example.com/wedge/harness/sim": true, "example.com/wedge/harness/waitgraph": true, "example.com/wedge/pacer": true}
	refused := map[string]bool{"math/rand": true, "math/rand/v2": true, "os": true, "sync": true, "net/http": true, "context": true}
	for _, f := range files {
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if strings.Contains(path, ".") && !allowed[path] || refused[path] {
				t.Errorf("%s imports %s", fset.Position(spec.Pos()), path)
			}
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// What is imported stays unknown, which is an error that does not matter: the maps are our own.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	_, _ = config.Check("diagnose", fset, files, info)
	maps := 0
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt:
				t.Errorf("%s: goroutines have no place in a pure function", fset.Position(n.Pos()))
			case *ast.RangeStmt:
				if tv, ok := info.Types[n.X]; !ok || tv.Type == nil {
					return true
				} else if _, ok := tv.Type.Underlying().(*types.Map); ok {
					t.Errorf("%s ranges over a map: use a slice", fset.Position(n.Pos()))
				}
			case *ast.MapType:
				maps++
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since") {
					t.Errorf("%s reads the clock: time is an argument", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	if maps == 0 {
		t.Error("no map found: this test cannot fail")
	}
}
