package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestInterruptLeavesACompleteBundle interrupts a run of everything in each phase. The evidence must
// show the agents where they were, not on their way out.
func TestInterruptLeavesACompleteBundle(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     time.Duration
		calls  int
		stages string
	}{
		{"thinking", 500 * time.Millisecond, 0, "think think think"},
		{"waiting for headers", 2 * time.Second, 3, "headers headers slot"},
		{"before the first stall", 50 * time.Second, 3, "stream stream slot"},
		{"between two captures", 80 * time.Second, 3, "stream stream slot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World) {
				tn := newTiny()
				tn.dir = filepath.Join(t.TempDir(), "b")
				r := tn.runInterrupted(t, w, c.at)
				if !r.Interrupted() || !errors.Is(r.Cause, errSignal) || r.WriteErr != nil {
					t.Fatalf("%s, cause %v, %v", describe(r), r.Cause, r.WriteErr)
				}
				stages := map[string]int{}
				for _, s := range strings.Fields(c.stages) {
					stages[s]++
				}
				for _, a := range r.End.Agents {
					stages[a.Stage.String()]--
				}
				for stage, n := range stages { // all must be 0
					if n != 0 {
						t.Errorf("%d agents too few in stage %s: %+v", n, stage, r.End.Agents)
					}
				}
				if len(r.End.Calls) != c.calls || r.Totals.CallsFailed != 0 || r.Totals.AgentsFailed != 0 || r.End.At != sim.Instant(c.at) {
					t.Errorf("%d calls at %v, totals %+v", len(r.End.Calls), r.End.At, r.Totals)
				}
				counts := checkEvents(t, read(t, tn.dir, "events.jsonl"))
				if counts["run_end"] != 1 || counts["call_end"] != 0 || counts["agent_end"] != 0 {
					t.Errorf("the journal has %v", counts)
				}
				got, err := ReadEvidence(os.DirFS(tn.dir), EndDir, 0)
				if err != nil || len(got.Agents) != 3 || got.Goroutines == nil {
					t.Errorf("read back %+v, %v", got, err)
				}
			})
		})
	}
}

// runInterrupted is run with a context that is cancelled from outside at an instant. A virtual world
// looks at its context every thousand steps, so that something must keep it busy.
func (c tiny) runInterrupted(t *testing.T, w sim.World, at time.Duration) *Report {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	w.AfterFunc(at, func() { cancel(errSignal) })
	if w.Virtual() {
		w.Spawn(context.Background(), "busy", func(ctx context.Context) {
			if w.Sleep(ctx, at) == nil {
				for range 3000 {
					_ = w.Sleep(ctx, 0)
				}
			}
		})
	}
	return c.run(t, w, ctx)
}

// TestPanicLeavesWholeLines: when a process panics, the run fails, and what was known is on the disk.
func TestPanicLeavesWholeLines(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		dir := filepath.Join(t.TempDir(), "b")
		b, err := bundle.Create(dir, bundle.Run{}, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		s := script{steps: [][]time.Duration{{10 * time.Second, 20 * time.Second}}, journal: NewJournal(w, b.Log(bundle.EventsLog))}
		s.options.Bundle = b
		f := s.fleet(t, w)
		err = w.Run(context.Background(), func(ctx context.Context) {
			w.Spawn(ctx, "bad", func(ctx context.Context) {
				_ = w.Sleep(ctx, 15*time.Second)
				panic("broken invariant")
			})
			_, _ = f.Run(ctx)
		})
		if p := new(sim.PanicError); !errors.As(err, &p) {
			t.Errorf("the world ended with %v", err)
		}
		if counts := checkEvents(t, read(t, dir, "events.jsonl")); counts["step_end"] != 1 {
			t.Errorf("the journal has %v", counts)
		}
	})
}

// TestDirectoryVanishes: the run goes on, and says at the end what went wrong.
func TestDirectoryVanishes(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		c := newTiny()
		c.dir = filepath.Join(t.TempDir(), "b")
		c.options.Judge = func(now, before *Evidence) any {
			if now.Episode == 1 {
				if err := os.RemoveAll(c.dir); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		r := c.run(t, w, context.Background())
		if r.Why != Completed || r.Totals.AgentsDone != 3 || r.Stalls < 2 || r.End == nil {
			t.Errorf("%s", describe(r))
		}
		if r.WriteErr == nil || !strings.Contains(r.WriteErr.Error(), c.dir) || strings.Contains(r.WriteErr.Error(), "\n") {
			t.Errorf("error %v", r.WriteErr)
		}
	})
}

// TestEpisodesKept: of many stalls the first ones and the last are kept, on disk and in the report.
func TestEpisodesKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	b, err := bundle.Create(dir, bundle.Run{}, bundle.Options{Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := script{steps: [][]time.Duration{every(70*time.Second, 70*time.Second, 840*time.Second)}, journal: NewJournal(w, b.Log(bundle.EventsLog))}
	s.options.Bundle, s.options.Watchdog = b, DefaultWatchdog()
	s.options.Watchdog.EpisodesKept = 3
	judged := map[int]int{}
	s.options.Judge = func(now, _ *Evidence) any {
		if now.EndedAt != 0 {
			judged[now.Episode]++
		}
		return [2]any{now.Episode, now.EndedAt != 0}
	}
	r, err := s.run(t, w, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for _, ep := range r.Episodes {
		numbers = append(numbers, fmt.Sprint(ep.Number))
		if ep.Verdict != [2]any{ep.Number, true} {
			t.Errorf("stall %d has verdict %v", ep.Number, ep.Verdict)
		}
	}
	if got := strings.Join(numbers, " "); got != "1 2 12" || r.Stalls != 12 {
		t.Errorf("kept %s of %d", got, r.Stalls)
	}
	dirs, _ := filepath.Glob(filepath.Join(dir, "stalls", "*"))
	for i := range dirs {
		dirs[i] = filepath.Base(dirs[i])
	}
	if got := strings.Join(dirs, " "); got != "01 02 12" {
		t.Errorf("the bundle has %s", got)
	}
	if counts := checkEvents(t, read(t, dir, "events.jsonl")); counts["stall"] != 12 || counts["stall_end"] != 12 {
		t.Errorf("the journal has %v", counts)
	}
	for n := 1; n <= 12; n++ {
		if judged[n] != 1 {
			t.Errorf("stall %d was judged %d times with its end", n, judged[n])
		}
	}
}

// TestJudgedOnceWithoutBundle: nobody reads the verdicts that later ones replace, but every episode is
// judged, so that the gravest is known whether it is kept or not.
func TestJudgedOnceWithoutBundle(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	s := script{steps: [][]time.Duration{every(70*time.Second, 70*time.Second, 840*time.Second)}}
	s.options.Watchdog = DefaultWatchdog()
	s.options.Watchdog.EpisodesKept = 3
	var judged []string
	s.options.Judge = func(now, _ *Evidence) any {
		judged = append(judged, fmt.Sprint(now.Episode))
		return [2]any{now.Episode, now.EndedAt != 0}
	}
	r, err := s.run(t, w, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(judged, " "); got != "1 2 3 4 5 6 7 8 9 10 11 12" {
		t.Errorf("judged were %s", got)
	}
	for _, ep := range r.Episodes {
		if ep.Verdict != [2]any{ep.Number, true} {
			t.Errorf("stall %d has verdict %v", ep.Number, ep.Verdict)
		}
	}
}

// TestSubAgents: they stand in the evidence beside their parents, and are no tasks.
func TestSubAgents(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	l := NewLedger(w, nil)
	obs := l.AgentObserver()
	parent := &agents.State{Name: "agent-01", Task: "task-01", Stage: pacer.StageTool, Tool: agents.ToolSubAgent, WaitsFor: []string{"agent-01.s1"}}
	child := &agents.State{Name: "agent-01.s1", Task: "task-01.s1", Parent: "agent-01"}
	w.Lock()
	defer w.Unlock()
	obs.AgentStarted(parent)
	obs.AgentStarted(child)
	got := l.agentStates()
	if len(got) != 2 || got[0].WaitsOn[0] != "agent-01.s1" || got[1].Parent != "agent-01" {
		t.Errorf("%+v", got)
	}
	parent.WaitsFor[0] = "changed later"
	if got[0].WaitsOn[0] != "agent-01.s1" {
		t.Error("the evidence shares memory with the agent")
	}
	obs.AgentEnded(child, nil)
	obs.AgentEnded(&agents.State{Name: "stranger"}, nil)
	if got := l.agentStates(); len(got) != 1 || got[0].Name != "agent-01" || l.total.AgentsDone != 0 {
		t.Errorf("%+v, %+v", got, l.total)
	}
	obs.AgentEnded(parent, nil)
	if l.live != 0 || l.oldest != nil || l.newest != nil {
		t.Error("the books are not empty")
	}
}

// TestStartSpread: the first agents start at instants of their own, whatever the number of workers.
func TestStartSpread(t *testing.T) {
	starts := func(workers int) map[string]sim.Instant {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 5})
		at := map[string]sim.Instant{}
		s := script{steps: make([][]time.Duration, 8)}
		s.options.Fleet = Config{Workers: workers, StartSpread: time.Minute}
		f := s.fleet(t, w)
		f.o.Run = func(ctx context.Context, name string, _ agents.Task) error {
			at[name] = w.Now()
			return w.Sleep(ctx, time.Hour)
		}
		f.o.Horizon = time.Hour
		if err := w.Run(context.Background(), func(ctx context.Context) { _, _ = f.Run(ctx) }); err != nil {
			t.Fatal(err)
		}
		return at
	}
	all, some := starts(0), starts(3)
	if len(all) != 8 || len(some) != 3 {
		t.Fatalf("%d and %d agents started", len(all), len(some))
	}
	seen := map[sim.Instant]bool{}
	for name, at := range all {
		if at <= 0 || at >= sim.Instant(time.Minute) || seen[at] {
			t.Errorf("%s starts at %v", name, at)
		}
		if other, ok := some[name]; ok && other != at {
			t.Errorf("%s starts at %v or %v", name, at, other)
		}
		seen[at] = true
	}
}

// TestNobodyStartsForLong: the time before an agent starts is no stall, however long it is.
func TestNobodyStartsForLong(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 5})
	s := script{steps: make([][]time.Duration, 2)}
	s.options.Fleet = Config{StartSpread: 100 * time.Hour}
	f := s.fleet(t, w)
	f.o.Run = func(context.Context, string, agents.Task) error { return nil }
	f.o.Horizon = 0
	err := w.Run(context.Background(), func(ctx context.Context) {
		if r, _ := f.Run(ctx); r.Stalls != 0 || r.Why != Completed || w.Now() < sim.Instant(time.Hour) {
			t.Errorf("%d stalls, %v at %v", r.Stalls, r.Why, w.Now())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		agents, i int
		want      string
	}{{1, 0, "agent-01"}, {30, 29, "agent-30"}, {99, 98, "agent-99"}, {100, 0, "agent-001"}, {1000, 999, "agent-1000"}, {100_000, 6, "agent-000007"}} {
		f := Fleet{o: Options{Fleet: Config{Agents: c.agents}}}
		if got := f.nameOf("agent", c.i); got != c.want {
			t.Errorf("agent %d of %d is %s, want %s", c.i, c.agents, got, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	run := func(context.Context, string, agents.Task) error { return nil }
	calls := func() []pacer.CallState { return nil }
	good := Options{Fleet: DefaultConfig(), Watchdog: DefaultWatchdog(), Run: run, Calls: calls}
	for _, c := range []struct {
		set  func(o *Options)
		want string
	}{
		{func(o *Options) {}, ""},
		{func(o *Options) { o.Fleet.Agents = -1 }, "fleet.agents: found -1"},
		{func(o *Options) { o.Watchdog.StallAfter = 0 }, "watchdog.stall_after: found 0s"},
		{func(o *Options) { o.Horizon = -1 }, "horizon: found -1ns"},
		{func(o *Options) { o.Watchdog.GiveUpAfter = 0 }, "horizon: found 0 (none)"},
		{func(o *Options) { o.Run = nil }, "Run and Calls"},
		{func(o *Options) { o.Tasks = make([]agents.Task, 3) }, "3 tasks for 30 agents"},
	} {
		o := good
		c.set(&o)
		w := sim.NewVirtual(sim.VirtualOptions{})
		_, err := New(w, NewLedger(w, nil), o)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestFlushedEachSecond looks at the journal's file while a run on the wall, sixty times as fast, goes
// on: it is never more than a second of the machine behind.
func TestFlushedEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Seed: 1, Scale: 60})
		dir := filepath.Join(t.TempDir(), "b")
		b, err := bundle.Create(dir, bundle.Run{Clock: "wall", Scale: 60}, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		s := script{steps: [][]time.Duration{every(time.Second, time.Second, 200*time.Second)}, journal: NewJournal(w, b.Log(bundle.EventsLog))}
		s.options.Bundle = b
		f := s.fleet(t, w)
		err = w.Run(context.Background(), func(ctx context.Context) {
			w.Spawn(ctx, "reader", func(ctx context.Context) {
				for _, seconds := range []int{90, 150} {
					_ = w.Sleep(ctx, time.Duration(seconds)*time.Second-time.Duration(w.Now()))
					if n := checkEvents(t, read(t, dir, "events.jsonl"))["step_end"]; n < seconds-60 || n > seconds {
						t.Errorf("after %d s the file has %d steps", seconds, n)
					}
				}
			})
			_, _ = f.Run(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
