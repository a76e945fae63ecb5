package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

func TestSleepTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		perform(t, w, func(p *play) []row {
			sleeper := func(name string, d time.Duration) func() {
				return p.actor(name, func(ctx context.Context) (string, error) { return "woke", w.Sleep(ctx, d) })
			}
			return []row{
				{0, all(sleeper("zero", 0), sleeper("negative", -time.Hour)), "negative woke; zero woke"},
				{0, all(sleeper("five", 5*time.Millisecond), sleeper("nine", 9*time.Millisecond)), ""},
				{4, nil, ""},
				{6, nil, "five woke"},
				{7, p.cancel("nine"), "nine cancelled"},
				{8, all(p.tooLate("late"), sleeper("late", time.Hour)), "late cancelled"},
				{9, all(sleeper("cut", time.Hour), p.cancel("cut")), "cut cancelled"},
				{20, p.cancel("five"), ""},
			}
		})
	})
}

func TestSemaphoreTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		s := sim.NewSemaphore(w, "slots", 2)
		perform(t, w, func(p *play) []row {
			leases := map[string]sim.Lease{}
			acquire := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) {
					l, err := s.Acquire(ctx, sim.Party{What: "work"})
					w.Lock()
					leases[name] = l
					w.Unlock()
					return "holds", err
				})
			}
			release := func(name string) func() {
				return func() {
					w.Lock()
					l := leases[name]
					w.Unlock()
					if err := l.Release(); err != nil {
						p.say(err.Error())
					}
				}
			}
			state := func() {
				st := s.State()
				p.say(fmt.Sprintf("%d/%d %v | %v", st.InUse, st.Capacity, names(st.Holders), names(st.Waiters)))
			}
			try := func() {
				l, ok := s.TryAcquire(sim.Party{Name: "try"})
				p.say(fmt.Sprint("try ", ok))
				if ok {
					_ = l.Release()
				}
			}
			return []row{
				{0, acquire("a"), "a holds"},
				{1, try, "try true"},
				{2, acquire("b"), "b holds"},
				{3, all(try, state), "2/2 [a b] | []; try false"},
				{4, acquire("c"), ""},
				{5, acquire("d"), ""},
				{6, acquire("e"), ""},
				{7, state, "2/2 [a b] | [c d e]"},
				{8, p.cancel("d"), "d cancelled"},
				{9, all(release("b"), try), "c holds; try false"}, // the permit has c's name on it at once
				{10, state, "2/2 [a c] | [e]"},
				{11, release("b"), `sim: semaphore "slots": permit 1 was given back already`},
				{12, p.race(release("a"), "e"), "e cancelled"}, // granted, then cancelled: passed on
				{13, all(state, try), "1/2 [c] | []; try true"},
				{14, all(p.tooLate("f"), acquire("f")), "f cancelled"}, // cancelled before it began
				{15, all(release("c"), release("d"), state), "0/2 [] | []"},
			}
		})
	})
}

// TestSemaphorePassesOn has a permit granted to a waiter that is cancelled at the same instant: it
// must go to the next in line.
func TestSemaphorePassesOn(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		s := sim.NewSemaphore(w, "", 1)
		perform(t, w, func(p *play) []row {
			first, _ := s.TryAcquire(sim.Party{})
			acquire := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) {
					_, err := s.Acquire(ctx, sim.Party{})
					return "holds", err
				})
			}
			return []row{
				{0, acquire("a"), ""},
				{1, acquire("b"), ""},
				{2, p.race(func() { _ = first.Release() }, "a"), "a cancelled; b holds"},
			}
		})
	})
}

func TestQueueTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		q := sim.NewQueue[int](w, "q", 2)
		perform(t, w, func(p *play) []row {
			get := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) {
					i, err := q.Get(ctx)
					return fmt.Sprint("got ", i), err
				})
			}
			put := func(name string, i int) func() {
				return p.actor(name, func(ctx context.Context) (string, error) { return "put", q.Put(ctx, i) })
			}
			try := func() {
				i, ok := q.TryGet()
				p.say(fmt.Sprintf("try %d %v", i, ok))
			}
			locked := func(i int) func() {
				return func() { w.Lock(); defer w.Unlock(); q.PutLocked(i) }
			}
			return []row{
				{0, all(put("p1", 1), try), "p1 put; try 0 false"},
				{1, put("p2", 2), "p2 put"},
				{2, put("p3", 3), ""},
				{3, put("p4", 4), ""},
				{4, put("p5", 5), ""},
				{5, p.cancel("p4"), "p4 cancelled"},
				{6, try, "p3 put; try 1 true"},
				// A place is promised to p5, which is cancelled before it can come: it is free again.
				{7, p.race(try, "p5"), "p5 cancelled; try 2 true"},
				{8, put("p6", 6), "p6 put"},
				{9, locked(7), ""}, // over the bound
				{10, put("p8", 8), ""},
				{11, try, "try 3 true"}, // down to the bound: still no place
				{12, try, "p8 put; try 6 true"},
				{13, get("g7"), "g7 got 7"},
				{14, get("g8"), "g8 got 8"},
				{15, get("g9"), ""},
				{16, get("g10"), ""},
				{17, get("g11"), ""},
				{18, p.cancel("g10"), "g10 cancelled"},
				{19, all(locked(9), try), "g9 got 9; try 0 false"}, // promised to g9: no slipping in
				{20, get("g12"), ""},
				// The item is promised to g11, which is cancelled before it can come: it goes to g12.
				{21, p.race(locked(10), "g11"), "g11 cancelled; g12 got 10"},
				{22, get("g13"), ""},
				{23, q.Close, "g13 sim: queue is closed"},
				{24, all(put("p14", 14), locked(14), get("g14"), try), "g14 sim: queue is closed; p14 sim: queue is closed; try 0 false"},
			}
		})
	})
}

// TestQueueClose has a full queue closed: those who wait for room hear of it, and what is inside can
// still be had.
func TestQueueClose(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		var q sim.Queue[string]
		q.Init(w, "", 1)
		perform(t, w, func(p *play) []row {
			put := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) { return "put", q.Put(ctx, name) })
			}
			get := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) { return q.Get(ctx) })
			}
			return []row{
				{0, put("a"), "a put"},
				{1, put("b"), ""},
				{2, q.Close, "b sim: queue is closed"},
				{3, get("c"), "c a"},
				{4, get("d"), "d sim: queue is closed"},
			}
		})
	})
}

func TestLatchTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		l := sim.NewLatch(w, "door")
		perform(t, w, func(p *play) []row {
			wait := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) { return "through", l.Wait(ctx) })
			}
			return []row{
				{0, all(wait("a"), wait("b"), wait("c")), ""},
				{1, p.cancel("b"), "b cancelled"},
				{2, l.Open, "a through; c through"},
				{3, all(l.Open, wait("d")), "d through"},
				{4, all(p.tooLate("e"), wait("e")), "e cancelled"},
			}
		})
	})
}

func TestTimerTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		perform(t, w, func(p *play) []row {
			var timer, self *sim.Timer
			start := func(ms time.Duration) func() {
				return func() { timer = w.AfterFunc(ms*time.Millisecond, func() { p.sayLocked("rings") }) }
			}
			reset := func(ms time.Duration) func() { return func() { timer.Reset(ms * time.Millisecond) } }
			stop := func() { p.say(fmt.Sprint("stop ", timer.Stop())) }
			// A timer that resets itself twice, then stops itself, which is too late.
			repeat := func() {
				n := 0
				w.Lock() // so that on the wall it does not ring before self is set
				defer w.Unlock()
				self = w.AfterFunc(3*time.Millisecond, func() {
					if n++; n < 3 {
						self.Reset(3 * time.Millisecond)
					}
					p.sayLocked(fmt.Sprint("again ", n, " ", n == 3 && self.Stop()))
				})
			}
			// A timer that is due, and stopped, or put off, before its function can have the monitor.
			stopInTime := func() {
				w.Lock()
				defer w.Unlock()
				timer = w.AfterFunc(0, func() { p.sayLocked("too early") })
				p.sayLocked(fmt.Sprint("stop ", timer.Stop()))
			}
			return []row{
				{0, start(5), ""},
				{4, nil, ""},
				{6, nil, "rings"},
				{7, stop, "stop false"},
				{8, reset(2), ""},
				{11, nil, "rings"},
				{12, all(start(2), stop, stop), "stop false; stop true"},
				{20, nil, ""},
				{21, start(2), ""},
				{22, reset(4), ""},
				{24, reset(4), ""},
				{27, nil, ""},
				{29, nil, "rings"},
				{30, start(-5), "rings"},
				{31, repeat, ""},
				{35, nil, "again 1 false"},
				{38, nil, "again 2 false"},
				{41, nil, "again 3 false"},
				{50, stopInTime, "stop true"},
				{51, reset(2), ""},
				{54, nil, "too early"},
			}
		})
	})
}

func TestContextTimeline(t *testing.T) {
	errLimit := errors.New("limit")
	inEachWorld(t, func(t *testing.T, w sim.World) {
		perform(t, w, func(p *play) []row {
			limited := func(name string, ms time.Duration) func() {
				return p.actor(name, func(ctx context.Context) (string, error) {
					ctx, done := sim.WithTimeout(ctx, w, ms*time.Millisecond, errLimit)
					err := w.Sleep(ctx, 10*time.Millisecond)
					done()
					done() // is allowed
					return "done", err
				})
			}
			// A wait two contexts below the one that is cancelled, with a value in between, and one
			// that has left its cancellable context behind.
			type key struct{}
			below := p.actor("below", func(ctx context.Context) (string, error) {
				ctx, cancel := w.WithCancel(context.WithValue(ctx, key{}, "v"))
				defer cancel(nil)
				ctx = context.WithValue(ctx, key{}, "w")
				return "done", w.Sleep(ctx, time.Hour)
			})
			without := p.actor("without", func(ctx context.Context) (string, error) {
				free := context.WithoutCancel(ctx)
				err := w.Sleep(free, 10*time.Millisecond)
				_, cancel := w.WithCancel(free)
				cancel(nil)
				return fmt.Sprint("done ", sim.Cause(free), " ", sim.Cause(ctx)), err
			})
			describe := func() {
				a, cancelA := w.WithCancel(p.ctx)
				b, _ := w.WithCancel(a)
				said := fmt.Sprint(a.Err(), sim.Cause(a), isClosed(a.Done()))
				cancelA(errLimit)
				cancelA(errors.New("second"))
				c, _ := w.WithCancel(b)
				d, cancelD := w.WithCancel(p.ctx)
				cancelD(nil)
				e, cancelE := w.WithCancel(p.ctx)
				cancelE(context.DeadlineExceeded)
				for _, x := range []context.Context{a, b, c, d, e} {
					said += fmt.Sprint(", ", x.Err(), " ", sim.Cause(x), " ", isClosed(x.Done()))
				}
				p.say(said)
			}
			return []row{
				{0, all(limited("short", 5), limited("long", 15)), ""},
				{6, nil, "short limit"},
				{11, nil, "long done"},
				{20, all(limited("other", 5), p.cancel("other")), "other cancelled"},
				{21, below, ""},
				{22, p.cancel("below"), "below cancelled"},
				{23, without, ""},
				{24, p.cancel("without"), ""},
				{34, nil, "without done <nil> cancelled"},
				{40, describe, "<nil> <nil> false, " +
					"context canceled limit true, context canceled limit true, context canceled limit true, " +
					"context canceled context canceled true, context canceled context deadline exceeded true"},
			}
		})
	})
}

func TestProcessTimeline(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		perform(t, w, func(p *play) []row {
			var worker *sim.Process
			start := func() {
				worker = w.Spawn(p.ctx, "worker", func(ctx context.Context) {
					w.Lock() // which start holds until worker is set
					if sim.ProcessOf(ctx) != worker || worker.Name() != "worker" {
						t.Error("the context does not know its process")
					}
					w.Unlock()
					_ = w.Sleep(ctx, 5*time.Millisecond)
				})
			}
			wait := func(name string) func() {
				return p.actor(name, func(ctx context.Context) (string, error) {
					err := worker.Wait(ctx)
					for _, s := range w.Processes() {
						if s.Name == name && (s.WaitsFor != "" || s.Since != 0) {
							t.Errorf("%s runs, and is said to wait for %q since %v", name, s.WaitsFor, s.Since)
						}
					}
					return "joined", err
				})
			}
			state := func() {
				for _, s := range w.Processes() {
					p.say(fmt.Sprintf("%s: %s %d", s.Name, s.WaitsFor, int64(s.Since)/int64(time.Millisecond)))
				}
			}
			return []row{
				{0, all(func() { w.Lock() }, start, func() { w.Unlock() }), ""}, // Spawn works with the monitor held
				{1, all(wait("a"), wait("b")), ""},
				{2, p.cancel("b"), "b cancelled"},
				{3, state, "a: process worker 1; main:  0; worker: sleep 0"},
				{6, nil, "a joined"},
				{7, all(p.tooLate("c"), wait("c")), "c joined"}, // it has ended: that is no wait
			}
		})
	})
}

func names(parties []sim.Party) []string {
	out := []string{}
	for _, p := range parties {
		out = append(out, p.Name)
	}
	return out
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
