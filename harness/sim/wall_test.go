package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// TestScale: in a bubble time moves in steps that can be predicted, so that the clock, sleeps and
// timers must fit exactly.
func TestScale(t *testing.T) {
	for _, scale := range []float64{0.25, 1, 2, 60, 1000} {
		t.Run(fmt.Sprint(scale), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sim.NewWall(sim.WallOptions{Scale: scale})
				if w.Scale() != scale || w.Virtual() || w.Now() != 0 {
					t.Errorf("Scale %v, Virtual %v, Now %v", w.Scale(), w.Virtual(), w.Now())
				}
				start := time.Now()
				run(t, w, func(ctx context.Context) {
					const d = 3000 * time.Second // which every scale divides
					_ = w.Sleep(ctx, d)
					if real := time.Since(start); w.Now() != sim.Instant(d) || float64(real) != float64(d)/scale {
						t.Errorf("after a sleep of %v it is %v, %v on the machine", d, w.Now(), real)
					}
					var rang sim.Instant
					w.AfterFunc(d, func() { rang = w.Now() })
					_ = w.Sleep(ctx, d+time.Second)
					w.Lock()
					defer w.Unlock()
					if rang != sim.Instant(2*d) {
						t.Errorf("a timer set for %v rang at %v", 2*d, rang)
					}
				})
			})
		})
	}
}

// TestScaleNeverEarly: whatever the scale and the length, a sleep ends at its time or a little later.
func TestScaleNeverEarly(t *testing.T) {
	s := sim.NewStream(1, "scale", "never early")
	for range 300 {
		scale := 0.01 + 100*s.Float64()
		if s.IntN(2) == 0 {
			scale = float64(1+s.IntN(100)) / 10
		}
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWall(sim.WallOptions{Scale: scale})
			run(t, w, func(ctx context.Context) {
				for range 20 {
					d := time.Duration(1 + s.IntN(1000))
					for range s.IntN(4) {
						d *= time.Duration(1 + s.IntN(1000))
					}
					before := w.Now()
					_ = w.Sleep(ctx, d)
					if took := w.Now().Sub(before); took < d || float64(took-d) > 2+2*scale+1e-9*float64(took) {
						t.Errorf("scale %v: a sleep of %d ns took %d ns", scale, d, took)
					}
				}
			})
		})
	}
}

// TestForeverOnWall: lengths beyond what the machine's clock can count are for ever, not never.
func TestForeverOnWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Scale: 0.001})
		run(t, w, func(ctx context.Context) {
			w.AfterFunc(1<<63-1, func() { t.Error("for ever is over") })
			ctx, release := sim.WithTimeout(ctx, w, time.Hour, errEnd)
			defer release()
			if err := w.Sleep(ctx, 1<<63-1); err != errEnd {
				t.Errorf("Sleep: %v", err)
			}
		})
	})
}

// TestRunWaitsForAll: Run returns after the last process, also after one that has work to do when
// its waits end.
func TestRunWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{})
		var slept, acquired, put error
		done := false
		run(t, w, func(ctx context.Context) {
			s := sim.NewSemaphore(w, "", 1)
			_, _ = s.TryAcquire(sim.Party{})
			q := sim.NewQueue[int](w, "", 1)
			_ = q.Put(ctx, 1)
			w.Spawn(ctx, "acquirer", func(ctx context.Context) { _, acquired = s.Acquire(ctx, sim.Party{}) })
			w.Spawn(ctx, "putter", func(ctx context.Context) { put = q.Put(ctx, 2) })
			w.Spawn(context.Background(), "worker", func(ctx context.Context) {
				slept = w.Sleep(ctx, time.Hour)
				time.Sleep(time.Minute) // such as a network call that does not belong to the world
				done = true
			})
			_ = w.Sleep(ctx, time.Second)
		})
		if !done || slept != sim.ErrStopped || !errors.Is(acquired, sim.ErrStopped) || !errors.Is(put, sim.ErrStopped) {
			t.Errorf("done %v; waits ended with %v, %v, %v", done, slept, acquired, put)
		}
		if w.Now() != sim.Instant(time.Second+time.Minute) {
			t.Errorf("Run returned at %v", w.Now())
		}
	})
}

// TestForeignGoroutines: on the wall, goroutines that the world did not start may wait in it, and
// are nobody in its books.
func TestForeignGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{})
		run(t, w, func(ctx context.Context) {
			s := sim.NewSemaphore(w, "s", 1)
			held, _ := s.TryAcquire(sim.Party{Name: "main"})
			got := make(chan error)
			go func() {
				_, err := s.Acquire(context.Background(), sim.Party{Name: "guest"})
				got <- err
			}()
			synctest.Wait()
			if st := s.State(); fmt.Sprint(names(st.Waiters), len(w.Processes())) != "[guest] 1" {
				t.Errorf("state %+v, processes %v", st, w.Processes())
			}
			_ = held.Release()
			if err := <-got; err != nil {
				t.Errorf("Acquire: %v", err)
			}
		})
	})
}

// TestRealClock runs on the machine's clock at a high scale, where everything is late by some amount
// that nobody can tell: only what holds whatever the timing is checked. It is for the race detector.
func TestRealClock(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{Seed: 1, Scale: 1e6})
	var inside, passed, handed atomic.Int64
	var stopped, rang int // guarded by the monitor
	run(t, w, func(ctx context.Context) {
		s := sim.NewSemaphore(w, "s", 3)
		q := sim.NewQueue[int](w, "q", 2)
		var all []*sim.Process
		for i := range 20 {
			all = append(all, w.Spawn(ctx, fmt.Sprint("p", i), func(ctx context.Context) {
				draw := w.Stream("p", "draws").At(i)
				sim.ProcessOf(ctx).SetLabels(func() []string { return []string{"p", fmt.Sprint(i)} })
				for range 50 {
					limited, release := sim.WithTimeout(ctx, w, time.Duration(draw.IntN(200))*time.Second, errEnd)
					timer := w.AfterFunc(time.Duration(draw.IntN(100))*time.Second, func() { rang++ })
					lease, err := s.Acquire(limited, sim.Party{})
					if err == nil {
						if inside.Add(1) > 3 {
							t.Error("more than three hold one of three permits")
						}
						_ = w.Sleep(limited, time.Duration(draw.IntN(100))*time.Second)
						inside.Add(-1)
						if err := lease.Release(); err != nil {
							t.Error(err)
						}
						if q.Put(limited, i) == nil {
							passed.Add(1)
						}
					}
					timer.Reset(time.Duration(draw.IntN(100)) * time.Second)
					_, _ = w.Processes(), w.Objects()
					if draw.IntN(2) == 0 && timer.Stop() {
						w.Lock()
						stopped++
						w.Unlock()
					}
					release()
				}
			}))
		}
		for range 3 {
			all = append(all, w.Spawn(ctx, "getter", func(ctx context.Context) {
				for {
					limited, release := sim.WithTimeout(ctx, w, 50*time.Second, errEnd)
					_, err := q.Get(limited)
					release()
					if errors.Is(err, sim.ErrClosed) {
						return
					}
					if err == nil {
						handed.Add(1)
					}
				}
			}))
		}
		for i, p := range all {
			if i == 20 {
				q.Close()
			}
			_ = p.Wait(ctx)
		}
		if st := s.State(); st.InUse != 0 || len(st.Waiters) != 0 {
			t.Errorf("at the end %+v", st)
		}
	})
	if passed.Load() != handed.Load() {
		t.Errorf("%d items put, %d got", passed.Load(), handed.Load())
	}
	if stopped+rang > 2*20*50 {
		t.Errorf("%d timers stopped and %d rang, of %d armed", stopped, rang, 2*20*50)
	}
}

// TestTimerPutOff puts a timer off while its call is on its way, waiting for the monitor: it must not
// be made then. Should the call not be on its way yet, the test passes without having tested much.
func TestTimerPutOff(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{})
	run(t, w, func(ctx context.Context) {
		rang := false
		w.Lock()
		timer := w.AfterFunc(0, func() { rang = true })
		manyYields()
		timer.Reset(time.Hour)
		w.Unlock()
		manyYields()
		w.Lock()
		defer w.Unlock()
		if rang || !timer.Stop() {
			t.Errorf("rang: %v", rang)
		}
	})
}

func manyYields() {
	for range 20_000 {
		runtime.Gosched()
	}
}

// TestTimerRace resets and stops one timer from many goroutines: what is armed last must ring.
func TestTimerRace(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{Scale: 1e6})
	run(t, w, func(ctx context.Context) {
		for range 20 {
			rings := sim.NewQueue[int](w, "", 0)
			timer := w.AfterFunc(time.Second, func() { rings.PutLocked(1) })
			var all []*sim.Process
			for i := range 8 {
				all = append(all, w.Spawn(ctx, "p", func(ctx context.Context) {
					for n := range 50 {
						if (i+n)%5 == 0 {
							timer.Stop()
						} else {
							timer.Reset(time.Duration(n) * time.Millisecond)
						}
					}
					timer.Reset(time.Second)
				}))
			}
			for _, p := range all {
				_ = p.Wait(ctx)
			}
			if _, err := rings.Get(ctx); err != nil {
				t.Error(err)
			}
		}
	})
}
