package goroutine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func findFrame(t *testing.T, d *Dump, name string) (*Goroutine, int) {
	t.Helper()
	for i := range d.Goroutines {
		for j, f := range d.Goroutines[i].Frames {
			if f.Func == name {
				return &d.Goroutines[i], j
			}
		}
	}
	t.Fatalf("no frame of %s", name)
	return nil, 0
}

func hasFuncs(names ...string) func(*testing.T, []*Dump) {
	return func(t *testing.T, all []*Dump) {
		for _, name := range names {
			findFrame(t, all[0], name)
		}
	}
}

func hasArgs(name, args string) func(*testing.T, []*Dump) {
	return func(t *testing.T, all []*Dump) {
		g, i := findFrame(t, all[0], name)
		if got := g.Frames[i].Args; got != args {
			t.Errorf("arguments of %s\n got %s\nwant %s", name, got, args)
		}
	}
}

func hasPlaces(files ...string) func(*testing.T, []*Dump) {
	return func(t *testing.T, all []*Dump) {
		for _, file := range files {
			if !slices.ContainsFunc(all[0].Goroutines, func(g Goroutine) bool {
				return slices.ContainsFunc(g.Frames, func(f Frame) bool { return f.File == file && (f.Line > 0 || file == "?") })
			}) {
				t.Errorf("no frame in %s", file)
			}
		}
	}
}

func hasMessages(want ...string) func(*testing.T, []*Dump) {
	return func(t *testing.T, all []*Dump) {
		if got := all[0].Messages; !slices.Equal(got, want) {
			t.Errorf("messages\n got %q\nwant %q", got, want)
		}
	}
}

func hasLayer(name string) func(*testing.T, []*Dump) {
	return func(t *testing.T, all []*Dump) {
		for _, l := range all[0].Layers {
			if l.Name == name {
				return
			}
		}
		t.Errorf("layers %v, want %s", all[0].Layers, name)
	}
}

func checkCrash(t *testing.T, all []*Dump) {
	for _, g := range all[0].Goroutines {
		if g.G == 0 || strings.Contains(g.State, "gp=") {
			t.Errorf("goroutine %d [%s]: g=%#x", g.ID, g.State, g.G)
		}
	}
	hasMessages("SIGQUIT: quit", all[0].Messages[1])(t, all)
}

func checkThreads(t *testing.T, all []*Dump) {
	if o := all[0].Others; len(o) != 1 || o[0].Kind != KindThread || o[0].ID != 0 {
		t.Errorf("threads: %+v", o)
	}
}

func checkElsewhere(t *testing.T, all []*Dump) {
	for _, g := range all[0].Goroutines {
		if g.NoStack || len(g.Frames) == 0 || g.Again {
			t.Errorf("goroutine %d has no stack although its thread printed one", g.ID)
		}
	}
}

func checkHostileLabels(t *testing.T, all []*Dump) {
	var got [][]Label
	for _, g := range all[0].Goroutines {
		if g.HasFunc("main.worker") {
			got = append(got, g.Labels)
		}
	}
	want := [][]Label{
		{{"note", "x], 9 minutes]:"}},
		{{"note", "]:\n\ngoroutine 9 [sleep]:\nmain.fake()\n\t/fake.go:1 +0x1"}},
		{{"", "\"quoted\\\" \x01 \u2028 \U0001f600 \ufffd"}},
		{{"a", `", "c": "d`}, {"b", "}]:"}},
		{{"note", "x], 9 minutes]:"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("labels\n got %q\nwant %q", got, want)
	}
}

func checkGo127Labels(t *testing.T, all []*Dump) {
	var got [][]Label
	for _, g := range all[0].Goroutines {
		if len(g.Labels) > 0 {
			got = append(got, g.Labels)
		}
	}
	want := [][]Label{
		{{"req", "a"}},
		{{"note", "x], 9 minutes]:"}},
		{{"note", "]:\n\ngoroutine 9 [sleep]:\nmain.fake()\n\t/fake.go:1 +0x1"}},
		{{"", "\"quoted\\\" \x01 \u2028 \U0001f600 \xff"}},
		{{"a", `", "c": "d`}, {"b", "}]:"}},
		{{"note", "x], 9 minutes]:"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("labels\n got %q\nwant %q", got, want)
	}
}

func checkProfileLabels(t *testing.T, all []*Dump) {
	values := map[string]int{}
	for _, g := range all[0].Goroutines {
		values[g.Label("note")] += g.N()
	}
	if values["x], 9 minutes]:"] != 2 || values["]:\n\ngoroutine 9 [sleep]:\nmain.fake()\n\t/fake.go:1 +0x1"] != 1 {
		t.Errorf("notes %v", values)
	}
}

func checkLeakLocked(t *testing.T, all []*Dump) {
	leaked, locked := 0, 0
	for _, g := range all[0].Goroutines {
		if g.Leaked {
			leaked++
		}
		if g.LockedToThread && g.State == "select (no cases)" && g.Leaked {
			locked++
		}
	}
	if leaked != 4 || locked != 1 {
		t.Errorf("%d leaked, %d of them locked", leaked, locked)
	}
}

func checkBubble(t *testing.T, all []*Dump) {
	durable, inBubble := 0, 0
	for _, g := range all[0].Goroutines {
		if g.Durable {
			durable++
		}
		if g.Bubble == 1 {
			inBubble++
		}
	}
	if durable != 6 || inBubble != 7 {
		t.Errorf("%d durable, %d in the bubble", durable, inBubble)
	}
	if want := []RunningTest{{"TestBubble", time.Second}}; !slices.Equal(all[0].Tests, want) {
		t.Errorf("tests %v, want %v", all[0].Tests, want)
	}
}

func checkScan(t *testing.T, all []*Dump) {
	for i, want := range []Goroutine{{Wait: 2 * time.Minute}, {Leaked: true}, {LockedToThread: true}} {
		g := all[0].Goroutines[i]
		if !g.Scan || g.Wait != want.Wait || g.Leaked != want.Leaked || g.LockedToThread != want.LockedToThread {
			t.Errorf("goroutine %d: %+v", g.ID, g)
		}
	}
}

func checkElided(t *testing.T, all []*Dump) {
	g, _ := findFrame(t, all[0], "main.deep")
	if g.Gap != (Gap{Before: 50, Count: 31}) {
		t.Errorf("gap %+v in %d frames", g.Gap, len(g.Frames))
	}
}

func checkOldElided(t *testing.T, all []*Dump) {
	g, _ := findFrame(t, all[0], "main.deep")
	if g.Gap != (Gap{Before: 50, Count: 21}) || g.CreatedBy.Func != "main.main" || g.ParentID != 1 {
		t.Errorf("gap %+v, by %+v in %d", g.Gap, g.CreatedBy, g.ParentID)
	}
}

func checkOldGo(t *testing.T, all []*Dump) {
	hasFuncs("main.func·007", "runfinq")(t, all)
	g, _ := findFrame(t, all[0], "main.deep")
	if g.Gap != (Gap{Before: 2, Count: -1}) || g.CreatedBy.Func != "main.serve" || g.ParentID != 0 {
		t.Errorf("gap %+v, by %+v", g.Gap, g.CreatedBy)
	}
}

func checkAncestors(t *testing.T, all []*Dump) {
	g := all[0].Goroutines[1]
	if len(g.Ancestors) != 1 || g.Ancestors[0].ID != 1 || !hasFunc(g.Ancestors[0].Frames, "main.main") || g.HasFunc("main.main") {
		t.Errorf("ancestors %+v", g.Ancestors)
	}
}

func checkSymbolized(t *testing.T, all []*Dump) {
	want := []Frame{{"raise", "", "/build/glibc/raise.c", 51},
		{"my_plugin::worker(void (*)(int), char const*)", "", "/src/my plugin/worker.cc", 12}, {Func: "non-Go function"}}
	if got := all[0].Others[0].Frames; !slices.Equal(got, want) {
		t.Errorf("frames\n got %+v\nwant %+v", got, want)
	}
	if n := len(all[0].Goroutines[0].Frames); n != 5 {
		t.Errorf("%d frames, want 5", n)
	}
}

func checkParents(t *testing.T, all []*Dump) {
	var got []string
	for _, g := range all[0].Goroutines {
		got = append(got, fmt.Sprintf("%s/%t", g.CreatedBy.Func, g.ParentID > 0))
	}
	slices.Sort(got)
	want := []string{"/false", "main.init.0/true", "main.parkParents.func1/true", "sync.(*WaitGroup).Go/true", "time.goFunc/false"}
	if !slices.Equal(got, want) {
		t.Errorf("creators\n got %q\nwant %q", got, want)
	}
}

func checkSources(t *testing.T, all []*Dump) {
	if all[0].Source != "api-1" || all[1].Source != "worker-1" || all[1].Goroutines[0].Source != 1 || all[1].Goroutines[0].Snapshot != 1 {
		t.Errorf("sources %q, %q; %+v", all[0].Source, all[1].Source, all[1].Goroutines[0])
	}
}

func checkMarkdown(t *testing.T, all []*Dump) {
	hasFuncs("sync.runtime_Semacquire", "sync.(*RWMutex).RLock", "main.(*T).work")(t, all)
	g, i := findFrame(t, all[0], "main.(*T).work")
	if g.Frames[i].Line != 1846 {
		t.Errorf("line %d, want 1846", g.Frames[i].Line)
	}
}

func checkSnapshots(t *testing.T, all []*Dump) {
	if len(all[0].Messages) != 0 || len(all[1].Messages) != 2 {
		t.Errorf("messages %q, %q", all[0].Messages, all[1].Messages)
	}
	still := 0
	for _, p := range Compare(all[0], all[1], ByID).Changed {
		if p.After[0].HasFunc("main.worker") {
			still++ // a crash shows the runtime's frames too
		}
	}
	if still != 2 {
		t.Errorf("%d workers in both dumps, want 2", still)
	}
}

func checkWaits(t *testing.T, all []*Dump) {
	for _, g := range Group(all[0]) {
		if g.State == "chan send" && (g.WaitMin != 42*time.Minute || g.WaitMax != g.WaitMin) {
			t.Errorf("waits %s to %s", g.WaitMin, g.WaitMax)
		}
	}
}
