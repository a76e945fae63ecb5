package goroutine

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	for _, path := range fixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			checkAccount(t, d.Stats, len(text))
			compareGolden(t, strings.TrimSuffix(path, ".txt")+".golden", render(d))
		})
	}
}

func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("fixtures: %d, %v", len(paths), err)
	}
	return paths
}

func checkAccount(t testing.TB, s Stats, size int) {
	t.Helper()
	if s.Bytes != int64(size) || s.UsedBytes+s.SkippedBytes != s.Bytes {
		t.Errorf("of %d bytes: read %d, used %d, skipped %d", size, s.Bytes, s.UsedBytes, s.SkippedBytes)
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "(end)", "(end)"
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Fatalf("%s:%d: first difference (go test -update rewrites)\n got %s\nwant %s", path, i+1, g, w)
		}
	}
}

// render shows everything a dump holds, frames of long stacks in part.
func render(d *Dump) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d goroutines, %d others, %d of %d bytes skipped, truncated: %t\n",
		d.Form, d.N(), len(d.Others), d.SkippedBytes, d.Bytes, d.Truncated)
	for _, m := range d.Messages {
		fmt.Fprintf(&b, "message %q\n", m)
	}
	for _, t := range d.Tests {
		fmt.Fprintf(&b, "running test %s for %s\n", t.Name, t.Age)
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(&b, "skipped %d bytes at %d: %.60q\n", s.Bytes, s.Offset, s.Text)
	}
	for i := range d.Goroutines {
		renderOne(&b, &d.Goroutines[i])
	}
	for i := range d.Others {
		renderOne(&b, &d.Others[i])
	}
	b.WriteString("\ngroups\n")
	for _, g := range Group(d) {
		fmt.Fprintf(&b, "%d [%s] %v wait %s-%s creators %v labels %q\n",
			g.Count(), g.State, g.IDs, g.WaitMin, g.WaitMax, g.Creators, fmt.Sprint(g.Labels))
	}
	return b.String()
}

func renderOne(b *strings.Builder, g *Goroutine) {
	fmt.Fprintf(b, "\n%s %d [%s]", [...]string{"goroutine", "thread", "headless"}[g.Kind], g.ID, g.State)
	if g.Wait > 0 {
		fmt.Fprintf(b, " wait=%s", g.Wait)
	}
	if g.G != 0 || g.Thread >= 0 {
		fmt.Fprintf(b, " g=%#x thread=%d", g.G, g.Thread)
	}
	if g.Bubble != 0 {
		fmt.Fprintf(b, " bubble=%d", g.Bubble)
	}
	if g.Extra != "" {
		fmt.Fprintf(b, " extra=%q", g.Extra)
	}
	for _, mark := range []struct {
		name string
		set  bool
	}{{"leaked", g.Leaked}, {"scan", g.Scan}, {"durable", g.Durable}, {"locked", g.LockedToThread}, {"nostack", g.NoStack}} {
		if mark.set {
			fmt.Fprintf(b, " %s", mark.name)
		}
	}
	if stage, ok := Stage(g); ok {
		fmt.Fprintf(b, " stage=%s", stage)
	}
	b.WriteString("\n")
	for _, l := range g.Labels {
		fmt.Fprintf(b, "  label %q=%q\n", l.Key, l.Value)
	}
	renderFrames(b, g.Frames)
	if g.Gap != (Gap{}) {
		fmt.Fprintf(b, "  gap of %d before frame %d\n", g.Gap.Count, g.Gap.Before)
	}
	renderCreator(b, g.CreatedBy, g.ParentID)
	for _, a := range g.Ancestors {
		fmt.Fprintf(b, "  ancestor %d\n", a.ID)
		renderFrames(b, a.Frames)
		renderCreator(b, a.CreatedBy, 0)
	}
}

func renderFrames(b *strings.Builder, frames []Frame) {
	for i, f := range frames {
		if i >= 4 && i < len(frames)-2 {
			if i == 4 {
				fmt.Fprintf(b, "  ... %d more\n", len(frames)-6)
			}
			continue
		}
		fmt.Fprintf(b, "  %s|%s|%s|%d\n", f.Func, f.Args, f.File, f.Line)
	}
}

func renderCreator(b *strings.Builder, f Frame, parentID int64) {
	if f.Func != "" {
		fmt.Fprintf(b, "  by %s|%s|%d in %d\n", f.Func, f.File, f.Line, parentID)
	}
}
