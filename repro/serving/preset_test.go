package serving_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// preset returns a change of the configuration to a preset, and further.
func preset(t *testing.T, name string, change func(c *serving.Config)) func(c *serving.Config) {
	t.Helper()
	cfg, err := serving.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&cfg)
	}
	return func(c *serving.Config) { *c = cfg }
}

// TestPresets checks that each preset is valid, serves, and comes to rest.
func TestPresets(t *testing.T) {
	for _, line := range serving.Presets() {
		name, what, _ := strings.Cut(line, "\t")
		if name == "" || what == "" {
			t.Errorf("a preset is %q", line)
		}
		setup{cfg: preset(t, name, func(c *serving.Config) { c.Gauges.Exact = true })}.run(t, 1, func(p *play) {
			if c := p.s.Config(); c.Preset != name {
				t.Errorf("%s is called %q", name, c.Preset)
			}
			for i := range 20 {
				if got := p.serve(p.ctx, streamed(fmt.Sprint(i), 1000, 20), time.Hour); got.err != nil || got.tokens != 20 {
					t.Errorf("%s: %d tokens, %v", name, got.tokens, got.err)
				}
			}
			if name == "instant" && p.w.Now() > sim.Instant(time.Millisecond) {
				t.Errorf("instant took %v", p.w.Now())
			}
			p.atRest()
		})
	}
	if _, err := serving.Preset("none"); err == nil || !strings.Contains(err.Error(), "sglang-pd") {
		t.Errorf("an unknown preset: %v", err)
	}
}
