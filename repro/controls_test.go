package repro_test

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// TestControlsOverTime: the series of how the client's controls stand agree with their sums, and looking changes nothing.
func TestControlsOverTime(t *testing.T) {
	for _, row := range []struct {
		set string
		of  func(s *metrics.Series) []float32
		sum func(r *metrics.Run) float64 // mean over the run, less 0.5 of what is between
		end func(r *metrics.Run) float64
	}{
		{"policy.breaker={rule: consecutive, failure_threshold: 3, delay: 2m}", func(s *metrics.Series) []float32 { return s.Breaker },
			func(r *metrics.Run) float64 {
				return (r.Control.BreakerOpenS + r.Control.BreakerHalfOpenS/2) / r.EndedAtS
			}, nil},
		{"policy.retry_budget={rule: brooker, max_tokens: 20}", func(s *metrics.Series) []float32 { return s.Budget }, nil,
			func(r *metrics.Run) float64 { return r.Control.BudgetEnd }},
		{"pacer.limit={rule: aimd, initial: 8, min: 2, max: 40}", func(s *metrics.Series) []float32 { return s.Limit },
			func(r *metrics.Run) float64 { return r.Control.LimitMean }, func(r *metrics.Run) float64 { return float64(r.Control.LimitEnd) }},
	} {
		sets := []string{"policy.total=60s", "policy.max_attempts=20", "policy.retry_shed=true", row.set}
		r := measuredWith(t, metrics.Options{Series: true, Every: time.Second}, "starvation", sets...)
		without, err := repro.Run(context.Background(), lookup(t, "starvation", sets...), repro.Options{NoVerdict: true, Measure: &metrics.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		values := row.of(r.Series)
		r.Series = nil
		if !bytes.Equal(encoded(t, r), encoded(t, without.Measured)) {
			t.Errorf("%s: a series changes the run", row.set)
		}
		sum, least, most := 0.0, values[0], values[0]
		for _, v := range values {
			sum, least, most = sum+float64(v), min(least, v), max(most, v)
		}
		if least == most {
			t.Errorf("%s: always %v", row.set, least)
		}
		if mean := sum / float64(len(values)); row.sum != nil && math.Abs(mean-row.sum(r)) > 0.02*float64(most) {
			t.Errorf("%s: %v on average by the series, %v by the sum", row.set, mean, row.sum(r))
		}
		if last := values[len(values)-1]; row.end != nil && last != float32(row.end(r)) {
			t.Errorf("%s: %v at the end by the series, %v by the sum", row.set, last, row.end(r))
		}
	}
}
