package bench

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/DataDog/gostackparse"

	"example.com/wedge/harness/goroutine"
)

// Differences from gostackparse 0.7.0 that are known, and right on this side. It
//   - loses goroutines with gp= in the header, with "...N frames elided...", with
//     a synctest bubble, with a "]" or a comma in a label, without a frame, with
//     frames outside Go, indented by blanks, or with anything in a log between
//     their lines; and, in a text without empty lines, all but the first;
//   - reads nothing behind a prefix, in JSON or in other forms than the runtime's,
//     and repairs no encoding (hand-32-damaged-text);
//   - has marks and labels as part of the state (see stateOf);
//   - ends a file name at the first colon before a digit;
//   - ends the name of a creator at the first blank.

// stateOf is a state as gostackparse prints it.
func stateOf(g *goroutine.Goroutine) string {
	s := g.State
	for _, mark := range []struct {
		set  bool
		text string
	}{{g.Leaked, " (leaked)"}, {g.Scan, " (scan)"}, {g.Durable, " (durable)"}} {
		if mark.set {
			s += mark.text
		}
	}
	return s
}

// TestOracle holds every fixture against gostackparse: whatever that reads, this
// reads too, in the same order and the same way.
func TestOracle(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	traps, err := filepath.Glob("../testdata/traps/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := 0, 0
	for _, path := range slices.Concat(paths, traps) {
		if strings.Contains(path, "hand-32-damaged-text") {
			continue
		}
		dump, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, m, err := agree(dump)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		theirs, ours = theirs+n, ours+m
	}
	t.Logf("of the fixtures, gostackparse reads %d goroutines and this reader %d", theirs, ours)
	if theirs < 200 {
		t.Errorf("gostackparse has read %d goroutines only: nothing to agree with", theirs)
	}
}

// TestOracleGenerated does so for many texts without any of the differences: both
// must read all of them.
func TestOracleGenerated(t *testing.T) {
	for seed := range uint64(300) {
		checkGenerated(t, seed)
	}
}

func FuzzOracleGenerated(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkGenerated(t, seed) })
}

func checkGenerated(t *testing.T, seed uint64) {
	t.Helper()
	dump, want := generate(rand.New(rand.NewPCG(seed, 0)))
	n, m, err := agree([]byte(dump))
	if err != nil || n != want || m != want {
		t.Errorf("seed %d: %v; gostackparse reads %d, this reader %d, want %d\n%s", seed, err, n, m, want, dump)
	}
}

// agree returns how many goroutines either reader reads, and where they differ.
func agree(dump []byte) (theirs, ours int, err error) {
	all, err := goroutine.ParseAll(bytes.NewReader(dump))
	if err != nil {
		return 0, 0, err
	}
	byID := map[int64][]*goroutine.Goroutine{}
	for _, d := range all {
		for _, list := range [][]goroutine.Goroutine{d.Goroutines, d.Others} {
			for i := range list {
				byID[list[i].ID] = append(byID[list[i].ID], &list[i])
			}
		}
		ours += len(d.Goroutines)
	}
	gs, _ := gostackparse.Parse(bytes.NewReader(dump))
	for _, g := range gs {
		if !isASCII(g.State) {
			continue
		}
		list := byID[int64(g.ID)]
		if len(list) == 0 {
			return len(gs), ours, fmt.Errorf("goroutine %d [%s] is missing", g.ID, g.State)
		}
		byID[int64(g.ID)] = list[1:]
		if d := difference(g, list[0]); d != "" {
			return len(gs), ours, fmt.Errorf("goroutine %d: %s", g.ID, d)
		}
	}
	return len(gs), ours, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}

func difference(g *gostackparse.Goroutine, own *goroutine.Goroutine) string {
	state, _, _ := strings.Cut(g.State, " labels:{")
	switch {
	case state != stateOf(own):
		return fmt.Sprintf("state %q, own %q", state, stateOf(own))
	case g.Wait != own.Wait:
		return fmt.Sprintf("waits for %s, own %s", g.Wait, own.Wait)
	case g.LockedToThread != own.LockedToThread:
		return fmt.Sprintf("locked %t, own %t", g.LockedToThread, own.LockedToThread)
	case g.FramesElided != (own.Gap.Count == -1):
		return fmt.Sprintf("frames left out: %t, own %+v", g.FramesElided, own.Gap)
	case len(g.Stack) != len(own.Frames):
		return fmt.Sprintf("%d frames, own %d", len(g.Stack), len(own.Frames))
	}
	for i, f := range g.Stack {
		if d := frameDifference(f, own.Frames[i]); d != "" {
			return fmt.Sprintf("frame %d: %s", i, d)
		}
	}
	if g.CreatedBy != nil {
		if d := frameDifference(g.CreatedBy, own.CreatedBy); d != "" {
			return "creator: " + d
		}
	}
	if (g.Ancestor != nil) != (len(own.Ancestors) > 0) || g.Ancestor != nil && int64(g.Ancestor.ID) != own.Ancestors[0].ID {
		return fmt.Sprintf("ancestor %+v, own %+v", g.Ancestor, own.Ancestors)
	}
	return ""
}

func frameDifference(f *gostackparse.Frame, own goroutine.Frame) string {
	if f.Func != own.Func {
		return fmt.Sprintf("%s, own %s", f.Func, own.Func)
	}
	at, ownAt := fmt.Sprintf("%s:%d", f.File, f.Line), fmt.Sprintf("%s:%d", own.File, own.Line)
	if at != ownAt && !strings.HasPrefix(ownAt, at) { // a colon before a digit in the file's name
		return fmt.Sprintf("%s at %s, own %s", f.Func, at, ownAt)
	}
	return ""
}

// generate writes a dump that both readers can read, and returns how many
// goroutines it has.
func generate(r *rand.Rand) (dump string, goroutines int) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	place := func(b io.Writer) {
		fmt.Fprintf(b, "\t%s:%d", pick("/a.go", "/home/ann lee/b.go", "runtime/asm_amd64.s", "<autogenerated>", "C:/x/y.go"), 1+r.IntN(3000))
		io.WriteString(b, pick("\n", " +0x1d\n"))
	}
	name := func() string {
		return pick("main.main", "main.(*T[...]).run", "net/http.(*conn).serve", "main.run.func2.1", "main.(*S).M-fm", "a.b/c%2ed.F", "main.func·007")
	}
	goroutines = 1 + r.IntN(6)
	var b strings.Builder
	for i := range goroutines {
		fmt.Fprintf(&b, "goroutine %d [%s", i*7+1, pick("running", "select (no cases)", "chan receive (nil chan)", "IO wait", "sync.Cond.Wait", "semacquire (scan)"))
		b.WriteString(pick("", ", 1 minutes", ", 90 minutes") + pick("", ", locked to thread") + "]:\n")
		for range 1 + r.IntN(5) {
			b.WriteString(name() + pick("()", "(...)", "(0x1, 0x2?)", "({0x1, {_, ...}}, ...)") + "\n")
			place(&b)
		}
		if r.IntN(8) == 0 {
			b.WriteString("...additional frames elided...\n")
		}
		if r.IntN(3) > 0 {
			b.WriteString("created by " + name() + pick("", " in goroutine 1") + "\n")
			place(&b)
		}
		b.WriteString("\n")
	}
	return b.String(), goroutines
}
