package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/pacer/preset"
)

// TestPolicyAgainstNone: where a preset is worse than none, and where better, in words and as JSON.
func TestPolicyAgainstNone(t *testing.T) {
	for _, c := range []struct {
		policy string
		worse  string // a world in which it is worse, if any is known
		better string
	}{
		{"none", "", ""},
		{"idle-60s", "long-reasoning", "silent-stream"},
		{"total-60s", "starvation", ""},
		{"openai-go-3", "inflight-pin", "bad-pairing"},
		{"opencode", "inflight-pin", "silent-stream"},
		{"ai-sdk-7", "", ""},
	} {
		text, errs, code := wedgeHere(t, "policy", "explain", c.policy)
		if code != exitOK || errs != "" {
			t.Fatalf("%s: exit code %d, standard error %q", c.policy, code, errs)
		}
		out, errs, code := wedgeHere(t, "policy", "explain", c.policy, "--json")
		var x explanation
		if err := json.Unmarshal([]byte(out), &x); err != nil || code != exitOK || errs != "" {
			t.Fatalf("%s: %v, exit code %d, standard error %q", c.policy, err, code, errs)
		}
		if c.policy == "none" {
			if x.Against != nil || strings.Contains(text, "Against none") {
				t.Errorf("none is held against itself: %+v\n%s", x.Against, text)
			}
			continue
		}
		a := x.Against
		if a == nil || a.Worlds != len(a.Worse)+len(a.Mixed)+len(a.Better)+len(a.Same) || a.Seeds.N() < 2 {
			t.Fatalf("%s: %+v", c.policy, a)
		}
		var worse, better []string
		for _, row := range a.Worse {
			worse = append(worse, row.World.String())
		}
		for _, row := range a.Better {
			better = append(better, row.World.String())
		}
		if !has(worse, c.worse) || !has(better, c.better) {
			t.Errorf("%s: worse in %q, better in %q; want %q and %q in them", c.policy, worse, better, c.worse, c.better)
		}
		if nothing := strings.Contains(text, "Nothing found where it is worse."); nothing != (c.worse == "") {
			t.Errorf("%s: worse in %q, but the text says\n%s", c.policy, worse, text)
		}
	}
}

func has(names []string, name string) bool { return name == "" || slices.Contains(names, name) }

// TestPolicyAgainstNoneOfFiles: what is known of a preset is not told of a file that only has its name.
func TestPolicyAgainstNoneOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	text, err := preset.Text("idle-60s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(string) string
		known  bool
	}{
		{func(s string) string { return s }, true},
		{func(s string) string { return strings.Replace(s, "idle: 60s", "idle: 61s", 1) }, false},
		{func(s string) string { return s + "set: [pacer.slots=3]\n" }, false},
		{func(s string) string { return strings.Replace(s, "name: idle-60s", "name: mine", 1) }, false},
	} {
		file := c.change(string(text))
		if err := os.WriteFile("mine.yaml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := wedgeHere(t, "policy", "explain", "mine.yaml")
		if code != exitOK || errs != "" {
			t.Fatalf("exit code %d, standard error %q", code, errs)
		}
		if known := strings.Contains(out, "Worse in"); known != c.known || strings.Contains(out, "no preset of wedge's") == known {
			t.Errorf("known: %v, want %v, of\n%s\n%s", known, c.known, file, out)
		}
	}
}
