package sim_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// nap is the length of a benchmark process's next sleep. Lengths differ, so that each event is a true
// switch between processes through the event queue.
func nap(s *sim.Stream) time.Duration { return time.Duration(1 + s.Uint64()%1_000_000) }

// BenchmarkKernel measures events a second, and against a loop that does nothing but keep a heap and
// switch coroutines ("bare"): 1.0 would be a kernel that costs nothing.
func BenchmarkKernel(b *testing.B) {
	for _, n := range []int{1, 30, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("processes=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			each := b.N/n + 1
			bare := bareLoop(n, each)
			w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
			run(b, w, func(ctx context.Context) {
				all := make([]*sim.Process, n)
				for i := range all {
					all[i] = w.Spawn(ctx, "p", func(ctx context.Context) {
						s := sim.NewStream(1, "p", "nap").At(i)
						for range each {
							_ = w.Sleep(ctx, nap(&s))
						}
					})
				}
				_ = w.Sleep(ctx, 0)
				b.ResetTimer()
				for _, p := range all {
					_ = p.Wait(ctx)
				}
				b.StopTimer()
			})
			rate := float64(n*each) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "events/s")
			b.ReportMetric(rate/bare, "of-bare")
		})
	}
}

// bareLoop runs the same naps in the least that could do it, and returns its events a second.
func bareLoop(n, each int) float64 {
	heap := make([]bareEvent, 0, n)
	seq := 0
	push := func(at int64, next func() (int64, bool)) {
		seq++
		heap = append(heap, bareEvent{at, seq, next})
		for i := len(heap) - 1; i > 0 && heap[i].before(heap[(i-1)/2]); i = (i - 1) / 2 {
			heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		}
	}
	for i := range n {
		next, stop := iter.Pull(func(yield func(int64) bool) {
			s := sim.NewStream(1, "p", "nap").At(i)
			for range each {
				yield(int64(nap(&s)))
			}
		})
		defer stop()
		d, _ := next()
		push(d, next)
	}
	start := time.Now()
	for len(heap) > 0 {
		e := heap[0]
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		for i := 0; 2*i+1 < last; {
			c := 2*i + 1
			if c+1 < last && heap[c+1].before(heap[c]) {
				c++
			}
			if !heap[c].before(heap[i]) {
				break
			}
			heap[i], heap[c] = heap[c], heap[i]
			i = c
		}
		if d, more := e.next(); more {
			push(e.at+d, e.next)
		}
	}
	return float64(n*each) / time.Since(start).Seconds()
}

type bareEvent struct {
	at   int64
	seq  int
	next func() (int64, bool)
}

func (a bareEvent) before(b bareEvent) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// BenchmarkProcess measures what a process costs: to spawn, run and end one, and what it occupies
// while it is parked, with and without its stack.
func BenchmarkProcess(b *testing.B) {
	b.Run("spawn", func(b *testing.B) {
		b.ReportAllocs()
		w := sim.NewVirtual(sim.VirtualOptions{})
		run(b, w, func(ctx context.Context) {
			for range b.N {
				_ = w.Spawn(ctx, "p", func(context.Context) {}).Wait(ctx)
			}
		})
	})
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("parked=%d", n), func(b *testing.B) {
			w := sim.NewVirtual(sim.VirtualOptions{})
			run(b, w, func(ctx context.Context) {
				before := memory()
				for range n {
					w.Spawn(ctx, "p", func(ctx context.Context) { _ = w.Sleep(ctx, time.Hour) })
				}
				_ = w.Sleep(ctx, time.Second)
				after := memory()
				each := func(before, after uint64) float64 { return (float64(after) - float64(before)) / float64(n) }
				b.ReportMetric(each(before.HeapInuse, after.HeapInuse), "heap-B/process")
				b.ReportMetric(each(before.StackInuse, after.StackInuse), "stack-B/process")
			})
		})
	}
}

func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// BenchmarkObjects measures one round of each waiting object, in both worlds.
func BenchmarkObjects(b *testing.B) {
	worlds := []struct {
		name string
		make func() sim.World
	}{
		{"virtual", func() sim.World { return sim.NewVirtual(sim.VirtualOptions{}) }},
		{"wall", func() sim.World { return sim.NewWall(sim.WallOptions{}) }},
	}
	cause := errors.New("cause")
	rounds := []struct {
		name string
		// setUp returns what to do once for each round.
		setUp func(ctx context.Context, w sim.World) func()
	}{
		{"semaphore-free", func(ctx context.Context, w sim.World) func() {
			s := sim.NewSemaphore(w, "s", 2)
			return func() {
				l, _ := s.Acquire(ctx, sim.Party{Name: "p"})
				_ = l.Release()
			}
		}},
		{"semaphore-handed-over", func(ctx context.Context, w sim.World) func() {
			s := sim.NewSemaphore(w, "s", 1)
			l, _ := s.Acquire(ctx, sim.Party{Name: "main"})
			w.Spawn(ctx, "other", func(ctx context.Context) {
				for {
					l, err := s.Acquire(ctx, sim.Party{Name: "other"})
					if err != nil {
						return
					}
					_ = l.Release()
				}
			})
			_ = w.Sleep(ctx, time.Millisecond) // until other waits
			return func() {
				_ = l.Release()
				l, _ = s.Acquire(ctx, sim.Party{Name: "main"})
			}
		}},
		{"timer-reset", func(ctx context.Context, w sim.World) func() {
			t := w.AfterFunc(time.Hour, func() {})
			return func() { t.Reset(time.Hour) }
		}},
		{"timeout-unused", func(ctx context.Context, w sim.World) func() {
			return func() {
				_, release := sim.WithTimeout(ctx, w, time.Hour, cause)
				release()
			}
		}},
		{"cancel", func(ctx context.Context, w sim.World) func() {
			return func() {
				c, cancel := w.WithCancel(ctx)
				p := w.Spawn(c, "p", func(ctx context.Context) { _ = w.Sleep(ctx, time.Hour) })
				_ = w.Sleep(ctx, 1)
				cancel(cause)
				_ = p.Wait(ctx)
			}
		}},
	}
	for _, r := range rounds {
		for _, world := range worlds {
			b.Run(r.name+"/"+world.name, func(b *testing.B) {
				b.ReportAllocs()
				w := world.make()
				run(b, w, func(ctx context.Context) {
					f := r.setUp(ctx, w)
					b.ResetTimer()
					for range b.N {
						f()
					}
					b.StopTimer()
				})
			})
		}
	}
}
