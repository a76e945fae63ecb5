package harness

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestDump takes dumps of a starved fleet in both worlds: three agents, two slots, calls longer than
// all captures.
func TestDump(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		c := newTiny()
		c.rest = 400e9
		c.dir = filepath.Join(t.TempDir(), "b")
		r := c.run(t, w, context.Background())
		ep := r.Episodes[0]
		for _, e := range []*Evidence{ep.First, ep.Before, ep.Latest} {
			same := -1
			if e.Capture > 1 {
				same = 3
			}
			want := GoroutineView{
				Total: e.Goroutines.Total, Labelled: 3, InChat: 3, SameStack: same,
				ByStage: []StageCount{{"slot", 1}, {"stream", 2}}, Waits: e.Goroutines.Waits,
			}
			if !reflect.DeepEqual(*e.Goroutines, want) || want.Total < 5 {
				t.Errorf("capture %d: %+v, want %+v", e.Capture, *e.Goroutines, want)
			}
			checkWaits(t, w, e)
			if back, err := ReadEvidence(os.DirFS(c.dir), ep.Dir, e.Capture); err != nil || !reflect.DeepEqual(back.Goroutines, e.Goroutines) {
				t.Errorf("capture %d was read back as %+v, %v", e.Capture, back, err)
			}
		}
		for _, name := range []string{"goroutines-1.txt", "goroutines-2.txt", "goroutines.txt"} {
			checkDumpText(t, read(t, c.dir, ep.Dir, name))
		}
		profile, err := gzip.NewReader(strings.NewReader(read(t, c.dir, ep.Dir, "goroutines.pb.gz")))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(profile)
		if err != nil || !strings.Contains(string(text), "agent-03") {
			t.Errorf("the profile does not name the agents: %v", err)
		}
		_, err = os.Stat(filepath.Join(c.dir, ep.Dir, "goroutineleak.pb.gz"))
		if has := pprof.Lookup("goroutineleak") != nil; has != (err == nil) {
			t.Errorf("the runtime has a profile of leaks: %v; its file: %v", has, err)
		}
	})
}

// checkWaits looks at what the goroutines are said to wait for: nothing in virtual time, and on the wall no
// deadlock, since calls go on.
func checkWaits(t *testing.T, w sim.World, e *Evidence) {
	t.Helper()
	v := e.Goroutines.Waits
	switch {
	case w.Virtual() != (v == nil):
		t.Errorf("capture %d: virtual %v, waits %+v", e.Capture, w.Virtual(), v)
	case v != nil && (v.Outcome == "deadlocked" || v.Outcome == "" || v.Reason == "" || (v.Over > 0) != (e.Capture > 1)):
		t.Errorf("capture %d: waits %+v", e.Capture, v)
	}
}

// checkDumpText looks at the labels of each agent's goroutine. On the wall nobody knows which agents
// have got the slots.
func checkDumpText(t *testing.T, text string) {
	t.Helper()
	d, err := goroutine.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Goroutines {
		if g := &d.Goroutines[i]; g.Label("agent") != "" {
			got = append(got, fmt.Sprintf("%v %v", g.Labels, g.HasFunc("pacer.(*Pacer).Chat")))
		}
	}
	slices.Sort(got)
	for i, line := range got {
		want := fmt.Sprintf(`^\[{agent agent-0%[1]d} {attempt agent-0%[1]d-c001-a1} {call agent-0%[1]d-c001} {round 1} `+
			`({since 1s} {stage slot}|{since 4s} {stage stream}) {step 1} {task task-0%[1]d}\] true$`, i+1)
		if !regexp.MustCompile(want).MatchString(line) {
			t.Errorf("the dump has %s, want %s", line, want)
		}
	}
	if len(got) != 3 {
		t.Errorf("the dump has the agents %q", got)
	}
}

// TestDumpOfAnotherCall: an agent that has gone on to its next call has moved, even if it sits in the
// same place.
func TestDumpOfAnotherCall(t *testing.T) {
	dump := func(calls ...string) *goroutine.Dump {
		var b strings.Builder
		for i, call := range calls {
			fmt.Fprintf(&b, "goroutine %d [select labels:{\"agent\": \"agent-%02d\", \"call\": %q, \"stage\": \"stream\"}]:\nexample.com/wedge/pacer.(*Pacer).Chat(0x1)\n\t/x/chat.go:40 +0x1\n\n", i+7, i+1, call)
		}
		b.WriteString("goroutine 90 [select labels:{\"agent\": \"agent-01\"}]:\nnet/http.(*persistConn).readLoop(0x1)\n\t/x/t.go:1 +0x1\ncreated by net/http.(*Transport).dialConn in goroutine 7\n\t/x/t.go:2 +0x1\n")
		d, err := goroutine.Parse(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before, after := dump("c1", "c1", "c1"), dump("c1", "c2", "c1")
	got := *viewOf(&stacks{all: after}, &stacks{all: before})
	want := GoroutineView{Total: 4, Labelled: 3, InChat: 3, SameStack: 2, ByStage: []StageCount{{"stream", 3}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNoDumps: without dumps there is no view, and no file of one.
func TestNoDumps(t *testing.T) {
	c := newTiny()
	c.options.Dumps = false
	c.dir = filepath.Join(t.TempDir(), "b")
	r := c.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	if r.Episodes[0].Latest.Goroutines != nil {
		t.Error("there is a view of the goroutines")
	}
	if files, _ := filepath.Glob(filepath.Join(c.dir, "stalls/01/goroutines*")); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
}

// TestSilentStreams: agents that hold the slots for ever are seen not to move, and the run is given up.
func TestSilentStreams(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		c := newTiny()
		c.stuck = func(a *pacer.Attempt) bool { return true }
		r := c.run(t, w, context.Background())
		last := r.Episodes[0].Latest
		if r.Why != GaveUp || r.Stalls != 1 || !r.Episodes[0].Open() || last.Goroutines.SameStack != 3 || last.Window.TokensReceived != last.Totals.TokensReceived {
			t.Errorf("%s; %+v", describe(r), last.Goroutines)
		}
		if r.End.Goroutines == nil || r.End.Goroutines.SameStack != 3 || len(r.End.Calls) != 3 || r.End.StalledFor != c.options.Watchdog.GiveUpAfter {
			t.Errorf("at the end: %+v", r.End)
		}
		if r.End.Router == nil || len(r.End.Router.Open) != 2 || r.End.Router.Started != 2 {
			t.Errorf("the router has %+v", r.End.Router)
		}
	})
}
