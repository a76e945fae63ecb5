package engine_test

import (
	"testing"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// TestValidate: what is wrong is said in one line that begins with the field's path.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(c *engine.Config)
		want   string
	}{
		{func(*engine.Config) {}, ""},
		{func(c *engine.Config) { *c = engine.Config{} }, `mode: "", want one of pd, unified`},
		{func(c *engine.Config) { c.Mode = "both" }, `mode: "both", want one of pd, unified`},
		{func(c *engine.Config) { c.Prefill.LoadBalance = "least" }, `prefill.load_balance: "least", want one of follow_bootstrap_room, round_robin`},
		{func(c *engine.Config) { c.Abort.Detect = "soon" }, `abort.detect: "soon", want one of now, poll, next_token, never`},
		{func(c *engine.Config) { c.Abort.Detect = "" }, ""},
		{func(c *engine.Config) { c.Prefill.Ranks = 0 }, "prefill.ranks: 0, want a whole number from 1 to 1000"},
		{func(c *engine.Config) { c.Prefill.ChunkTokens = 0 }, "prefill.chunk_tokens: 0, want a whole number from 1 to 10000000"},
		{func(c *engine.Config) { c.Prefill.RequestsMax = 0 }, ""},
		{func(c *engine.Config) { c.Decode.Workers = -1 }, "decode.workers: -1, want a whole number from 1 to 1000"},
		{func(c *engine.Config) { c.Decode.RunningMax = 100_001 }, "decode.running_max: 100001, want a whole number from 1 to 100000"},
		{func(c *engine.Config) { c.Decode.ReserveTokens = -1 }, "decode.reserve_tokens: -1, want a whole number from 0 to 10000000"},
		{func(c *engine.Config) { c.Gauges.EverySteps = -1 }, "gauges.every_steps: -1, want a whole number from 0 to 10000000"},
		{func(c *engine.Config) { c.Decode.StepBase = -1 }, "decode.step_base: -1ns, want a duration from 0s to 1h0m0s"},
		{func(c *engine.Config) { c.Prefill.BootstrapTimeout = 25 * time.Hour }, "prefill.bootstrap_timeout: 25h0m0s, want a duration from 0s to 24h0m0s"},
		{func(c *engine.Config) { c.Gauges.IdleEvery = -time.Second }, "gauges.idle_every: -1s, want a duration from 0s to 24h0m0s"},
	} {
		cfg := engine.Default()
		c.change(&cfg)
		got := ""
		if err := cfg.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if _, err := engine.New(cfg, nil, nil); (err != nil) != (c.want != "") {
			t.Errorf("New says %v, want %q", err, c.want)
		}
	}
}
