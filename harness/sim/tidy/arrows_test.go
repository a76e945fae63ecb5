package tidy

import (
	"slices"
	"strings"
	"testing"
)

// ruleArrows lets a package import only what stands below it in places.
func ruleArrows(m *module) []finding {
	rank := map[string]int{}
	for i, pl := range places {
		rank[pl.dir] = i
	}
	var out []finding
	for _, p := range m.pkgs {
		from, known := rank[p.dir]
		if !known {
			at := m.at(p.files[0].ast.Package)
			out = append(out, finding{at, "package " + p.dir + " has no place yet: put it into the list in harness/sim/tidy/lists_test.go"})
			continue
		}
		pl := places[from]
		for _, f := range p.files {
			for _, s := range f.ast.Imports {
				say := func(why string) {
					out = append(out, finding{m.at(s.Pos()), p.dir + " may not import " + importPath(s) + ": " + why})
				}
				dir, ours := strings.CutPrefix(importPath(s), modulePath+"/")
				if !ours {
					if pl.std && strings.Contains(strings.Split(importPath(s), "/")[0], ".") {
						say("it keeps to the standard library")
					}
					continue
				}
				to, known := rank[dir]
				switch {
				case !known:
					say("that has no place in the list in harness/sim/tidy/lists_test.go")
				case to <= from:
					say("arrows point down the list in harness/sim/tidy/lists_test.go")
				case pl.only != nil && !slices.Contains(pl.only, dir):
					say("it may import only " + strings.Join(pl.only, ", "))
				case slices.Contains(pl.not, dir):
					say("it must not know that package")
				}
			}
		}
	}
	return out
}

func TestArrows(t *testing.T) { report(t, ruleArrows(load(t))) }

func TestArrowsCanaries(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"pacer/x.go", `package pacer

import (
	"github.com/sashabaranov/go-openai"
	"net/http"

	"example.com/wedge/agents" // want: arrows point down
	"example.com/wedge/harness" // want: arrows point down
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/httpbackend" // want: arrows point down
	"example.com/wedge/nowhere" // want: has no place
)
`},
		{"repro/serving/x.go", `package serving

import (
	"example.com/wedge/agents" // want: may import only repro/serving/engine, pacer, harness/fault, harness/sim
	"example.com/wedge/cmd/wedge" // want: arrows point down
	"example.com/wedge/harness" // want: may import only
	"example.com/wedge/harness/fault"
	"example.com/wedge/pacer"
)
`},
		{"agents/x.go", `package agents

import (
	"example.com/wedge/pacer/httpbackend" // want: must not know
	"example.com/wedge/repro/serving" // want: arrows point down
	"example.com/wedge/agents/workload"
)
`},
		{"repro/diagnose/x.go", `package diagnose

import (
	"example.com/wedge/harness"
	"example.com/wedge/repro/serving" // want: may import only
)
`},
		{"harness/sim/x.go", `package sim

import (
	"golang.org/x/time/rate" // want: standard library
	"net/http"
)
`},
		{"harness/goroutine/container/x.go", `package container

import (
	"example.com/wedge/harness/sim" // want: may import only
	"github.com/google/pprof/profile" // want: standard library
)
`},
		{"repro/extra/x.go", `package extra // want: has no place yet
`},
		{"repro/x.go", `package repro

import _ "example.com/wedge/cmd/wedge" // want: arrows point down
`},
	} {
		canaries(t, ruleArrows, c.name, c.text)
	}
}
