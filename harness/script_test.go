package harness

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// script is a fleet whose agents finish steps at given instants, and then end.
type script struct {
	steps   [][]time.Duration // by agent: instants of its steps; one that is negative is an error at its absolute value
	stuck   []bool            // by agent: it never ends after its last step
	options Options
	journal *Journal
	ledger  *Ledger
}

func (s *script) fleet(t testing.TB, w sim.World) *Fleet {
	t.Helper()
	s.ledger = NewLedger(w, s.journal)
	o := s.options
	if o.Watchdog.StallAfter == 0 {
		o.Watchdog = DefaultWatchdog()
	}
	o.Name = "script-1"
	o.Fleet.Agents = len(s.steps)
	o.Calls = func() []pacer.CallState { return nil }
	next := map[string]int{}
	for i := range s.steps {
		next[fmt.Sprintf("task-%02d", i+1)] = i
	}
	o.Run = func(ctx context.Context, name string, task agents.Task) error {
		return s.play(ctx, w, name, task.ID, next[task.ID])
	}
	f, err := New(w, s.ledger, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (s *script) play(ctx context.Context, w sim.World, name, task string, i int) (err error) {
	obs := s.ledger.AgentObserver()
	st := &agents.State{Name: name, Task: task, Stage: pacer.StageThink, Since: w.Now()}
	if p := sim.ProcessOf(ctx); p != nil {
		p.SetLabels(func() []string {
			return []string{"agent", name, "task", task, "call", fmt.Sprint(st.Step), "stage", "tool"}
		})
	}
	w.Lock()
	obs.AgentStarted(st)
	w.Unlock()
	defer func() {
		w.Lock()
		obs.AgentEnded(st, err)
		w.Unlock()
	}()
	for _, at := range s.steps[i] {
		fails := at < 0
		if fails {
			at = -at
		}
		if err := w.Sleep(ctx, at-time.Duration(w.Now())); err != nil {
			return err
		}
		if fails {
			return fmt.Errorf("%s has had enough", name)
		}
		w.Lock()
		st.Step++
		obs.StepDone(st)
		w.Unlock()
		if p := sim.ProcessOf(ctx); p != nil {
			p.Relabel()
		}
	}
	if i < len(s.stuck) && s.stuck[i] {
		return sim.NewLatch(w, "nobody opens it").Wait(ctx)
	}
	return nil
}

// run plays the script in a world.
func (s *script) run(t testing.TB, w sim.World, ctx context.Context) (*Report, error) {
	t.Helper()
	f := s.fleet(t, w)
	var report *Report
	err := w.Run(ctx, func(ctx context.Context) {
		var err error
		if report, err = f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return report, err
}

// inBothWorlds runs a test in virtual time and on the wall.
func inBothWorlds(t *testing.T, test func(t *testing.T, w sim.World)) {
	t.Run("virtual", func(t *testing.T) { test(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1})) })
	t.Run("wall", func(t *testing.T) { onWall(t, test) })
}

func sec(s float64) sim.Instant { return sim.Instant(s * 1e9) }

// every returns instants from first to last, step apart.
func every(step, first, last time.Duration) (out []time.Duration) {
	for at := first; at <= last; at += step {
		out = append(out, at)
	}
	return out
}

// onWall runs a test on the wall, inside a bubble whose clock stands still while something runs, so
// that it sees the same instants as one in virtual time.
func onWall(t *testing.T, test func(t *testing.T, w sim.World)) {
	synctest.Test(t, func(t *testing.T) { test(t, sim.NewWall(sim.WallOptions{Seed: 1})) })
}
