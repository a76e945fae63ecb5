package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// inEachWorld runs f in a virtual world, also slowly and shuffled, and in wall worlds inside a
// bubble of testing/synctest, where time stands still while anybody runs.
func inEachWorld(t *testing.T, f func(t *testing.T, w sim.World)) {
	t.Run("virtual", func(t *testing.T) { f(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1})) })
	t.Run("virtual slow", func(t *testing.T) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		w.SleepSlowly()
		f(t, w)
	})
	for seed := range uint64(5) {
		t.Run(fmt.Sprintf("virtual shuffled %d", seed), func(t *testing.T) {
			f(t, sim.NewVirtual(sim.VirtualOptions{Seed: seed, Shuffle: true}))
		})
	}
	for _, scale := range []float64{1, 60, 0.1} {
		t.Run(fmt.Sprintf("wall x%v", scale), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, sim.NewWall(sim.WallOptions{Scale: scale})) })
		})
	}
}

// row is a moment of a play: what is done at an instant, and what the actors have then said by the
// time that nobody can go on without the clock.
type row struct {
	at   int // milliseconds of the run's clock
	do   func()
	want string // what was said since the row before, in alphabetical order, joined by "; "
}

// play is a timeline of rows and the actors in it.
type play struct {
	t       *testing.T
	w       sim.World
	ctx     context.Context // of main
	said    []string        // guarded by the monitor
	cancels map[string]context.CancelCauseFunc
}

// perform runs the rows in w. The last one must leave no actor waiting.
func perform(t *testing.T, w sim.World, rows func(p *play) []row) {
	t.Helper()
	run(t, w, func(ctx context.Context) {
		p := &play{t: t, w: w, ctx: ctx, cancels: map[string]context.CancelCauseFunc{}}
		for i, r := range rows(p) {
			p.until(r.at)
			if r.do != nil {
				r.do()
			}
			_ = w.Sleep(ctx, time.Microsecond)
			w.Lock()
			slices.Sort(p.said)
			got := strings.Join(p.said, "; ")
			p.said = nil
			w.Unlock()
			if got != r.want {
				t.Errorf("row %d at %d ms:\n got %q\nwant %q", i, r.at, got, r.want)
			}
		}
		for _, left := range w.Processes() {
			if left.Name != "main" {
				t.Errorf("at the end %s still waits for %q", left.Name, left.WaitsFor)
			}
		}
	})
}

// until sleeps until an instant, except for the rounding of a wall world's scale.
func (p *play) until(ms int) {
	at := sim.Instant(ms) * sim.Instant(time.Millisecond)
	_ = p.w.Sleep(p.ctx, at.Sub(p.w.Now()))
}

// actor spawns a process with a context of its own, which says what body returns, or its cause.
func (p *play) actor(name string, body func(ctx context.Context) (string, error)) func() {
	return func() {
		ctx, cancel := p.w.WithCancel(p.ctx)
		if p.cancels[name] != nil { // by tooLate
			cancel(errCancelled)
		}
		p.cancels[name] = cancel
		p.w.Spawn(ctx, name, func(ctx context.Context) {
			said, err := body(ctx)
			if err != nil {
				said = err.Error()
			}
			p.say(name + " " + said)
		})
	}
}

func (p *play) say(what string) {
	p.w.Lock()
	defer p.w.Unlock()
	p.sayLocked(what)
}

func (p *play) sayLocked(what string) { p.said = append(p.said, what) }

var errCancelled = errors.New("cancelled")

// cancel cancels an actor's context.
func (p *play) cancel(name string) func() {
	return func() { p.cancels[name](errCancelled) }
}

// tooLate has the context of an actor that does not exist yet cancelled when it begins.
func (p *play) tooLate(name string) func() {
	return func() { p.cancels[name] = func(error) {} }
}

// race does something and cancels an actor before that one can see the effect. On the wall the actor
// could be quick, so that the order is reversed: the actor may, but need not, hear of it in between.
func (p *play) race(do func(), name string) func() {
	if p.w.Virtual() {
		return all(do, p.cancel(name))
	}
	return all(p.cancel(name), do)
}

// all does several things at one instant, in this order.
func all(todo ...func()) func() {
	return func() {
		for _, do := range todo {
			do()
		}
	}
}

// run runs main in w and fails the test if that does.
func run(tb testing.TB, w sim.World, main func(ctx context.Context)) {
	tb.Helper()
	if err := w.Run(context.Background(), main); err != nil {
		tb.Fatal(err)
	}
}

// noneLeft fails the test if there are more goroutines than before. One that has done its last step
// may take a moment to go.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 10_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
