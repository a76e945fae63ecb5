package preset_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/preset"
)

// TestAll: every file is listed, whole, and named as its file is.
func TestAll(t *testing.T) {
	files, err := filepath.Glob("presets/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := preset.Names()
	if len(files) != len(names) {
		t.Errorf("%d files, %d names", len(files), len(names))
	}
	for _, name := range names {
		p, err := preset.Get(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name || p.Policy.Preset != name {
			t.Errorf("%s: named %q, its policy %q", name, p.Name, p.Policy.Preset)
		}
		for what, text := range map[string]string{"about": p.About, "source": p.Source, "trap": p.Trap} {
			if text == "" || !strings.Contains(".", text[len(text)-1:]) && what != "source" {
				t.Errorf("%s: %s: found %q, want sentences", name, what, text)
			}
		}
		if !strings.Contains(p.Source, ": ") {
			t.Errorf("%s: source: found %q, want whom it imitates, or wedge, before a colon", name, p.Source)
		}
		c, err := p.Pacer(pacer.DefaultConfig())
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		read, err := preset.ReadFile("presets/" + name + ".yaml")
		if err != nil {
			t.Error(err)
		}
		read.Policy.Preset = name
		if !reflect.DeepEqual(read, p) {
			t.Errorf("%s: its file reads as %+v, want %+v", name, read, p)
		}
	}
}

// TestImitationsSayAllOfTheirRetries: what an imitation leaves out would be wedge's default, which is
// nobody's.
func TestImitationsSayAllOfTheirRetries(t *testing.T) {
	for _, name := range preset.Names() {
		p, err := preset.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Imitates() == "" {
			continue
		}
		for _, field := range []string{
			"max_attempts", "retry_timeouts", "retry_network", "retry_on", "backoff_base", "backoff_max", "jitter", "backoff_floor",
			"retry_after_max", "retry_after_jitter",
		} {
			if !p.Named(field) {
				t.Errorf("%s does not say %s", name, field)
			}
		}
		if p.Policy.Idle > 0 && !p.Named("idle_by") || p.Policy.RetryAfterMax > 0 && !p.Named("retry_after_over") {
			t.Errorf("%s does not say idle_by or retry_after_over", name)
		}
	}
}

func TestGetUnknown(t *testing.T) {
	_, err := preset.Get("openai")
	if err == nil || !strings.HasPrefix(err.Error(), `found "openai", want one of none, ideal, `) {
		t.Errorf("%v", err)
	}
}

// TestReadFile: what is good, and what is refused, in one line.
func TestReadFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // of the error, after the file's name; "" is none
	}{
		{"least", "policy: {idle: 60s}", ""},
		{"all", "name: mine\nabout: a\nsource: b\ntrap: c\npolicy: {idle: 60s, retry_on: [503], hedge: {after: 30s, share: 0.1}}\nset: [pacer.hold=start, pacer.slots=8]", ""},
		{"literal", "about: |\n  two\n  lines\npolicy: {max_attempts: 1}", ""},
		{"comment only", "# nothing\n", ": found nothing in it, want a policy file"},
		{"empty", "", ": found nothing in it, want a policy file"},
		{"key", "policy:\n  idel: 60s\n", ":2:3: policy.idel: unknown field, want one of preset, connect,"},
		{"top", "polcy: {}\n", ":1:1: polcy: unknown field, want one of name, about, source, trap, policy, set"},
		{"unit", "policy: {idle: 60}\n", `:1:16: policy.idle: found "60", want a duration with its unit`},
		{"zero", "policy: {idle: 0}\n", `:1:16: policy.idle: found "0", want a duration with its unit`},
		{"negative", "policy: {idle: -60s}\n", ":1:16: policy.idle: found -60s, want a duration of 0s or more"},
		{"short", "policy: {idle: 60us}\n", ":1:16: policy.idle: 60µs, want 0 (off) or a duration from 1ms to 720h0m0s"},
		{"octal", "policy: {max_attempts: 010}\n", `:1:24: policy.max_attempts: found "010", want a whole number in plain digits`},
		{"half", "policy: {max_attempts: 1.5}\n", `:1:24: policy.max_attempts: found "1.5", want a whole number in plain digits`},
		{"none", "policy: {max_attempts: 0}\n", ":1:24: policy.max_attempts: 0, want a number from 1 to 1000"},
		{"nothing", "policy: {max_attempts: }\n", ":1:23: policy.max_attempts: found nothing, want a value"},
		{"bool", "policy: {retry_network: 1}\n", `:1:25: policy.retry_network: found "1", want true or false`},
		{"factor", "policy: {backoff_multiplier: .inf}\n", `:1:30: policy.backoff_multiplier: found ".inf", want a number`},
		{"list", "policy: {retry_on: 503}\n", `:1:20: policy.retry_on: found "503", want a list`},
		{"status", "policy: {retry_on: [503, 200]}\n", ":1:26: policy.retry_on[1]: 200, want an HTTP status from 400 to 599"},
		{"block", "policy: 60s\n", `:1:9: policy: found "60s", want a block of fields: preset, connect,`},
		{"text", "policy: {jitter: [full]}\n", ":1:18: policy.jitter: found a list, want a text"},
		{"jitter", "policy:\n  jitter: fall\n", `:2:11: policy.jitter: "fall", want one of none, full,`},
		{"nested", "policy: {hedge: {after: 30}}\n", `:1:25: policy.hedge.after: found "30", want a duration with its unit`},
		{"contradiction", "policy: {total_covers_backoff: true}\n", ":1:32: policy.total_covers_backoff: true without a total"},
		{"preset", "policy: {preset: none}\n", ""},
		{"unknown preset", "policy: {preset: nobody}\n", `:1:18: policy.preset: found "nobody", want one of none, ideal,`},
		{"no preset", "policy: {preset: [none]}\n", `:1:18: policy.preset: found "a list", want one of none, ideal,`},
		{"name", "name: a b\n", `:1:7: name: found "a b", want letters,`},
		{"set", "set: [slots=3]\n", `:1:7: set[0]: found "slots=3", want pacer.FIELD=VALUE`},
		{"set unknown", "set: [pacer.slots=3, pacer.slot=3]\n", `:1:22: set[1]: pacer.slot=3: slot: unknown field, want one of slots,`},
		{"set bad", "set: [pacer.hold=half]\n", `:1:7: set[0]: hold: "half", want one of stream,`},
		{"torn", "policy: {idle: 60s\n", ":1:9: "},
		{"twice", "policy: {idle: 60s}\npolicy: {idle: 90s}\n", ":2:1: "},
		{"two", "name: a\n---\nname: b\n", ":3:5: a second document, want one"},
		{"a list of them", "- name: a\n", ":1:1: found a list, want a block of fields: name,"},
		{"not text", "name: \xff\n", ":1:7: found the byte 0xff, want UTF-8 text"},
		{"control", "name: a\nabout: \x1b[1m\n", ":2:8: found the control character U+001B, want text without"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := preset.ReadFile(path)
			if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("%v, want …%s", err, c.want)
			}
			if err != nil && strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
	if _, err := preset.ReadFile("no-such.yaml"); err == nil || err.Error() != "no-such.yaml: no such file or directory" {
		t.Errorf("%v", err)
	}
}

func TestReadFileKeepsDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my policy.yaml")
	if err := os.WriteFile(path, []byte("policy: {idle: 60s, retry_on: []}\nset: [pacer.slots=3]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := preset.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-policy" || p.Policy.MaxAttempts != pacer.DefaultPolicy().MaxAttempts || len(p.Policy.RetryOn) != 0 {
		t.Errorf("%+v", p)
	}
	if !p.Named("idle") || p.Named("max_attempts") {
		t.Error("named is wrong")
	}
	if c, err := p.Pacer(pacer.Config{Slots: 9, Hold: pacer.HoldStart}); err != nil || c.Slots != 3 || c.Hold != pacer.HoldStart {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestReadFileOnPreset: what a file says stands over the preset that it names, before it or after.
func TestReadFileOnPreset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte("policy: {idle: 30s, preset: openai-go-3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := preset.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := preset.Get("openai-go-3")
	if err != nil {
		t.Fatal(err)
	}
	want.Policy.Idle = 30 * time.Second
	if !reflect.DeepEqual(p.Policy, want.Policy) || p.Name != "mine" || !p.Named("idle") || !p.Named("response_header") || p.Named("task") {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// TestListed: the presets that everybody asks for by name.
func TestListed(t *testing.T) {
	for _, name := range []string{
		"openai-python-3", "openai-node-7", "openai-go-3", "anthropic-python", "go-openai", "langchain-async", "litellm-router", "ai-sdk-7",
		"opencode", "aws-standard-2026", "envoy-default", "sglang-gateway", "none", "ideal",
	} {
		if !slices.Contains(preset.Names(), name) {
			t.Errorf("no preset %s", name)
		}
	}
}

// TestBlocksReplace: a preset's block stands in the place of the scenario's, whose rule and parameters
// may be others.
func TestBlocksReplace(t *testing.T) {
	c := pacer.DefaultConfig()
	c.Limit = concurrency.Config{Rule: concurrency.Vegas, ProbeMultiplier: 20}
	p, err := preset.Get("slots-aimd-ttft")
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Pacer(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(); err != nil || got.Limit.Rule != concurrency.AIMD || got.Limit.ProbeMultiplier != 0 {
		t.Errorf("got %+v, %v", got.Limit, err)
	}
}
