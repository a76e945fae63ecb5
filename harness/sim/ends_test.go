package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

// crowd starts processes in every state that a world can leave behind: parked in each kind of wait,
// woken and not yet resumed, never started, parked with deferred functions that wait, spawn, release
// and cancel.
func crowd(ctx context.Context, w sim.World) {
	s := sim.NewSemaphore(w, "crowd", 1)
	q := sim.NewQueue[int](w, "crowd", 0)
	l := sim.NewLatch(w, "crowd")
	held, _ := s.TryAcquire(sim.Party{Name: "crowd"})
	w.Spawn(ctx, "sleeper", func(ctx context.Context) { _ = w.Sleep(ctx, 1000*time.Hour) })
	w.Spawn(ctx, "granted", func(ctx context.Context) { _, _ = s.Acquire(ctx, sim.Party{}) })
	w.Spawn(ctx, "acquirer", func(ctx context.Context) { _, _ = s.Acquire(ctx, sim.Party{}) })
	w.Spawn(ctx, "getter", func(ctx context.Context) { _, _ = q.Get(ctx) })
	waiter := w.Spawn(ctx, "waiter", func(ctx context.Context) { _ = l.Wait(ctx) })
	w.Spawn(ctx, "joiner", func(ctx context.Context) { _ = waiter.Wait(ctx) })
	w.Spawn(ctx, "careful", func(ctx context.Context) {
		ctx, cancel := w.WithCancel(ctx)
		defer cancel(nil)
		defer func() { _ = w.Sleep(ctx, time.Hour) }()
		defer func() { _ = l.Wait(ctx) }()
		defer func() { _ = w.Spawn(ctx, "too late", func(context.Context) {}).Wait(ctx) }()
		defer q.Close()
		defer func() { _ = held.Release() }()
		w.Lock()
		defer w.Unlock()
		var never sim.Cond
		_ = never.WaitLocked(ctx, w, "nothing")
	})
	_ = w.Sleep(ctx, time.Millisecond)
	_ = held.Release()                                          // granted is woken, and perhaps not resumed any more
	w.Spawn(ctx, "new", func(ctx context.Context) { l.Open() }) // perhaps never started
}

var errEnd = errors.New("the end")

// ends lists the ways in which a run can end. Each has a crowd about it.
var ends = []struct {
	name string
	main func(ctx context.Context, w sim.World, interrupt func())
	want string // of Run's error; "" is nil
}{
	{"return", func(ctx context.Context, w sim.World, _ func()) {}, ""},
	{"panic in main", func(ctx context.Context, w sim.World, _ func()) {
		panic(errEnd)
	}, `sim: process "main" panicked: the end`},
	{"panic in a process", func(ctx context.Context, w sim.World, _ func()) {
		_ = w.Spawn(ctx, "bad", func(context.Context) { panic(errEnd) }).Wait(ctx)
		_ = w.Sleep(ctx, time.Hour)
	}, `sim: process "bad" panicked: the end`},
	{"panic in a timer", func(ctx context.Context, w sim.World, _ func()) {
		w.AfterFunc(time.Second, func() { panic(errEnd) })
		_ = w.Sleep(ctx, time.Hour)
	}, `sim: process "timer" panicked: the end`},
	{"panic on the way out", func(ctx context.Context, w sim.World, _ func()) {
		w.Spawn(ctx, "bad", func(ctx context.Context) {
			defer func() { panic(errEnd) }()
			_ = w.Sleep(ctx, time.Hour)
		})
		_ = w.Sleep(ctx, time.Second)
	}, `sim: process "bad" panicked: the end`},
	{"interrupt", func(ctx context.Context, w sim.World, interrupt func()) {
		interrupt()
		for w.Sleep(ctx, time.Second) == nil {
		}
	}, "the end"},
	{"interrupt that main does not report", func(ctx context.Context, w sim.World, interrupt func()) {
		interrupt()
		for w.Sleep(ctx, 0) == nil {
		}
		_ = w.Sleep(context.WithoutCancel(ctx), time.Second)
	}, "the end"},
}

// TestEveryEnd checks Run's error, and that no goroutine is left. The virtual worlds count, since
// their coroutines are stopped when Run returns; for the wall the bubble does.
func TestEveryEnd(t *testing.T) {
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			inEachWorld(t, func(t *testing.T, w sim.World) {
				before := runtime.NumGoroutine()
				ctx, interrupt := context.WithCancelCause(context.Background())
				defer interrupt(nil)
				err := w.Run(ctx, func(ctx context.Context) {
					crowd(ctx, w)
					end.main(ctx, w, func() { interrupt(errEnd) })
				})
				got, _, _ := strings.Cut(fmt.Sprint(err), "\n")
				if err == nil {
					got = ""
				}
				if got != end.want {
					t.Errorf("Run: %v, want %s", err, end.want)
				}
				if w.Virtual() {
					noneLeft(t, before)
				}
				if left := w.Processes(); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		})
	}
}

// TestGoexit has a process leave as t.FailNow does: the goroutine that called Run must leave too,
// with everybody stopped.
func TestGoexit(t *testing.T) {
	bodies := map[string]func(ctx context.Context, w sim.World){
		"main": func(ctx context.Context, w sim.World) { runtime.Goexit() },
		"process": func(ctx context.Context, w sim.World) {
			w.Spawn(ctx, "leaver", func(ctx context.Context) { runtime.Goexit() })
			_ = w.Sleep(ctx, time.Hour)
		},
		"timer": func(ctx context.Context, w sim.World) {
			w.AfterFunc(time.Second, runtime.Goexit)
			_ = w.Sleep(ctx, time.Hour)
		},
		"on the way out": func(ctx context.Context, w sim.World) {
			for range 3 {
				w.Spawn(ctx, "leaver", func(ctx context.Context) {
					defer runtime.Goexit()
					_ = w.Sleep(ctx, time.Hour)
				})
			}
			_ = w.Sleep(ctx, time.Second)
		},
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			inEachWorld(t, func(t *testing.T, w sim.World) {
				before := runtime.NumGoroutine()
				returned := false
				var wg sync.WaitGroup
				wg.Go(func() {
					_ = w.Run(context.Background(), func(ctx context.Context) {
						crowd(ctx, w)
						body(ctx, w)
					})
					returned = true
				})
				wg.Wait()
				if returned {
					t.Error("Run returned as if nothing had happened")
				}
				if left := w.Processes(); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				if w.Virtual() {
					noneLeft(t, before)
				}
			})
		})
	}
}

func panickingFunction(w sim.World) {
	w.Lock()
	defer w.Unlock()
	var p *sim.Party
	p.Name = "nobody"
}

// TestPanicStack checks that the stack is that of the panic, although it is caught far above.
func TestPanicStack(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		err := w.Run(context.Background(), func(ctx context.Context) {
			crowd(ctx, w)
			w.Spawn(ctx, "bad", func(context.Context) { panickingFunction(w) })
			_ = w.Sleep(ctx, time.Hour)
		})
		var p *sim.PanicError
		if !errors.As(err, &p) || p.Process != "bad" || !strings.Contains(fmt.Sprint(p.Value), "nil pointer") {
			t.Fatalf("Run: %v", err)
		}
		for _, frame := range []string{"sim_test.panickingFunction(", "ends_test.go"} {
			if !strings.Contains(string(p.Stack), frame) {
				t.Errorf("the stack lacks %q:\n%s", frame, p.Stack)
			}
		}
	})
}

// TestWaitersHearOfPanic: on the wall the others go on by themselves, and hear why they must end.
func TestWaitersHearOfPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{})
		var heard, foreign error
		err := w.Run(context.Background(), func(ctx context.Context) {
			w.Spawn(ctx, "bad", func(context.Context) { panic(errEnd) })
			heard = w.Sleep(ctx, time.Hour)
			foreign = w.Sleep(context.Background(), time.Hour)
		})
		if heard != err || err == nil || foreign != sim.ErrStopped || w.Now() != 0 {
			t.Errorf("at %v Run: %v; main under its context heard %v, under another %v", w.Now(), err, heard, foreign)
		}
	})
}

// TestPanicWithMonitor panics on the wall with the monitor held for good: Run must not hang.
func TestPanicWithMonitor(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{})
	w.LosePatience()
	err := w.Run(context.Background(), func(ctx context.Context) {
		w.Spawn(ctx, "bad", func(context.Context) {
			w.Lock()
			panic(errEnd)
		})
		_ = w.Sleep(ctx, time.Hour)
	})
	var p *sim.PanicError
	if !errors.As(err, &p) {
		t.Errorf("Run: %v", err)
	}
}

// TestPanicFreesMonitor: after a virtual run that panicked with the monitor held there is still a
// state to be read.
func TestPanicFreesMonitor(t *testing.T) {
	for _, where := range []string{"process", "timer"} {
		w := sim.NewVirtual(sim.VirtualOptions{})
		err := w.Run(context.Background(), func(ctx context.Context) {
			if where == "timer" {
				w.AfterFunc(0, func() { panic(errEnd) })
				_ = w.Sleep(ctx, 1)
			}
			w.Lock()
			panic(errEnd)
		})
		if err == nil || len(w.Objects()) != 0 {
			t.Errorf("%s: Run: %v", where, err)
		}
	}
}

func TestDeadlock(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{})
	err := w.Run(context.Background(), func(ctx context.Context) {
		a, b := sim.NewSemaphore(w, "a", 1), sim.NewSemaphore(w, "b", 1)
		both := func(name string, first, second *sim.Semaphore) *sim.Process {
			return w.Spawn(ctx, name, func(ctx context.Context) {
				l, _ := first.Acquire(ctx, sim.Party{What: "writes"})
				defer func() { _ = l.Release() }()
				_ = w.Sleep(ctx, time.Second)
				m, _ := second.Acquire(ctx, sim.Party{})
				defer func() { _ = m.Release() }()
			})
		}
		both("p", a, b)
		_ = both("q", b, a).Wait(ctx)
	})
	want := `sim: at 1s nothing is runnable and nothing is queued; 3 wait:
	main waits for process q since 0s
	p waits for semaphore b since 1s
	q waits for semaphore a since 1s
	semaphore a: 1 of 1 held, by p writes since 0s
	semaphore b: 1 of 1 held, by q writes since 0s`
	if fmt.Sprint(err) != want {
		t.Errorf("Run: %v\nwant %s", err, want)
	}
	var d *sim.DeadlockError
	if !errors.As(err, &d) || d.At != sim.Instant(time.Second) || len(d.Waiting) != 3 || len(d.Objects) != 2 {
		t.Errorf("Run: %#v", err)
	}
}

func TestDeadlockOfMany(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Shuffle: true})
	err := w.Run(context.Background(), func(ctx context.Context) {
		l := sim.NewLatch(w, "l")
		for range 30 {
			w.Spawn(ctx, "p", func(ctx context.Context) { _ = l.Wait(ctx) })
		}
		_ = l.Wait(ctx)
	})
	if !strings.HasSuffix(fmt.Sprint(err), "\n\tp waits for latch l since 0s\n\tand 11 more") {
		t.Errorf("Run: %v", err)
	}
}

func TestLivelock(t *testing.T) {
	mains := map[string]func(ctx context.Context, w sim.World){
		"ping-pong": func(ctx context.Context, w sim.World) {
			a, b := sim.NewQueue[int](w, "", 0), sim.NewQueue[int](w, "", 0)
			pass := func(from, to *sim.Queue[int]) func(ctx context.Context) {
				return func(ctx context.Context) {
					for {
						_ = to.Put(ctx, 1)
						_, _ = from.Get(ctx)
					}
				}
			}
			w.Spawn(ctx, "ping", pass(a, b))
			_ = w.Spawn(ctx, "pong", pass(b, a)).Wait(ctx)
		},
		"no sleep": func(ctx context.Context, w sim.World) {
			for {
				_ = w.Sleep(ctx, 0)
			}
		},
		"timer": func(ctx context.Context, w sim.World) {
			var timer *sim.Timer
			timer = w.AfterFunc(0, func() { timer.Reset(0) })
			_ = w.Sleep(ctx, time.Second)
		},
	}
	for name, main := range mains {
		t.Run(name, func(t *testing.T) {
			w := sim.NewVirtual(sim.VirtualOptions{StepsPerInstantMax: 1000})
			before := runtime.NumGoroutine()
			err := w.Run(context.Background(), func(ctx context.Context) {
				_ = w.Sleep(ctx, time.Second)
				main(ctx, w)
			})
			var l *sim.LivelockError
			if !errors.As(err, &l) || l.At != sim.Instant(time.Second) || l.Steps != 1001 ||
				!strings.HasPrefix(err.Error(), "sim: 1001 steps at 1s and time does not move on; the last process was ") {
				t.Errorf("Run: %v", err)
			}
			noneLeft(t, before)
		})
	}
}

// TestStepsWhileTimeMoves: the bound is for an instant, not for a run.
func TestStepsWhileTimeMoves(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{StepsPerInstantMax: 10})
	run(t, w, func(ctx context.Context) {
		for range 1000 {
			_ = w.Sleep(ctx, 1)
			_ = w.Sleep(ctx, 0)
		}
	})
}

type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errEnd
	}
	return len(p), nil
}

func TestTraceError(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Trace: &failingWriter{left: 3}})
	err := w.Run(context.Background(), func(ctx context.Context) {
		crowd(ctx, w)
		for w.Sleep(ctx, time.Second) == nil {
		}
	})
	if !errors.Is(err, errEnd) {
		t.Errorf("Run: %v, want %v", err, errEnd)
	}
}
