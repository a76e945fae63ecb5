package repro_test

import (
	"context"
	"testing"

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
