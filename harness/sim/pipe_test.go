package sim_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// inBothWithPipes runs a test in a virtual world and on the wall's real clock: a bubble does not take a
// blocked system call for a wait.
func inBothWithPipes(t *testing.T, body func(t *testing.T, ctx context.Context, w sim.World)) {
	t.Run("virtual", func(t *testing.T) {
		w := sim.NewVirtual(sim.VirtualOptions{})
		if err := w.Run(context.Background(), func(ctx context.Context) { body(t, ctx, w) }); err != nil {
			t.Error(err)
		}
	})
	t.Run("wall", func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Scale: 1000})
		if err := w.Run(context.Background(), func(ctx context.Context) { body(t, ctx, w) }); err != nil {
			t.Error(err)
		}
	})
}

// state returns that of the only object.
func stateOf(w sim.World) sim.ObjectState { return w.Objects()[0] }

// untilBlocked waits until n bytes are in the pipe and its writer waits for room.
func untilBlocked(t *testing.T, ctx context.Context, w sim.World, n int) sim.ObjectState {
	t.Helper()
	for range 10_000 {
		// On the wall a write under way is listed too, for a moment.
		if s := stateOf(w); s.InUse == n && len(s.Waiters) == 1 {
			return s
		}
		_ = w.Sleep(ctx, time.Second)
	}
	t.Fatalf("never full: %+v", stateOf(w))
	return sim.ObjectState{}
}

func TestPipe(t *testing.T) {
	inBothWithPipes(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p, err := sim.NewPipe(w, "log")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var wrote error
		tool := w.Spawn(ctx, "tool", func(ctx context.Context) { wrote = p.Write(ctx, 3*sim.PipeBytes/2, sim.Party{What: "its log"}) })
		s := untilBlocked(t, ctx, w, sim.PipeBytes)
		if s.Kind != "pipe" || s.Name != "log" || s.Capacity != sim.PipeBytes || s.Waiters[0].Name != "tool" || s.Waiters[0].What != "its log" {
			t.Errorf("state %+v", s)
		}
		if ps := w.Processes(); ps[1].WaitsFor != "room in pipe log" {
			t.Errorf("processes %+v", ps)
		}
		if !w.Virtual() && !strings.Contains(stacks(), "os.(*File).Write") {
			t.Error("no goroutine is seen to be blocked in a write")
		}
		if err := p.Drain(); err != nil {
			t.Fatal(err)
		}
		if err := tool.Wait(ctx); err != nil || wrote != nil {
			t.Errorf("%v, %v: once somebody has read, it goes on", err, wrote)
		}
		if s := stateOf(w); s.InUse != sim.PipeBytes/2 || len(s.Waiters) != 0 {
			t.Errorf("state %+v, want half full", s)
		}
	})
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestPipeCancelled(t *testing.T) {
	inBothWithPipes(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p, err := sim.NewPipe(w, "log")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		stop := errors.New("stop")
		under, cancel := w.WithCancel(ctx)
		var wrote error
		tool := w.Spawn(under, "tool", func(ctx context.Context) { wrote = p.Write(ctx, 2*sim.PipeBytes, sim.Party{}) })
		untilBlocked(t, ctx, w, sim.PipeBytes)
		cancel(stop)
		if err := tool.Wait(ctx); err != nil || wrote != stop { //nolint:errorlint // as it is
			t.Errorf("%v, %v, want the cause", err, wrote)
		}
		if s := stateOf(w); len(s.Waiters) != 0 {
			t.Errorf("left behind: %+v", s)
		}
		if err := p.Write(under, 1, sim.Party{}); err != stop { //nolint:errorlint // as it is
			t.Errorf("a write under a cancelled context: %v", err)
		}
	})
}

// The end of a run ends whoever is blocked.
func TestPipeAtTheEndOfTheRun(t *testing.T) {
	inBothWithPipes(t, func(t *testing.T, ctx context.Context, w sim.World) {
		p, err := sim.NewPipe(w, "log")
		if err != nil {
			t.Fatal(err)
		}
		w.Spawn(context.WithoutCancel(ctx), "tool", func(ctx context.Context) { _ = p.Write(ctx, 2*sim.PipeBytes, sim.Party{}) })
		untilBlocked(t, ctx, w, sim.PipeBytes)
	})
}
