package serving_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// TestValidate checks that each bad value is refused with one line that names the field, what was
// found and what is allowed.
func TestValidate(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(c *serving.Config)
	}{
		{"router.queued_max: -1, want a whole number from 0 to 100000", func(c *serving.Config) { c.Router.QueuedMax = -1 }},
		{"prefill.chunk_tokens: 0, want", func(c *serving.Config) { c.Prefill.ChunkTokens = 0 }},
		{"prefill.requests_max: -3, want", func(c *serving.Config) { c.Prefill.RequestsMax = -3 }},
		{"prefill.kv_tokens: 0, want", func(c *serving.Config) { c.Prefill.KVTokens = 0 }},
		{"prefill.chunk_base: -1s, want a duration from 0s to 1h0m0s", func(c *serving.Config) { c.Prefill.ChunkBase = -time.Second }},
		{"prefill.per_token: 1h0m0s, want", func(c *serving.Config) { c.Prefill.PerToken = time.Hour }},
		{"prefill.per_token_pair: 1s, want", func(c *serving.Config) { c.Prefill.PerTokenPair = time.Second }},
		{"transfer.latency: 2h0m0s, want", func(c *serving.Config) { c.Transfer.Latency = 2 * time.Hour }},
		{"transfer.per_token: -1ns, want", func(c *serving.Config) { c.Transfer.PerToken = -1 }},
		{"decode.running_max: 0, want", func(c *serving.Config) { c.Decode.RunningMax = 0 }},
		{"decode.requests_max: 1000000000, want", func(c *serving.Config) { c.Decode.RequestsMax = 1e9 }},
		{"decode.kv_tokens: 2000000000, want", func(c *serving.Config) { c.Decode.KVTokens = 2e9 }},
		{"decode.step_base: -5ms, want", func(c *serving.Config) { c.Decode.StepBase = -5 * time.Millisecond }},
		{"decode.step_per_request: 1h0m0s, want", func(c *serving.Config) { c.Decode.StepPerRequest = time.Hour }},
		{"decode.step_per_context_token: 1s, want", func(c *serving.Config) { c.Decode.StepPerContextToken = time.Second }},
		{"model.id: missing", func(c *serving.Config) { c.Model.ID = "" }},
		{"model.context_tokens_max: 1, want", func(c *serving.Config) { c.Model.ContextTokensMax = 1 }},
		{"model.output_tokens: 0, want", func(c *serving.Config) { c.Model.OutputTokens = 0 }},
		{"model.reasoning_tokens: 4000, want a whole number from 0 to 3750", func(c *serving.Config) { c.Model.ReasoningTokens = 4000 }},
	} {
		c := serving.Default()
		row.change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want a line that starts with %q", err, row.want)
		}
		if _, newErr := serving.New(sim.NewVirtual(sim.VirtualOptions{}), c, serving.Model{}, nil, serving.Logs{}); newErr == nil || newErr.Error() != "serving: "+err.Error() {
			t.Errorf("New: %v, want %q", newErr, "serving: "+err.Error())
		}
	}
	if err := new(serving.Config).Validate(); err == nil {
		t.Error("the zero value is accepted")
	}
	c := serving.Default()
	if err := c.Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
}

// TestExtremes runs the largest values that are accepted: nothing may overflow.
func TestExtremes(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) {
		c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = time.Hour, time.Second, time.Millisecond
		c.Transfer.Latency, c.Transfer.PerToken = time.Hour, time.Second
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = time.Hour, time.Minute, time.Millisecond
		c.Model.ContextTokensMax = 10_000_000
		c.Router.RequestTimeout, c.Router.Health.Every, c.Prefill.BootstrapTimeout, c.Transfer.WaitingTimeout = 0, 0, 0, 0
		c.Model.OutputTokens, c.Model.ReasoningTokens = 10_000_000, 0
	}}
	su.run(t, 1, func(p *play) {
		handles := make([]*serving.Handle, 20)
		for i := range handles {
			handles[i] = p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 100_000}, Stream: true})
		}
		last := 0.0
		for range 50 {
			p.sleep(1000 * time.Hour)
			tokens := p.gauge(serving.GaugeDecodeTokens)
			if tokens < last {
				t.Errorf("at %v: %v tokens after %v", p.w.Now(), tokens, last)
			}
			last = tokens
		}
		if last == 0 {
			t.Error("no token was made in five years")
		}
		for _, h := range handles {
			h.Cancel()
		}
		p.sleep(100 * 365 * 24 * time.Hour)
		p.atRest()
	})
}

// TestFree runs servers that take no time at all.
func TestFree(t *testing.T) {
	su := setup{cfg: func(c *serving.Config) {
		c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 0, 0, 0
		c.Transfer = engine.TransferConfig{}
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 0, 0, 0
	}}
	su.run(t, 1, func(p *play) {
		a := p.chat(p.ctx, "r", prompt(100_000, 0))
		p.must(a.err)
		if a.took() > time.Millisecond {
			t.Errorf("took %v, want next to nothing", a.took())
		}
	})
}

// TestConfigText checks that the configuration survives YAML with durations as people write them, and
// JSON with units in the names.
func TestConfigText(t *testing.T) {
	text, err := yaml.Marshal(serving.Default())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "step_base: 19.5ms") {
		t.Errorf("durations are not readable:\n%s", text)
	}
	var back serving.Config
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&back); err != nil {
		t.Fatal(err)
	}
	if back != serving.Default() {
		t.Errorf("YAML gives back\n%+v", back)
	}
	text, err = json.Marshal(serving.Default())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"step_base_ns":19500000`) {
		t.Errorf("JSON has no units:\n%s", text)
	}
	back = serving.Config{}
	if err := json.Unmarshal(text, &back); err != nil || back != serving.Default() {
		t.Errorf("JSON gives back\n%+v, %v", back, err)
	}
}
