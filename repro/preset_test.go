package repro

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// TestPreset: what a file says of the servers changes those of the preset that it names.
func TestPreset(t *testing.T) {
	s, err := Parse("a.yaml", []byte("servers:\n  decode: {running_max: 7}\n  preset: vllm\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Servers.Mode != engine.Unified || !s.Servers.Decode.Mixed || s.Servers.Decode.RunningMax != 7 {
		t.Errorf("%+v", s.Servers)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("b.yaml", text)
	if err != nil || again.Servers != s.Servers {
		t.Errorf("printed and read again: %+v, %v", again, err)
	}
	if err := s.Set("servers.preset", "sglang-pd"); err != nil || s.Validate() != nil || s.Servers.Mode != engine.PD {
		t.Errorf("set: %v, %+v", err, s.Servers)
	}
	_, err = Parse("a.yaml", []byte("servers:\n  preset: moon\n"))
	if want := `a.yaml:2:11: servers.preset: "moon", want one of sglang-pd, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestPresetPolicy: what a file says of the policy stands over the preset that it names, wherever it
// stands, and what comes out of YAML is the same again.
func TestPresetPolicy(t *testing.T) {
	for _, text := range []string{
		"policy: {preset: openai-go-3, idle: 30s}\n",
		"policy:\n  idle: 30s\n  preset: openai-go-3\n",
		"\ufeffpolicy: {preset: openai-go-3, idle: 30s}\n", // as some editors write it
	} {
		s, err := Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Policy; p.Idle != 30*time.Second || p.ResponseHeader != 600*time.Second || p.Jitter != "minus25" || p.Preset != "openai-go-3" {
			t.Errorf("%s: %+v", text, p)
		}
		out, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("b.yaml", out)
		if err != nil || !reflect.DeepEqual(again.Policy, s.Policy) || !reflect.DeepEqual(again.Pacer, s.Pacer) {
			t.Errorf("printed and read again: %+v, %v", again, err)
		}
	}
}

// TestSetPresetPolicy: settings are made in their order, and a preset is all of a policy.
func TestSetPresetPolicy(t *testing.T) {
	s := Default()
	for _, set := range [][2]string{{"policy.idle", "30s"}, {"policy.preset", "openai-go-3"}, {"policy.max_attempts", "7"}} {
		if err := s.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	if p := s.Policy; s.Validate() != nil || p.Idle != 0 || p.MaxAttempts != 7 || p.ResponseHeader != 600*time.Second {
		t.Errorf("%v, %+v", s.Validate(), p)
	}
	if err := s.Set("policy", "{idle: 45s, preset: none}"); err != nil || s.Policy.MaxAttempts != 1 || s.Policy.Idle != 45*time.Second {
		t.Errorf("%v, %+v", err, s.Policy)
	}
	if err := s.Set("policy.preset", "opencoder"); err != nil {
		t.Fatal(err)
	}
	want := `--set policy.preset=opencoder: policy.preset: found "opencoder", did you mean "opencode"?`
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err := Parse("a.yaml", []byte("policy:\n  preset: moon\n"))
	if want := `a.yaml:2:11: policy.preset: found "moon", want one of none, ideal, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAddFaults: faults of a flag, one or several, or of a file.
func TestAddFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(file, []byte("- {id: b, where: stream, what: silence}\n- id: c\n  where: moon\n  what: hang\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		n    int
		want string // of the error; "" is none
	}{
		{"{id: a, where: stream, what: silence}", 1, ""},
		{"id: a\nwhere: stream\nwhat: silence", 1, ""},
		{"[{id: a, where: stream, what: silence}, {id: b, where: router, what: drop}]", 2, ""},
		{"- {id: a, where: stream, what: silence}\n- {id: b, where: router, what: drop}", 2, ""},
		{"{id: a, where: moon, what: silence}", 1, `faults[0].where: "moon", want one of`},
		{"{id: a, when: noon}", 0, `faults[0].when`},
		{"", 0, "--fault: found nothing"},
		{"no-such-file.yaml", 0, "no such file"},
		{file, 2, `faults[1].where: "moon"`},
	} {
		s := Default()
		err := s.AddFaults(c.text)
		if err == nil {
			err = s.Validate()
		}
		if len(s.Faults) != c.n || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %d faults, %v, want %d, %s", c.text, len(s.Faults), err, c.n, c.want)
		}
		if err != nil && strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("more than one line: %q", err)
		}
	}
}
