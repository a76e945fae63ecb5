package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// TestMisuse lists what a virtual world refuses, with a panic that says what is wrong: on the wall it
// would hang, or end a wait behind the kernel's back.
func TestMisuse(t *testing.T) {
	other := sim.NewVirtual(sim.VirtualOptions{})
	misuses := []struct {
		name string
		do   func(ctx context.Context, w *sim.Virtual)
		want string
	}{
		{"sleep under a context from elsewhere", func(_ context.Context, w *sim.Virtual) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_ = w.Sleep(ctx, 1)
		}, "a cancellable context that is not its own"},
		{"sleep under a cancel put between", func(ctx context.Context, w *sim.Virtual) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			_ = w.Sleep(ctx, 1)
		}, "a cancellable context that is not its own"},
		{"spawn under a cancel put between", func(ctx context.Context, w *sim.Virtual) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			w.Spawn(ctx, "p", func(context.Context) {})
		}, "a cancellable context that is not its own"},
		{"cancel context under a cancel put between", func(ctx context.Context, w *sim.Virtual) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			w.WithCancel(ctx)
		}, "a cancellable context that is not its own"},
		{"wait under another world's context", func(_ context.Context, w *sim.Virtual) {
			panic(other.Run(context.Background(), func(ctx context.Context) { _ = sim.NewLatch(w, "").Wait(ctx) }))
		}, "a cancellable context that is not its own"},
		{"lock twice", func(ctx context.Context, w *sim.Virtual) {
			w.Lock()
			w.Lock()
		}, "the monitor is held already"},
		{"unlock without lock", func(ctx context.Context, w *sim.Virtual) { w.Unlock() }, "the monitor is not held"},
		{"acquire with the monitor held", func(ctx context.Context, w *sim.Virtual) {
			s := sim.NewSemaphore(w, "", 1)
			w.Lock()
			_, _ = s.Acquire(ctx, sim.Party{})
		}, "the monitor is held already"},
		{"sleep with the monitor held", func(ctx context.Context, w *sim.Virtual) {
			w.Lock()
			_ = w.Sleep(ctx, 1)
		}, "Sleep with the monitor held"},
		{"objects with the monitor held", func(ctx context.Context, w *sim.Virtual) {
			w.Lock()
			w.Objects()
		}, "the monitor is held already"},
		{"open a latch without the monitor", func(ctx context.Context, w *sim.Virtual) {
			l := sim.NewLatch(w, "")
			w.Spawn(ctx, "p", func(ctx context.Context) { _ = l.Wait(ctx) })
			_ = w.Sleep(ctx, 1)
			l.OpenLocked()
		}, "without the monitor held"},
		{"sleep in a timer", func(ctx context.Context, w *sim.Virtual) {
			w.AfterFunc(1, func() { _ = w.Sleep(ctx, 1) })
			_ = w.Sleep(ctx, 2)
		}, "Sleep outside a process"},
		{"acquire in a timer", func(ctx context.Context, w *sim.Virtual) {
			s := sim.NewSemaphore(w, "", 1)
			w.AfterFunc(1, func() { _, _ = s.Acquire(ctx, sim.Party{}) })
			_ = w.Sleep(ctx, 2)
		}, "the monitor is held already"},
		{"sleep in a labels function", func(ctx context.Context, w *sim.Virtual) {
			sim.ProcessOf(ctx).SetLabels(func() []string { _ = w.Sleep(ctx, 1); return nil })
			w.RefreshLabels()
			_ = w.Sleep(ctx, 1)
		}, "Sleep outside a process"},
		{"run twice", func(ctx context.Context, w *sim.Virtual) { _ = w.Run(ctx, nil) }, "a world runs once"},
		{"a semaphore of nothing", func(ctx context.Context, w *sim.Virtual) { sim.NewSemaphore(w, "none", 0) },
			`NewSemaphore "none": 0 permits`},
	}
	for _, m := range misuses {
		t.Run(m.name, func(t *testing.T) {
			w := sim.NewVirtual(sim.VirtualOptions{})
			before := runtime.NumGoroutine()
			err := w.Run(context.Background(), func(ctx context.Context) {
				crowd(ctx, w)
				m.do(ctx, w)
			})
			var p *sim.PanicError
			if !errors.As(err, &p) || !strings.Contains(fmt.Sprint(p.Value), m.want) {
				t.Errorf("Run: %v, want a panic that says %q", err, m.want)
			}
			noneLeft(t, before)
		})
	}
}

func TestWallRunsOnce(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{})
	run(t, w, func(context.Context) {})
	defer func() {
		if recover() == nil {
			t.Error("the second Run did not panic")
		}
	}()
	_ = w.Run(context.Background(), func(context.Context) {})
}

func TestWallRefusesScale(t *testing.T) {
	zero := 0.0
	for _, scale := range []float64{-1, 1 / zero, zero / zero} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("scale %v was taken", scale)
				}
			}()
			sim.NewWall(sim.WallOptions{Scale: scale})
		}()
	}
}

// TestSpawnOutsideRun: a process spawned before Run runs in it, one spawned after it never does.
func TestSpawnOutsideRun(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		early, late := false, false
		p := w.Spawn(context.Background(), "early", func(ctx context.Context) {
			early = true
			_ = w.Sleep(ctx, time.Second)
		})
		run(t, w, func(ctx context.Context) { _ = p.Wait(ctx) })
		q := w.Spawn(context.Background(), "late", func(ctx context.Context) { late = true })
		if !w.Virtual() {
			synctest.Wait()
		}
		if !early || late {
			t.Errorf("early ran: %v, late ran: %v, want only early", early, late)
		}
		if err := q.Wait(context.Background()); err != nil {
			t.Errorf("Wait for one that never ran: %v", err)
		}
		w.AfterFunc(0, func() { t.Error("a timer rang after the end") })
	})
}

// TestEarlyPanic has a process panic before Run: Run must end at once and say so.
func TestEarlyPanic(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		w.Spawn(context.Background(), "early", func(context.Context) { panic(errEnd) })
		if !w.Virtual() {
			synctest.Wait()
		}
		err := w.Run(context.Background(), func(ctx context.Context) { _ = w.Sleep(ctx, time.Hour) })
		var p *sim.PanicError
		if !errors.As(err, &p) || w.Now() != 0 {
			t.Errorf("at %v Run: %v", w.Now(), err)
		}
	})
}

// TestInterruptedBeforeRun: main runs all the same, and finds its context cancelled.
func TestInterruptedBeforeRun(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errEnd)
		var slept error
		err := w.Run(ctx, func(ctx context.Context) { slept = w.Sleep(ctx, time.Second) })
		if err != errEnd || slept != errEnd {
			t.Errorf("Run: %v, Sleep: %v", err, slept)
		}
	})
}

// TestInterruptErr: Err, too, is that of the outer context.
func TestInterruptErr(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		outer, cancel := context.WithTimeout(context.Background(), -1)
		defer cancel()
		err := w.Run(outer, func(ctx context.Context) {
			inner, cancel := w.WithCancel(ctx)
			defer cancel(nil)
			if ctx.Err() != context.DeadlineExceeded || inner.Err() != context.DeadlineExceeded {
				t.Errorf("Err: %v, %v", ctx.Err(), inner.Err())
			}
		})
		if err != context.DeadlineExceeded {
			t.Errorf("Run: %v", err)
		}
	})
}

type contextKey struct{}

// TestValues: values of the outer context, and of contexts in between, reach the bodies.
func TestValues(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		outer := context.WithValue(context.Background(), contextKey{}, "outer")
		err := w.Run(outer, func(ctx context.Context) {
			got := ctx.Value(contextKey{})
			inner, cancel := w.WithCancel(context.WithValue(ctx, contextKey{}, "inner"))
			defer cancel(nil)
			_ = w.Spawn(inner, "p", func(ctx context.Context) {
				got = fmt.Sprint(got, " ", ctx.Value(contextKey{}), " ", sim.ProcessOf(ctx).Name())
			}).Wait(ctx)
			if want := "outer inner p"; got != want {
				t.Errorf("values %q, want %q", got, want)
			}
			if _, ok := ctx.Deadline(); ok {
				t.Error("main's context has a deadline")
			}
		})
		if err != nil || sim.ProcessOf(outer) != nil {
			t.Error(err, sim.ProcessOf(outer))
		}
	})
}

// TestWorldInWorld runs a virtual world inside a process of another.
func TestWorldInWorld(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		run(t, w, func(ctx context.Context) {
			inner := sim.NewVirtual(sim.VirtualOptions{})
			err := inner.Run(ctx, func(ctx context.Context) {
				crowd(ctx, inner)
				_ = inner.Sleep(ctx, time.Hour)
			})
			if err != nil || inner.Now() != sim.Instant(time.Hour+time.Millisecond) {
				t.Errorf("at %v: %v", inner.Now(), err)
			}
			_ = w.Sleep(ctx, time.Second)
		})
	})
}
