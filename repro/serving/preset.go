package serving

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// presets are the configurations that have a name.
var presets = [...]struct {
	name string
	what string
	make func() Config
}{
	{"sglang-pd", "the incident's deployment: SGLang with prefill and decode split, fitted to its figures", Default},
	{"sglang", "SGLang without the split, of the same speed", sglangUnified},
	{"vllm", "vLLM: chunks of prompts within the steps, requests that are computed again when memory runs out, aborts at once", vllmUnified},
	{"instant", "answers at once, for benchmarks of whoever talks to it", instant},
	{"slots", "4 slots of about 1 s of service: the timeout cliff; servers.abort.detect=never for slots that are never freed", slots},
}

// Presets returns the presets, each as its name, a tab, and what it is like in one line.
func Presets() []string {
	lines := make([]string, 0, len(presets))
	for _, p := range presets {
		lines = append(lines, p.name+"\t"+p.what)
	}
	return lines
}

// Preset returns the configuration of that name.
func Preset(name string) (Config, error) {
	var names []string
	for _, p := range presets {
		if p.name == name {
			c := p.make()
			c.Preset = name
			return c, nil
		}
		names = append(names, p.name)
	}
	return Config{}, fmt.Errorf("serving: preset %q, want one of %s", name, strings.Join(names, ", "))
}

// Default returns the servers of the incident (I-1), with times fitted to its figures (I-8). The fit
// is printed by TestCalibration. Settings that the incident says nothing of are those of SGLang.
func Default() Config {
	e := engine.Default()
	return Config{
		Mode:     e.Mode,
		Flavor:   SGLang,
		Router:   defaultRouter(),
		Prefill:  e.Prefill,
		Transfer: e.Transfer,
		Decode:   e.Decode,
		Abort:    e.Abort,
		Gauges:   e.Gauges,
		Model: ModelConfig{
			ID:               "simulated",
			ContextTokensMax: 262_144,
			OutputTokens:     3750,
			ReasoningTokens:  2800,
		},
	}
}

func defaultRouter() RouterConfig {
	return RouterConfig{
		QueuedMax:      32,
		Limit:          LimitConfig{QueueMax: 100, QueueTimeout: time.Minute},
		Policy:         CacheAware,
		BalanceAbs:     64,
		BalanceRel:     1.5,
		Legs:           PrefillFirst,
		RequestTimeout: 1800 * time.Second,
		DropUpstream:   DropNow,
		Retry:          RetryConfig{AttemptsMax: 5, Backoff: 50 * time.Millisecond, Factor: 1.5, BackoffMax: 30 * time.Second, Jitter: 0.2},
		Breaker:        BreakerConfig{Failures: 10, Open: time.Minute, Successes: 3},
		Health:         HealthConfig{Every: time.Minute, Timeout: 5 * time.Second, Misses: 3, Hits: 2},
		LogLatency:     LatencyMicroseconds,
	}
}

func sglangUnified() Config {
	c := Default()
	c.Mode = engine.Unified
	c.Router.QueuedMax = 0
	c.Transfer = engine.TransferConfig{}
	c.Decode.Recompute = true
	return c
}

func vllmUnified() Config {
	c := sglangUnified()
	c.Flavor = VLLM
	c.Decode.Mixed = true
	c.Decode.ReserveTokens = 0
	c.Abort = engine.AbortConfig{Detect: engine.DetectNow}
	return c
}

func instant() Config {
	c := sglangUnified()
	c.Prefill.ChunkTokens, c.Prefill.KVTokens = tokensLimit, kvLimit
	c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 0, 0, 0
	c.Prefill.RequestsMax, c.Decode.RequestsMax = 0, 0
	c.Decode.RunningMax, c.Decode.KVTokens = countLimit, kvLimit
	c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 0, 0, 0
	c.Abort = engine.AbortConfig{Detect: engine.DetectNow}
	c.Model.OutputTokens, c.Model.ReasoningTokens = 50, 0
	return c
}

// slots gives each request one second and a bit, whatever it asks for: 100 tokens in steps of 10.3 ms.
// At the real server whose timeout cliff it stands for, a second of service took 1.03 s. It matters: with
// a second sharp the fourth answer in a row would be there just as its client gives up after 4 s.
func slots() Config {
	c := instant()
	c.Decode.RunningMax = 4
	c.Decode.StepBase = 10_300 * time.Microsecond
	c.Model.OutputTokens = 100
	return c
}
