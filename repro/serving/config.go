package serving

import (
	"fmt"

	"example.com/wedge/repro/serving/engine"
)

// Config is what the servers are like: the block servers of a scenario file. The zero value is
// refused; start from [Default] or another [Preset].
type Config struct {
	// Preset is the name of what this began as, if it had one; it changes nothing by itself. See [Preset].
	Preset   string                `yaml:"preset,omitempty" json:"preset,omitempty"`
	Mode     engine.Mode           `yaml:"mode" json:"mode"`
	Flavor   Flavor                `yaml:"flavor" json:"flavor"`
	Router   RouterConfig          `yaml:"router" json:"router"`
	Prefill  engine.PrefillConfig  `yaml:"prefill" json:"prefill"`
	Transfer engine.TransferConfig `yaml:"transfer" json:"transfer"`
	Decode   engine.DecodeConfig   `yaml:"decode" json:"decode"`
	Abort    engine.AbortConfig    `yaml:"abort" json:"abort"`
	Gauges   engine.GaugesConfig   `yaml:"gauges" json:"gauges"`
	Model    ModelConfig           `yaml:"model" json:"model"`
}

// WorkerNames returns the names of the engines, in their order.
func (c *Config) WorkerNames() []string {
	var names []string
	add := func(kind string, n int) {
		for i := range n {
			names = append(names, fmt.Sprintf("%s-%d", kind, i))
		}
	}
	if c.Mode == engine.Unified {
		add("engine", c.Decode.Workers)
		return names
	}
	add("prefill", c.Prefill.Workers)
	add("decode", c.Decode.Workers)
	return names
}

// engines returns the part of the engines.
func (c *Config) engines() engine.Config {
	return engine.Config{Mode: c.Mode, Prefill: c.Prefill, Transfer: c.Transfer, Decode: c.Decode, Abort: c.Abort, Gauges: c.Gauges}
}

// Flavor says whose names the metrics have and whose shape the errors. It changes nothing else.
type Flavor string

// The flavors.
const (
	SGLang Flavor = "sglang"
	VLLM   Flavor = "vllm"
)

// ModelConfig is the part of the model.
type ModelConfig struct {
	ID               string `yaml:"id" json:"id"`
	ContextTokensMax int    `yaml:"context_tokens_max" json:"context_tokens_max"` // prompt and output
	// OutputTokens and ReasoningTokens are the length of an answer, and of the reasoning at its
	// start, where [Model] does not say otherwise.
	OutputTokens    int `yaml:"output_tokens" json:"output_tokens"`
	ReasoningTokens int `yaml:"reasoning_tokens" json:"reasoning_tokens"`
}
