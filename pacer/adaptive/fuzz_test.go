package adaptive_test

import (
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

// FuzzConfigs: what is taken for valid can be used, and keeps within its bounds.
func FuzzConfigs(f *testing.F) {
	for _, text := range []string{
		"{limit: total, rule: rto, initial: 300s, min: 20s, max: 900s, granularity: 1s}",
		"{limit: idle, rule: quantile, quantile: 0.99, factor: 3, window: 10000, min_samples: 10, success_only: true}",
		"{limit: first_token, rule: quantile, window_time: 60s, no_double: true, prompt_classes: [1000, 8000]}",
		"{limit: response_header, rule: moving_quantile, quantile: 0.000001, age: 10000, step: 1}",
	} {
		f.Add(text, int64(time.Minute), int64(30*time.Second))
	}
	f.Fuzz(func(t *testing.T, text string, pause, took int64) {
		var c adaptive.Config
		if yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()) != nil || c.Validate() != nil {
			return
		}
		set := adaptive.NewSet(c)
		now := sim.Instant(0)
		for i := range 100 {
			now = now.Add(time.Duration(max(0, pause%int64(24*time.Hour))))
			e := set.For(i * i * i)
			e.Observe(now, time.Duration(took>>(i%63)), adaptive.Outcome{Censored: i%3 == 0, Retried: i%5 == 0})
			d := e.Limit(now)
			if d < 0 || d > 0 && d < c.Min || c.Max > 0 && d > c.Max {
				t.Fatalf("%s: the limit is %v", text, d)
			}
		}
	})
}
