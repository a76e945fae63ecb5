package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// ban is something that code which also runs in virtual time may not use, and what to use instead.
type ban struct {
	pkg     string
	name    string // "" bans the import
	instead string
}

const (
	waitInstead   = "wait through sim.World: Sleep, AfterFunc, WithTimeout"
	spawnInstead  = "use sim.World.Spawn"
	cancelInstead = "use sim.World.WithCancel or sim.WithTimeout: the standard library's start goroutines behind the kernel's back"
	guardInstead  = "guard shared state with the monitor, sim.World.Lock and Unlock; wait with sim.Semaphore, Queue, Latch or Cond"
	drawInstead   = "draw from sim.World.Stream"
)

var bans = slices.Concat(
	[]ban{
		{"time", "Now", "take the instant as an argument, or ask sim.World.Now"},
		{"time", "Since", "take the instant as an argument, and use Instant.Sub"},
		{"time", "Until", "take the instant as an argument, and use Instant.Sub"},
		{"sync", "", guardInstead},
		{"sync/atomic", "", guardInstead},
		{"math/rand", "", drawInstead},
		{"crypto/rand", "", drawInstead},
		{"iter", "Pull", spawnInstead},
		{"iter", "Pull2", spawnInstead},
	},
	bansOf("time", waitInstead, "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"),
	bansOf("context", cancelInstead, "WithCancel", "WithCancelCause", "WithTimeout", "WithTimeoutCause",
		"WithDeadline", "WithDeadlineCause", "AfterFunc"),
)

func bansOf(pkg, instead string, names ...string) (out []ban) {
	for _, n := range names {
		out = append(out, ban{pkg, n, instead})
	}
	return out
}

// ruleSimulated refuses the clock, goroutines, channels, locks and global chance in packages that
// also run in virtual time.
func ruleSimulated(m *module) []finding {
	var out []finding
	for _, p := range m.simulated() {
		for _, f := range p.files {
			out = append(out, m.bansIn(f)...)
		}
	}
	return out
}

// simulated returns the packages that also run in virtual time.
func (m *module) simulated() []*pkg {
	var out []*pkg
	for _, pl := range places {
		if p := m.find(pl.dir); p != nil && pl.real == "" {
			out = append(out, p)
		}
	}
	return out
}

func (m *module) bansIn(f *file) []finding {
	var out []finding
	say := func(n ast.Node, what, instead string) {
		if !excepted(f.path, what) {
			out = append(out, finding{m.at(n.Pos()), what + " in a package that also runs in virtual time: " + instead})
		}
	}
	imports := map[string]string{} // by the name in this file
	for _, s := range f.ast.Imports {
		p := importPath(s)
		name := strings.TrimSuffix(path.Base(p), "/v2")
		if strings.HasSuffix(p, "/v2") {
			name = path.Base(path.Dir(p))
		}
		if s.Name != nil {
			name = s.Name.Name
		}
		if name == "." {
			say(s, "import of all names", "import by name, so that it can be seen what is used")
		}
		imports[name] = p
		for _, b := range bans {
			if b.pkg == p && b.name == "" {
				say(s, "package "+p, b.instead)
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n, "go statement", spawnInstead)
		case *ast.SelectStmt:
			say(n, "select", guardInstead)
		case *ast.ChanType:
			say(n, "channel", guardInstead)
		case *ast.SendStmt:
			say(n, "channel send", guardInstead)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				say(n, "channel receive", guardInstead)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Obj == nil && id.Name == "recover" {
				say(n, "recover", "let it panic: the world reports it, and stops its processes by panicking in them")
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || id.Obj != nil { // a variable of that name
				return true
			}
			for _, b := range bans {
				if b.pkg == imports[id.Name] && b.name == n.Sel.Name {
					say(n, id.Name+"."+n.Sel.Name, b.instead)
				}
			}
			if imports[id.Name] == "math/rand/v2" && isGlobalDraw(n.Sel.Name) {
				say(n, id.Name+"."+n.Sel.Name, drawInstead)
			}
		}
		return true
	})
	return out
}

// isGlobalDraw says whether a name of math/rand/v2 is a draw from its global source, rather than a
// constructor or a type.
func isGlobalDraw(name string) bool {
	return !strings.HasPrefix(name, "New") && !slices.Contains([]string{"Rand", "Source", "PCG", "ChaCha8", "Zipf"}, name)
}

func excepted(file, what string) bool {
	for _, e := range exceptions {
		if e.file == file && e.what == what {
			return true
		}
	}
	return false
}

func TestSimulated(t *testing.T) {
	m := load(t)
	if len(m.simulated()) == 0 {
		t.Fatal("no simulated package is present: the rule looks at nothing")
	}
	report(t, ruleSimulated(m))
}

// TestExceptions: an exception that nothing needs any more must go.
func TestExceptions(t *testing.T) {
	kept := exceptions
	exceptions = nil
	defer func() { exceptions = kept }()
	m := load(t)
	found := append(ruleSimulated(m), ruleMapRange(m)...)
	for _, e := range kept {
		used := slices.ContainsFunc(found, func(f finding) bool {
			return f.where.Filename == e.file && strings.HasPrefix(f.text, e.what)
		})
		if !used || e.reason == "" {
			t.Errorf("exception %+v: not needed, or without a reason", e)
		}
	}
}

func TestSimulatedCanaries(t *testing.T) {
	canaries(t, ruleSimulated, "pacer/canary.go", `package pacer

import (
	"context"
	"math/rand" // want: package math/rand
	crand "crypto/rand" // want: package crypto/rand
	v2 "math/rand/v2"
	clock "time"
	"sync" // want: package sync in
	"sync/atomic" // want: package sync/atomic
	. "strings" // want: import of all names
)

func bad(ctx context.Context, d clock.Duration) {
	clock.Sleep(d) // want: clock.Sleep in a package that also runs in virtual time: wait through sim.World
	now := clock.Now // want: clock.Now
	_ = clock.Since(now()) // want: clock.Since
	_ = clock.Until(now()) // want: clock.Until
	clock.AfterFunc(d, nil) // want: clock.AfterFunc
	_, _ = clock.NewTimer(d), clock.Tick(d) // want: wait through
	clock.NewTicker(d) // want: clock.NewTicker
	go bad(ctx, d) // want: go statement
	c := make(chan int) // want: channel in
	c <- 1 // want: channel send
	<-c // want: channel receive
	_ = v2.IntN(3) // want: v2.IntN
	_ = v2.Perm // want: v2.Perm
	defer func() { _ = recover() }() // want: recover
	context.WithCancel(ctx) // want: context.WithCancel
	context.WithTimeoutCause(ctx, d, nil) // want: context.WithTimeoutCause
	context.AfterFunc(ctx, nil) // want: context.AfterFunc
	var mu sync.Mutex
	_ = mu
	select { // want: select
	case <-clock.After(d): // want: channel receive
	default:
	}
}
`, `package pacer

import (
	"context"
	"math/rand/v2"
	"time"

	"example.com/wedge/harness/sim"
)

func good(ctx context.Context, w sim.World, at time.Time) {
	r := rand.New(rand.NewPCG(1, 2))
	_ = r.IntN(3)
	_ = w.Sleep(ctx, time.Second)
	ctx = context.WithValue(ctx, 1, 2)
	_ = at.After(at)
	type clock struct{ Now func() }
	var other struct{ time clock }
	other.time.Now()
	{
		time := other.time
		time.Now()
	}
	go_ := "go func() { select {} }" // time.Now
	_ = go_
}
`)
	// The same code is nobody's business in a package of the machine's clock.
	if got := ruleSimulated(sourceOf(t, "harness/goroutine/x.go", "package goroutine\n\nimport \"sync\"\n")); len(got) > 0 {
		t.Errorf("a real package was looked at: %v", got)
	}
}
