package repro

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
)

// treeOf returns the files of a directory, by their path.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWatchedRunIsTheSame shows that who looks at a virtual run, and however often, changes nothing in it.
func TestWatchedRunIsTheSame(t *testing.T) {
	s, err := Lookup("starvation")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	run := func(o Options) (*Result, map[string]string) {
		t.Helper()
		o.Out, o.Replace, o.Dumps = dir, true, false
		r, err := Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		return r, treeOf(t, dir)
	}
	want, files := run(Options{})
	var stop atomic.Bool
	var wg sync.WaitGroup
	var looks atomic.Int64
	got, watched := run(Options{Watch: func(progress func() harness.Progress) {
		for range 3 {
			wg.Go(func() {
				for last := (harness.Progress{}); !stop.Load(); {
					p := progress()
					if p.At < last.At || p.Totals.Steps < last.Totals.Steps {
						t.Errorf("progress goes back from %v to %v", last.At, p.At)
					}
					last = p
					looks.Add(1)
				}
			})
		}
	}})
	stop.Store(true)
	wg.Wait()
	if want.TraceHash != got.TraceHash || want.Steps != got.Steps {
		t.Errorf("watched: hash %s after %d steps, want %s after %d", got.TraceHash, got.Steps, want.TraceHash, want.Steps)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(watched))) {
		t.Error("watched: other files")
	}
	for name, text := range files {
		if watched[name] != text {
			t.Errorf("watched: %s is another one", name)
		}
	}
	if looks.Load() == 0 {
		t.Error("nobody looked")
	}
}

// TestProgress shows what can be seen of a run: while it stalls, and after its end.
func TestProgress(t *testing.T) {
	s, err := Lookup("starvation")
	if err != nil {
		t.Fatal(err)
	}
	var ask func() harness.Progress
	var during []harness.Progress
	var window func(func()) bool
	_, err = Run(context.Background(), s, Options{
		Out:   filepath.Join(t.TempDir(), "run"),
		Watch: func(progress func() harness.Progress) { ask = progress },
		Tap:   func(in Inside) Tap { window = in.Ask; return Tap{} },
		Hooks: Hooks{Judged: func(int, diagnose.Verdict) { during = append(during, ask()) }}, // from within, so that it is the copy before
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(during) == 0 {
		t.Fatal("no stall was judged")
	}
	p := ask()
	if p.At == 0 || p.Pacer.SlotsMax != s.Pacer.Slots || p.LastStall.Episode == 0 || len(p.Gauges) == 0 || p.Tasks != s.Fleet.Agents {
		t.Errorf("at the end: %+v", p)
	}
	v, ok := p.LastStall.Verdict.(diagnose.Verdict)
	if !ok || v.Outcome != diagnose.Starved {
		t.Errorf("the last stall: %+v", p.LastStall)
	}
	if !window(func() {}) {
		t.Error("nobody may look in after the end")
	}
	var agents int
	for stage := range pacer.StageDone {
		agents += p.AgentsByStage[stage]
	}
	if agents != p.Agents {
		t.Errorf("%d agents by stage, %d at work", agents, p.Agents)
	}
}

// TestPorthole shows when who wants to look in may.
func TestPorthole(t *testing.T) {
	looked := 0
	look := func() { looked++ }
	virtual := &porthole{virtual: true}
	if virtual.ask(look) || looked != 0 {
		t.Error("looked in at a run that did not let anybody")
	}
	if len(virtual.pending) != 0 {
		t.Error("one who has gone is waited for")
	}
	done := make(chan bool)
	go func() { done <- virtual.ask(look) }()
	for !virtual.wanted.Load() {
	}
	virtual.open()
	if ok := <-done; ok != (looked == 1) {
		t.Errorf("ask says %v after %d looks", ok, looked)
	}
	virtual.end(false)
	looked = 0
	if !virtual.ask(look) || looked != 1 {
		t.Error("no look after the end")
	}
	broken := &porthole{}
	if !broken.ask(look) || looked != 2 {
		t.Error("no look on the wall")
	}
	broken.end(true)
	if broken.ask(look) || looked != 2 {
		t.Error("looked in at a run that broke off")
	}
	var none *porthole
	none.open()
}

// TestOccupancy holds what the pacer says of its slots and its oldest call against what the world and the calls say.
func TestOccupancy(t *testing.T) {
	for _, sets := range [][]string{nil, {"pacer.queue.order=lifo"}, {"pacer.hold=agent"}, {"pacer.slots=0"}, {"pacer.requests_per_second=0.2"}} {
		s, err := Lookup("starvation")
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range sets {
			path, value, _ := strings.Cut(set, "=")
			if err := s.Set(path, value); err != nil {
				t.Fatal(err)
			}
		}
		var in Inside
		var used, rated, oldest int
		started := map[string]sim.Instant{}
		check := func(now sim.Instant) {
			in.World.Lock()
			o := in.Occupancy()
			in.World.Unlock()
			want := 0
			for _, object := range in.World.Objects() {
				if object.Name == "pacer.slots" {
					want = object.InUse
				}
			}
			if o.SlotsInUse != want || o.SlotsMax != s.Pacer.Slots {
				t.Errorf("%v at %v: %d of %d slots, want %d of %d", sets, now, o.SlotsInUse, o.SlotsMax, want, s.Pacer.Slots)
			}
			used = max(used, o.SlotsInUse)
			if o.RequestsPerS != s.Pacer.RequestsPerSecond || o.RequestsLeft > 1 {
				t.Errorf("%v at %v: a rate of %v, %v left", sets, now, o.RequestsPerS, o.RequestsLeft)
			}
			if o.RequestsLeft < 0 {
				rated++
			}
			first := sim.Never
			for _, at := range started {
				first = min(first, at)
			}
			if len(started) > 0 && (o.Oldest.ID == "" || o.Oldest.Started != first) || len(started) == 0 && o.Oldest.ID != "" {
				t.Errorf("%v at %v: the oldest call %s began at %v, want %v", sets, now, o.Oldest.ID, o.Oldest.Started, first)
			}
			oldest += min(1, len(started))
		}
		_, err = Run(context.Background(), s, Options{
			Horizon: 30 * time.Minute,
			Tap: func(i Inside) Tap {
				in = i
				return Tap{Calls: startsOf(started)}
			},
			Ticks: []harness.Tick{{Every: 17 * time.Second, Do: check}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if used == 0 && s.Pacer.Slots > 0 || oldest == 0 || rated == 0 && s.Pacer.RequestsPerSecond > 0 {
			t.Errorf("%v: %d slots used, %d times a call in flight, %d times a rate that is spent", sets, used, oldest, rated)
		}
	}
}

// startsOf notes when calls in flight began.
type startsOf map[string]sim.Instant

func (s startsOf) StageChanged(c *pacer.CallState, _ pacer.Stage)      { s[c.ID] = c.Started }
func (s startsOf) AttemptEnded(*pacer.CallState, pacer.AttemptResult)  {}
func (s startsOf) CallEnded(c *pacer.CallState, tokens int, err error) { delete(s, c.ID) }
