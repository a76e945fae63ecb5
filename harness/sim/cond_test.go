package sim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// TestCond has a process wait for a count to change, in both worlds: it must see each change once,
// and a cancelled wait must leave no waiter behind.
func TestCond(t *testing.T) {
	body := func(t *testing.T, w sim.World) {
		errGone := errors.New("gone")
		var cond sim.Cond
		count := 0
		err := w.Run(context.Background(), func(ctx context.Context) {
			var seen []int
			watcher := w.Spawn(ctx, "watcher", func(ctx context.Context) {
				w.Lock()
				defer w.Unlock()
				for last := 0; last < 3; {
					for count == last {
						if err := cond.WaitLocked(ctx, w, "a higher count"); err != nil {
							t.Errorf("WaitLocked: %v", err)
							return
						}
					}
					last = count
					seen = append(seen, last)
				}
			})
			quitCtx, quit := w.WithCancel(ctx)
			quitter := w.Spawn(quitCtx, "quitter", func(ctx context.Context) {
				w.Lock()
				defer w.Unlock()
				if err := cond.WaitLocked(ctx, w, "nothing"); !errors.Is(err, errGone) {
					t.Errorf("cancelled WaitLocked: %v, want %v", err, errGone)
				}
			})
			_ = w.Sleep(ctx, time.Millisecond)
			quit(errGone)
			_ = quitter.Wait(ctx)
			for range 3 {
				_ = w.Sleep(ctx, time.Millisecond)
				w.Lock()
				count++
				cond.WakeAllLocked(w)
				w.Unlock()
			}
			_ = watcher.Wait(ctx)
			if len(seen) != 3 {
				t.Errorf("changes seen: %v, want 1, 2, 3", seen)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Run("virtual", func(t *testing.T) { body(t, sim.NewVirtual(sim.VirtualOptions{})) })
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { body(t, sim.NewWall(sim.WallOptions{})) })
	})
}
