package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// BenchmarkKernel measures events a second: every process sleeps for lengths of its own, so that
// each event is a true switch between processes through the heap.
func BenchmarkKernel(b *testing.B) {
	for _, n := range []int{1, 30, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("processes=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
			each := b.N/n + 1
			err := w.Run(context.Background(), func(ctx context.Context) {
				all := make([]*sim.Process, n)
				for i := range all {
					all[i] = w.Spawn(ctx, "p", func(ctx context.Context) {
						s := w.Stream("p", "nap").At(i)
						for range each {
							_ = w.Sleep(ctx, time.Duration(1+s.Uint64()%1_000_000))
						}
					})
				}
				b.ResetTimer()
				for _, p := range all {
					_ = p.Wait(ctx)
				}
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(w.Steps())/b.Elapsed().Seconds(), "events/s")
		})
	}
}
