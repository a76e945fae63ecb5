package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// endlessRun is a run with a demand whose tasks take the same time each, and end with a step.
type endlessRun struct {
	options Options
	takes   time.Duration
	fails   func(task string) bool
	journal *Journal

	begun  []string      // "agent task"
	starts []sim.Instant // of those
	atWork int
}

// watchedBy is a watchdog that knows stalls of so long.
func watchedBy(stallAfter time.Duration) Watchdog {
	w := DefaultWatchdog()
	w.StallAfter, w.GiveUpAfter = stallAfter, 0
	return w
}

func (e *endlessRun) run(t testing.TB, w sim.World) *Report {
	t.Helper()
	l := NewLedger(w, e.journal)
	o := e.options
	o.Name, o.Calls = "endless-1", func() []pacer.CallState { return nil }
	if o.Watchdog.StallAfter == 0 {
		o.Watchdog = watchedBy(time.Hour)
	}
	o.Run = func(ctx context.Context, name string, task agents.Task) error {
		return e.play(ctx, w, l, name, task.ID)
	}
	f, err := New(w, l, o)
	if err != nil {
		t.Fatal(err)
	}
	var report *Report
	if err := w.Run(context.Background(), func(ctx context.Context) {
		if report, err = f.Run(ctx); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return report
}

func (e *endlessRun) play(ctx context.Context, w sim.World, l *Ledger, name, task string) (err error) {
	obs, st := l.AgentObserver(), &agents.State{Name: name, Task: task, Since: w.Now()}
	w.Lock()
	e.begun, e.starts = append(e.begun, name+" "+task), append(e.starts, w.Now())
	e.atWork++
	obs.AgentStarted(st)
	w.Unlock()
	defer func() {
		w.Lock()
		e.atWork--
		obs.AgentEnded(st, err)
		w.Unlock()
	}()
	if e.fails != nil && e.fails(task) {
		return errors.New("it has had enough")
	}
	if err := w.Sleep(ctx, e.takes); err != nil {
		return err
	}
	w.Lock()
	st.Step++
	obs.StepDone(st)
	w.Unlock()
	return nil
}

// TestClosedDemand: as many agents are at work as the level says, a task's length late when it goes down.
func TestClosedDemand(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		d := demand.Config{
			Stages: []demand.Stage{{Over: 10 * time.Minute, To: 40}, {Over: 10 * time.Minute, To: 5, Step: true}, {Over: time.Minute, To: 0}},
			Spikes: []demand.Spike{{At: 15 * time.Minute, Lasts: time.Minute, Times: 3}},
		}
		e := endlessRun{takes: 9973 * time.Millisecond} // so that none ends in the instant of a look
		looks := 0
		e.options = Options{Fleet: Config{Agents: 100, Workers: 8}, Demand: &d, Horizon: 25 * time.Minute, Ticks: []Tick{{Every: 5 * time.Second, Do: func(now sim.Instant) {
			w.Lock()
			defer w.Unlock()
			looks++
			at := time.Duration(now)
			want := d.WithAgents(8)
			least, most := math.Inf(1), 0.0
			for back := range 16 * time.Second / time.Second {
				level := want.Level(max(0, at-back*time.Second))
				least, most = min(least, level), max(most, level)
			}
			if got := float64(e.atWork); got < least-1 || got > most+1 {
				t.Errorf("%v: %v agents at work, want %.1f to %.1f", at, got, least, most)
			}
		}}}}
		r := e.run(t, w)
		if r.Why != Horizon || looks < 299 || w.Virtual() && looks > 299 { // on the wall, one may come with the end
			t.Errorf("ended %v after %d looks, want at the horizon after 299", r.Why, looks)
		}
		slices.Sort(e.begun)
		if e.begun[0] != "agent-000001 task-000001" || len(e.begun) != len(slices.Compact(slices.Clone(e.begun))) {
			t.Errorf("the first of %d tasks is %s", len(e.begun), e.begun[0])
		}
	})
}

func TestTasksMax(t *testing.T) {
	for _, d := range []demand.Config{{}, {Loop: demand.Open, TasksPerH: 3600}} {
		t.Run(string(d.Loop), func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World) {
				e := endlessRun{takes: 7 * time.Second}
				e.options = Options{Fleet: Config{Agents: 3}, Demand: &d, TasksMax: 100, Horizon: time.Hour}
				r := e.run(t, w)
				if r.Why != Completed || r.Totals.AgentsDone != 100 || len(e.begun) != 100 || e.begun[99] != "agent-000100 task-000100" {
					t.Errorf("ended %v with %d done, %d begun, want completed with 100", r.Why, r.Totals.AgentsDone, len(e.begun))
				}
			})
		})
	}
}

// TestFewerTasksThanAgents: no more are hired than there are tasks.
func TestFewerTasksThanAgents(t *testing.T) {
	e := endlessRun{takes: time.Second}
	e.options = Options{Fleet: Config{Agents: 50, StartSpread: time.Minute}, Demand: &demand.Config{}, TasksMax: 7, Horizon: time.Hour}
	r := e.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}))
	if r.Why != Completed || len(e.begun) != 7 || e.starts[6] == e.starts[0] {
		t.Errorf("ended %v with %d begun at %v, want completed with 7 spread over a minute", r.Why, len(e.begun), e.starts)
	}
}

// TestOpenDemand: tasks arrive when they do, however long they take, and wait when all workers are busy.
func TestOpenDemand(t *testing.T) {
	run := func(takes time.Duration, workers int) *endlessRun {
		e := &endlessRun{takes: takes}
		e.options = Options{Fleet: Config{Workers: workers}, Demand: &demand.Config{Loop: demand.Open, TasksPerH: 720}, Horizon: time.Hour}
		arrived := 0
		e.options.Arrived = func(agent string) {
			if arrived++; agent != fmt.Sprintf("agent-%06d", arrived) {
				t.Errorf("arrival %d is %s", arrived, agent)
			}
		}
		e.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}))
		return e
	}
	quick, slow, few := run(time.Second, 0), run(time.Minute, 0), run(10*time.Second, 1)
	if n := len(quick.starts); n < 600 || n > 840 {
		t.Errorf("%d tasks began, want about 720", n)
	}
	if !slices.Equal(quick.starts, slow.starts) {
		t.Error("tasks that take longer arrive at other instants")
	}
	if n := len(few.starts); n < 330 || n > 361 {
		t.Errorf("one worker began %d tasks of 10 s in an hour, want about 360: the others wait", n)
	}
	if !slices.Equal(few.starts[:1], quick.starts[:1]) {
		t.Error("the first one waits, with a worker that is free")
	}
}

// TestFailingTasksArePaced: an agent whose task fails at once does not begin the next one at once.
func TestFailingTasksArePaced(t *testing.T) {
	e := endlessRun{takes: time.Second, fails: func(string) bool { return true }}
	e.options = Options{Fleet: Config{Agents: 4}, Demand: &demand.Config{}, Horizon: time.Minute}
	r := e.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}))
	if n := r.Totals.AgentsFailed; n < 4*59 || n > 4*61 || len(r.Failures) != failuresMax {
		t.Errorf("%d tasks failed in a minute, and %d are told of, want about 240 and %d", n, len(r.Failures), failuresMax)
	}
}

// TestTasksAgain: given tasks are gone through again and again, under IDs of their own.
func TestTasksAgain(t *testing.T) {
	e := endlessRun{takes: time.Second}
	e.options = Options{Fleet: Config{Agents: 1}, Demand: &demand.Config{}, TasksMax: 3, Horizon: time.Hour, Tasks: []agents.Task{{ID: "a"}, {ID: "b-7"}}}
	e.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}))
	if want := []string{"agent-000001 a-000001", "agent-000002 b-7-000002", "agent-000003 a-000003"}; !slices.Equal(e.begun, want) {
		t.Errorf("got %q, want %q", e.begun, want)
	}
	for _, id := range []string{"a", "b-7", "", "x-1234567"} {
		if got := FirstID(AgainID(id, 1_234_567)); got != id {
			t.Errorf("%q comes back as %q", id, got)
		}
	}
	for _, id := range []string{"task-07", "123456", "a-000001.s1", "-"} {
		if got := FirstID(id); got != id {
			t.Errorf("%q, which is no second one, becomes %q", id, got)
		}
	}
}

// TestEndlessIsDeterministic: the same seed, the same journal and the same hash.
func TestEndlessIsDeterministic(t *testing.T) {
	run := func(seed uint64) (string, uint64) {
		var journal bytes.Buffer
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		e := endlessRun{takes: 3 * time.Second, journal: NewJournal(w, &journal)}
		e.options = Options{Fleet: Config{Workers: 2}, Demand: &demand.Config{Loop: demand.Open, TasksPerH: 1800, Daily: demand.Daily{Low: 0.5}}, Horizon: time.Hour}
		e.run(t, w)
		return journal.String(), w.Hash()
	}
	first, hash := run(1)
	if again, same := run(1); again != first || same != hash {
		t.Error("seed 1: two runs differ")
	}
	if other, _ := run(2); other == first {
		t.Error("seeds 1 and 2 give the same run")
	}
}

// TestTick: instants on a grid, also when one is late, and none after the end.
func TestTick(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		var at, called []sim.Instant
		e := endlessRun{takes: time.Second}
		e.options = Options{Fleet: Config{Agents: 1}, Demand: &demand.Config{}, Horizon: 20 * time.Second, Ticks: []Tick{{Every: 3 * time.Second, Do: func(now sim.Instant) {
			at, called = append(at, now), append(called, w.Now())
			if !w.Virtual() && now == sec(6) {
				time.Sleep(4 * time.Second) // the one at 9 s passes
			}
		}}}}
		e.run(t, w)
		want := []sim.Instant{sec(3), sec(6), sec(9), sec(12), sec(15), sec(18)}
		if !w.Virtual() {
			want = slices.Delete(want, 2, 3)
		}
		if !slices.Equal(at, want) || !slices.Equal(called, want) {
			t.Errorf("ticks of %v at %v, want %v", at, called, want)
		}
	})
}

// TestManyStalls: of however many stalls, only so many are kept, in memory and on the disk.
func TestManyStalls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b, err := bundle.Create(dir, bundle.Run{}, bundle.Options{Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	e := endlessRun{takes: time.Minute}
	e.options = Options{Fleet: Config{Agents: 1}, Demand: &demand.Config{}, TasksMax: 200, Horizon: 10 * time.Hour, Watchdog: watchedBy(20 * time.Second), Bundle: b}
	e.options.Watchdog.EpisodesKept = 3
	r := e.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}))
	if err := b.Close(); err != nil || r.Stalls != 200 || len(r.Episodes) != 3 {
		t.Fatalf("%d stalls, %d kept (%v), want 200 and 3", r.Stalls, len(r.Episodes), err)
	}
	kept, err := os.ReadDir(filepath.Join(dir, "stalls"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range kept {
		names = append(names, d.Name())
	}
	if got := strings.Join(names, " "); got != "01 02 200" {
		t.Errorf("on the disk are %s, want 01 02 200", got)
	}
}

func TestDemandOptions(t *testing.T) {
	good := func() Options {
		return Options{
			Fleet: Config{Agents: 3}, Demand: &demand.Config{}, Horizon: time.Hour, Watchdog: DefaultWatchdog(),
			Calls: func() []pacer.CallState { return nil }, Run: func(context.Context, string, agents.Task) error { return nil },
		}
	}
	for _, row := range []struct {
		change func(o *Options)
		want   string
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.Demand.Agents = -1 }, "harness: New: demand.agents: found -1, want 0 (the fleet's workers) to 1000000"},
		{func(o *Options) { o.Demand = nil; o.TasksMax = 3 }, "harness: New: tasks_max: found 3 without a Demand, want them together"},
		{func(o *Options) { o.TasksMax = -3 }, "harness: New: tasks_max: found -3, want 0 (no end) to 1000000000"},
		{func(o *Options) { o.Arrivals = make([]Arrival, 1) }, "harness: New: demand: found it beside guests or arrivals, want one of them"},
		{func(o *Options) { o.Tasks = []agents.Task{} }, "harness: New: tasks: found none to be gone through, want some, or nil"},
		{func(o *Options) { o.Ticks = []Tick{{Every: time.Second}} }, "harness: New: ticks[0]: found one every 1s, want 1ms to 1000h0m0s, and something to do"},
		{func(o *Options) { o.Ticks = []Tick{{Do: func(sim.Instant) {}}} }, "harness: New: ticks[0]: found one every 0s, want 1ms to 1000h0m0s, and something to do"},
	} {
		o := good()
		row.change(&o)
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		_, err := New(w, NewLedger(w, nil), o)
		if got := fmt.Sprint(err); got != row.want && !(err == nil && row.want == "") {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}
