package tidy

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// ruleLength refuses long files and long functions.
func ruleLength(m *module) []finding {
	var out []finding
	for _, p := range m.pkgs {
		for _, f := range p.files {
			if n := strings.Count(f.text, "\n"); n >= fileLinesMax {
				out = append(out, finding{m.at(f.ast.Package), fmt.Sprintf("%d lines: files stay under %d; aim at 300", n, fileLinesMax)})
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if n := m.at(fn.End()).Line - m.at(fn.Pos()).Line + 1; n >= functionLinesMax {
						out = append(out, finding{m.at(fn.Pos()), fmt.Sprintf("%s has %d lines: functions stay under %d; aim at 40", fn.Name.Name, n, functionLinesMax)})
					}
				}
			}
		}
	}
	return out
}

// ruleNames refuses package names that say nothing.
func ruleNames(m *module) []finding {
	var out []finding
	for _, p := range m.pkgs {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc", "base", "shared"}, p.name) {
			out = append(out, finding{m.at(p.files[0].ast.Package), "package " + p.name + ": put the functions where they are used"})
		}
	}
	return out
}

// ruleDocs wants a doc comment on every package and every exported identifier.
func ruleDocs(m *module) []finding {
	var out []finding
	for _, p := range m.pkgs {
		if !slices.ContainsFunc(p.files, func(f *file) bool { return f.ast.Doc != nil }) {
			out = append(out, finding{m.at(p.files[0].ast.Package), "package " + p.name + " has no doc comment: what it is for, and what it may import"})
		}
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				out = append(out, m.undocumented(d)...)
			}
		}
	}
	return out
}

func (m *module) undocumented(d ast.Decl) []finding {
	var out []finding
	say := func(name *ast.Ident) {
		if name.IsExported() {
			out = append(out, finding{m.at(name.Pos()), name.Name + " is exported and has no doc comment"})
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d)) && !ofErrors(d.Name.Name)) {
			say(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if d.Doc == nil && s.Doc == nil {
					say(s.Name)
				}
			case *ast.ValueSpec:
				// A comment on the group, or at the end of the line, will do.
				if d.Doc == nil && s.Doc == nil && s.Comment == nil {
					for _, name := range s.Names {
						say(name)
					}
				}
			}
		}
	}
	return out
}

// ofErrors says whether a method is one that package errors looks for: its contract is there.
func ofErrors(name string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is", "As"}, name)
}

// receiver returns the name of the type that has the method.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func TestLength(t *testing.T) { report(t, ruleLength(load(t))) }

func TestNames(t *testing.T) { report(t, ruleNames(load(t))) }

func TestDocs(t *testing.T) { report(t, ruleDocs(load(t))) }

func TestShapeCanaries(t *testing.T) {
	long := strings.Repeat("\t_ = 0\n", functionLinesMax-2)
	short := strings.Repeat("\t_ = 0\n", functionLinesMax-3)
	canaries(t, ruleLength, "pacer/x.go",
		"package pacer\n\nfunc long() { // want: long has 70 lines\n"+long+"}\n\nfunc short() {\n"+short+"}\n",
		"package pacer // want: 400 lines\n"+strings.Repeat("\n", fileLinesMax-1),
		"package pacer\n"+strings.Repeat("\n", fileLinesMax-2))
	canaries(t, ruleNames, "pacer/utils/x.go", "package utils // want: put the functions where they are used\n")
	canaries(t, ruleDocs, "pacer/x.go", `package pacer // want: has no doc comment

func Bad() {} // want: Bad is exported

// Good does.
func Good() {}

func (p *Public[T]) Method() {} // want: Method is exported

func (p private) Method() {}

type Public[T any] struct{} // want: Public is exported

type private struct{}

const (
	A = 1 // a thing

	b, c = 2, 3
)

// The levels.
const (
	Low = iota
	High
)
`)
	for _, c := range []struct{ text, want string }{
		{"package p\n\nconst B, C = 2, 3\n", "B is exported and has no doc comment"},
		{"// Package p is.\npackage p\n", ""},
	} {
		got := fmt.Sprint(ruleDocs(sourceOf(t, "pacer/x.go", c.text)))
		if !strings.Contains(got, c.want) || c.want == "" && got != "[]" {
			t.Errorf("%s for\n%s", got, c.text)
		}
	}
}
