package tidy

import (
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	unorderedMark = "//wedge:unordered"
	orderInstead  = "collect the keys and sort them in the next statement, or range over slices.Sorted(maps.Keys(m)), or say why order cannot matter in a comment " + unorderedMark + " REASON"
)

// ruleMapRange refuses iteration in the random order of a map, in packages that also run in virtual
// time. Ranging without variables is let through, as is a loop that only collects the keys or values
// into a slice that the next statement sorts.
func ruleMapRange(m *module) []finding {
	ty := newTyper(m)
	var out []finding
	for _, p := range m.simulated() {
		info := ty.check(p)
		for _, f := range p.files {
			out = append(out, m.mapRangesIn(f, info)...)
		}
	}
	return out
}

func (m *module) mapRangesIn(f *file, info *types.Info) []finding {
	var out []finding
	marked := m.marks(f)
	say := func(n ast.Node, what string) {
		line := m.at(n.Pos()).Line
		if !marked[line] && !marked[line-1] && !excepted(f.path, what) {
			out = append(out, finding{m.at(n.Pos()), what + ": " + orderInstead})
		}
	}
	sorted := map[ast.Node]bool{} // what is sorted at once
	ast.Inspect(f.ast, func(n ast.Node) bool {
		for i, s := range statements(n) {
			if r, ok := s.(*ast.RangeStmt); ok && i+1 < len(statements(n)) && collectsFor(r, statements(n)[i+1]) {
				sorted[r] = true
			}
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if isMap(info.TypeOf(n.X)) && n.Key != nil && !sorted[n] {
				say(n, "range over a map")
			}
		case *ast.CallExpr:
			if pkg, name := qualified(info, n.Fun); pkg == "slices" && strings.HasPrefix(name, "Sorted") && len(n.Args) > 0 {
				sorted[n.Args[0]] = true
			} else if pkg == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, name) && !sorted[n] {
				say(n, "maps."+name)
			}
		}
		return true
	})
	return out
}

// marks returns the lines with a mark that has a reason.
func (m *module) marks(f *file) map[int]bool {
	out := map[int]bool{}
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			if reason, ok := strings.CutPrefix(c.Text, unorderedMark); ok && len(strings.TrimSpace(reason)) > 8 {
				out[m.at(c.Pos()).Line] = true
			}
		}
	}
	return out
}

// statements returns the statements that follow each other in n.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	}
	return nil
}

// collectsFor says whether the loop does nothing but append to a slice that next sorts.
func collectsFor(r *ast.RangeStmt, next ast.Stmt) bool {
	if len(r.Body.List) != 1 {
		return false
	}
	a, ok := r.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || types.ExprString(call.Fun) != "append" || types.ExprString(call.Args[0]) != types.ExprString(a.Lhs[0]) {
		return false
	}
	e, ok := next.(*ast.ExprStmt)
	if !ok {
		return false
	}
	sort, ok := e.X.(*ast.CallExpr)
	if !ok || len(sort.Args) == 0 || types.ExprString(sort.Args[0]) != types.ExprString(a.Lhs[0]) {
		return false
	}
	name := types.ExprString(sort.Fun)
	return strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort.")
}

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
		if u, ok := t.Underlying().(*types.Interface); ok && u.NumEmbeddeds() == 1 {
			t = u.EmbeddedType(0)
			if union, ok := t.(*types.Union); ok {
				t = union.Term(0).Type()
			}
		}
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// qualified returns package path and name of a function of another package.
func qualified(info *types.Info, fun ast.Expr) (pkg, name string) {
	if i, ok := fun.(*ast.IndexExpr); ok { // instantiated
		fun = i.X
	}
	s, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := s.X.(*ast.Ident); ok {
		if p, ok := info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path(), s.Sel.Name
		}
	}
	return "", ""
}

// typer finds the types of expressions as far as it can. What does not compile has no type, and so
// is not taken for a map.
type typer struct {
	m    *module
	done map[string]*types.Package
	info map[string]*types.Info
	gc   types.Importer
}

func newTyper(m *module) *typer {
	ty := &typer{m: m, done: map[string]*types.Package{}, info: map[string]*types.Info{}}
	exports := ty.exportData()
	ty.gc = importer.ForCompiler(m.fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) })
	return ty
}

// exportData asks the go command where the compiled packages from outside the module are.
func (ty *typer) exportData() map[string]string {
	args := []string{"list", "-e", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, p := range ty.m.pkgs {
		for _, f := range p.files {
			for _, s := range f.ast.Imports {
				if i := importPath(s); !strings.HasPrefix(i, modulePath) && !slices.Contains(args, i) && i != "C" {
					args = append(args, i)
				}
			}
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = ty.m.root
	out, _ := cmd.Output() // with -e there is output whatever fails
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if p, export, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			exports[p] = export
		}
	}
	return exports
}

// Import implements types.Importer.
func (ty *typer) Import(name string) (*types.Package, error) {
	if dir, ok := strings.CutPrefix(name, modulePath+"/"); ok {
		if p := ty.m.find(dir); p != nil {
			ty.check(p)
			return ty.done[p.dir], nil
		}
	}
	if p, err := ty.gc.Import(name); err == nil {
		return p, nil
	}
	unknown := types.NewPackage(name, path.Base(name))
	unknown.MarkComplete()
	return unknown, nil
}

func (ty *typer) check(p *pkg) *types.Info {
	if info := ty.info[p.dir]; info != nil {
		return info
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	ty.info[p.dir] = info
	ty.done[p.dir] = types.NewPackage(modulePath+"/"+p.dir, p.name) // if it imports itself by a detour
	var files []*ast.File
	for _, f := range p.files {
		files = append(files, f.ast)
	}
	conf := types.Config{Importer: ty, Error: func(error) {}, FakeImportC: true}
	if checked, _ := conf.Check(modulePath+"/"+p.dir, ty.m.fset, files, info); checked != nil {
		ty.done[p.dir] = checked
	}
	return info
}

func TestMapRange(t *testing.T) { report(t, ruleMapRange(load(t))) }

func TestMapRangeCanaries(t *testing.T) {
	canaries(t, ruleMapRange, "pacer/canary.go", `package pacer

import (
	"maps"
	"net/http"
	"slices"
	"sort"
)

type table map[string]int

type holder struct{ m table }

func bad(m map[string]int, h holder, hd http.Header) {
	for k := range m { // want: range over a map: collect the keys and sort
		_ = k
	}
	for _, v := range h.m { // want: range over a map
		_ = v
	}
	for k, v := range hd { // want: range over a map
		_, _ = k, v
	}
	for k := range maps.Keys(m) { // want: maps.Keys
		_ = k
	}
	_ = slices.Collect(maps.Values(m)) // want: maps.Values
	var keys []string
	for k := range m { // want: range over a map
		keys = append(keys, k)
	}
	_ = keys
	slices.Sort(keys)
	for k := range m { // want: range over a map
		if k != "" {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var other []string
	for k := range m { // want: range over a map
		keys = append(keys, k)
	}
	slices.Sort(other)
	//wedge:unordered
	for k := range m { // want: range over a map
		_ = k
	}
}

func generic[M ~map[K]V, K comparable, V any](m M) {
	for k := range m { // want: range over a map
		_ = k
	}
}

func good(m map[string]int, s []int, n int) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	switch n {
	case 1:
		for k := range m {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, nil)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		_ = k
	}
	_ = slices.SortedFunc(maps.Keys(m), nil)
	for range m {
		n++
	}
	//wedge:unordered a sum does not depend on the order
	for _, v := range m {
		n += v
	}
	for _, v := range m { //wedge:unordered a sum does not depend on the order
		n += v
	}
	for i := range s {
		_ = i
	}
	for i := range n {
		_ = i
	}
	for i := range "abc" {
		_ = i
	}
	_ = token(0)
}

type token int
`, `package pacer

import "example.com/nowhere"

func broken() {
	for k := range undefined {
	}
	for k := range nowhere.Map {
	}
	m := map[int]int{}
	for k := range m { // want: range over a map
	}
	return 5
}
`)
}
