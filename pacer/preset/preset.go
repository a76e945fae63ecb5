package preset

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/pacer"
)

// Preset is a policy with a name, and what is to be known of it. The zero value has no attempt and so
// is no use; presets come from [Get] and [ReadFile].
type Preset struct {
	// Name is what it is called: letters, digits, dots, dashes and underscores.
	Name string `json:"name" yaml:"name"`
	// About says in plain words what the policy does.
	About string `json:"about" yaml:"about"`
	// Source says whose behaviour it is, with version and date, and where that was read. The part
	// before the first colon is whom it imitates. Empty or beginning with "wedge:" for a policy that
	// imitates nobody.
	Source string `json:"source" yaml:"source"`
	// Trap says how whoever leaves it as it is comes to grief.
	Trap string `json:"trap" yaml:"trap"`
	// Policy is what a call is sent under. Fields that the file does not name have the values of
	// [pacer.DefaultPolicy].
	Policy pacer.Policy `json:"policy" yaml:"policy"`
	// Set lists the settings of the pacer that belong to the policy, each "pacer.FIELD=VALUE" with the
	// value in YAML form, in the order in which they are made. Others keep what the scenario says.
	Set []string `json:"set,omitempty" yaml:"set"`

	// named lists the fields of the policy that the file names.
	named []string
}

// Named says whether the file that the preset was read from, or the one that it builds on, names the
// field of the policy, such as "idle"; if not, the field has its default.
func (p *Preset) Named(field string) bool {
	return slices.Contains(p.named, field)
}

// Imitates returns whose behaviour the preset has, such as "openai-go 3.99.0 (2026-11-12)"; "" if it
// imitates nobody.
func (p *Preset) Imitates() string {
	whose, _, _ := strings.Cut(p.Source, ":")
	if whose == ours {
		return ""
	}
	return whose
}

// ours stands in front of the source of a policy that imitates nobody.
const ours = "wedge"

// Pacer returns a pacer's configuration with the preset's settings made.
func (p *Preset) Pacer(c pacer.Config) (pacer.Config, error) {
	for i, set := range p.Set {
		if err := apply(set, &c); err != nil {
			return pacer.Config{}, fmt.Errorf("preset %s: set[%d]: %w", p.Name, i, err)
		}
	}
	return c, nil
}

//go:embed presets/*.yaml
var files embed.FS

// names lists the presets in the order in which they are shown: the two ends, wedge's own, those of
// the field.
func names() [47]string {
	return [...]string{
		"none", "ideal",
		"idle-60s", "idle-120s", "idle-by-byte-60s", "ttft-120s-idle-60s", "ttft-300s-idle-120s", "ttft-600s-idle-120s", "total-60s", "total-600s", "call-total-600s",
		"work-60s-100ms", "adaptive-ttft", "adaptive-rto", "adaptive-success-only", "hedge-30s", "continue-idle-60s", "retry-at-once",
		"budget-10-percent", "throttle-sre", "throttle-sre-stock", "breaker-ttft",
		"slot-until-headers", "slot-until-first-token", "slots-aimd-ttft", "fair-slots",
		"openai-python-3", "openai-node-7", "openai-go-3", "openai-go-3-request-60s", "anthropic-python", "anthropic-go-1",
		"go-openai", "go-retryablehttp", "langchain-async", "litellm-router", "ai-sdk-7",
		"opencode", "opencode-older", "codex", "claude-code-2", "undici",
		"aws-standard-2026", "sglang-gateway", "envoy-default", "nginx", "aws-alb",
	}
}

// Names returns the names of the presets in the order in which they are shown.
func Names() []string {
	all := names()
	return all[:]
}

// Get returns the preset of that name, whose policy carries the name. The error lists the names.
func Get(name string) (Preset, error) {
	text, err := Text(name)
	if err != nil {
		return Preset{}, err
	}
	p, err := parse(name+".yaml", text)
	if err != nil {
		return Preset{}, err
	}
	p.Policy.Preset = name
	return p, nil
}

// Text returns the file of the preset of that name. The error lists the names.
func Text(name string) ([]byte, error) {
	if all := names(); !slices.Contains(all[:], name) {
		return nil, fmt.Errorf("found %q, want one of %s", name, strings.Join(all[:], ", "))
	}
	text, err := files.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("preset %q: %w", name, err)
	}
	return text, nil
}
