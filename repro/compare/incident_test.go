package compare_test

import (
	"slices"
	"testing"

	"example.com/wedge/repro/compare"
)

// TestWhichPresetsFire is the last sentence of what presets there are: at the incident's profile, 30 agents
// and answers of 100 to 300 s, only those clients and proxies do anything about a stream that goes silent
// within 300 s that have a limit at or below that, and only those kill healthy answers whose limit is one
// of the whole.
func TestWhichPresetsFire(t *testing.T) {
	skipShort(t)
	const within = 300.5 // seconds
	fires := []string{"opencode", "undici", "openai-node-7", "codex", "claude-code-2", "langchain-async", "nginx", "aws-alb"}
	kills := []string{"envoy-default", "openai-go-3-request-60s", "total-60s"}
	waits := []string{"none", "openai-python-3", "openai-go-3", "anthropic-python", "anthropic-go-1", "go-openai", "litellm-router", "ai-sdk-7", "aws-standard-2026", "sglang-gateway", "opencode-older"}
	p := planOf(t, slices.Concat(fires, kills, waits), []string{"silent-stream", "starvation"}, compare.Seeds{From: 1, To: 2})
	runs := execute(t, p, compare.Options{})
	for i := range p.Policies {
		name := p.Policies[i].Name
		for seed := range p.Seeds.N() {
			silent, healthy := &runs.Of(i, 0, seed).Harm, runs.Of(i, 1, seed)
			fired := slices.ContainsFunc(silent.DetectDeadS, func(s float32) bool { return s < within })
			if fired != slices.Contains(fires, name) {
				t.Errorf("%s, seed %d: silent streams were noticed after %v", name, seed+1, silent.DetectDeadS)
			}
			killed := healthy.Harm.HealthyKilled > 0
			if killed != slices.Contains(kills, name) || !killed && healthy.Outcome != "completed" {
				t.Errorf("%s, seed %d: %d healthy answers killed, the run %s", name, seed+1, healthy.Harm.HealthyKilled, healthy.Outcome)
			}
		}
	}
}
