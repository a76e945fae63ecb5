package repro_test

import (
	"context"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// BenchmarkMeasure compares what it takes to run the default scenario as a single run does, measured as
// well, and as a comparison does, which needs no verdict.
func BenchmarkMeasure(b *testing.B) {
	for _, row := range []struct {
		name string
		o    repro.Options
	}{
		{"plain", repro.Options{}},
		{"measured", repro.Options{Measure: &metrics.Options{}}},
		{"no verdict", repro.Options{NoVerdict: true}},
		{"no verdict, measured", repro.Options{NoVerdict: true, Measure: &metrics.Options{}}},
		{"no verdict, series", repro.Options{NoVerdict: true, Measure: &metrics.Options{Series: true}}},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			s := lookup(b, "starvation")
			for b.Loop() {
				if _, err := repro.Run(context.Background(), s, row.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMeasureRatio runs the same by turns, so that whatever else the machine does weighs on all alike, and
// reports how long a measured run takes, and one without a verdict, for each of what a plain one takes.
func BenchmarkMeasureRatio(b *testing.B) {
	s := lookup(b, "starvation")
	modes := [...]repro.Options{{}, {Measure: &metrics.Options{}}, {NoVerdict: true, Measure: &metrics.Options{}}}
	var best [len(modes)]time.Duration
	for b.Loop() {
		for i, o := range modes {
			began := time.Now()
			if _, err := repro.Run(context.Background(), s, o); err != nil {
				b.Fatal(err)
			}
			if took := time.Since(began); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "measured/plain")
	b.ReportMetric(float64(best[2])/float64(best[0]), "compared/plain")
}
