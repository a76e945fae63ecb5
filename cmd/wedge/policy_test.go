package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
)

func TestPolicyList(t *testing.T) {
	file := here(t, "testdata/policy-list.txt")
	out, errs, code := wedge(t, "policy", "list")
	if code != exitOK || errs != "" {
		t.Errorf("exit code %d, standard error %q", code, errs)
	}
	golden(t, file, out)
	out, errs, code = wedge(t, "policy", "list", "--json")
	var list policyList
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != exitOK || errs != "" {
		t.Fatalf("%v, exit code %d, standard error %q", err, code, errs)
	}
	if list.Schema != "wedge.policies/1" || len(list.Policies) != len(preset.Names()) {
		t.Errorf("%+v", list)
	}
}

// TestPolicyTimelines holds what becomes of a call under every preset, instant by instant, against a
// golden file.
func TestPolicyTimelines(t *testing.T) {
	for _, name := range preset.Names() {
		t.Run(name, func(t *testing.T) {
			file := here(t, "testdata/policy/"+name+".txt")
			out, errs, code := wedge(t, "policy", "explain", name)
			if code != exitOK || errs != "" {
				t.Errorf("exit code %d, standard error %q", code, errs)
			}
			for line := range strings.Lines(out) {
				if n := len([]rune(line)); n > 101 {
					t.Errorf("a line of %d letters: %s", n-1, line)
				}
			}
			golden(t, file, out)
		})
	}
	files, err := filepath.Glob(here(t, "testdata/policy/*.txt"))
	if err != nil || len(files) != len(preset.Names()) {
		t.Errorf("%v: %d files for %d presets", err, len(files), len(preset.Names()))
	}
}

// TestPolicyOutcomes: what the presets are known for, told by the plays.
func TestPolicyOutcomes(t *testing.T) {
	for _, c := range []struct {
		policy, scene string
		outcome       string
		attempts      int
	}{
		{"none", "answer-264s", playAnswered, 1},
		{"none", "silent-after-100s", playWaiting, 1},
		{"none", "busy", playFailed, 1},
		{"openai-go-3", "silent-after-100s", playWaiting, 1}, // no idle limit in the stack
		{"openai-go-3", "no-headers", playFailed, 3},         // the transport's limit is retried
		{"openai-go-3", "busy-retry-after-600s", playFailed, 1},
		{"openai-go-3-request-60s", "answer-264s", playFailed, 1}, // a healthy stream, never again
		{"openai-go-3-request-60s", "no-headers", playFailed, 1},
		{"openai-python-3", "silent-after-100s", playFailed, 1}, // a stream is not retried
		{"openai-python-3", "held-back-264s", playAnswered, 1},
		{"langchain-async", "held-back-264s", playFailed, 1}, // comments are no chunks
		{"nginx", "held-back-264s", playAnswered, 1},         // comments are bytes
		{"envoy-default", "answer-264s", playFailed, 1},
		{"total-60s", "answer-264s", playFailed, 3},
		{"total-600s", "answer-264s", playAnswered, 1},
		{"idle-60s", "no-headers", playWaiting, 1},
		{"idle-60s", "silent-after-100s", playFailed, 3},
		{"ttft-120s-idle-60s", "no-headers", playFailed, 3},
		{"aws-standard-2026", "busy", playFailed, 3},
		{"sglang-gateway", "busy", playFailed, 5},
		{"ideal", "answer-264s", playAnswered, 1},
		{"ideal", "held-back-264s", playAnswered, 1},
		{"ideal", "no-headers", playFailed, 6},
	} {
		p, err := preset.Get(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		all := scenes()
		i := slices.IndexFunc(all[:], func(s scene) bool { return s.Name == c.scene })
		played, err := playScene(&p, all[i], playLength)
		if err != nil || played.Outcome != c.outcome || played.Attempts != c.attempts {
			t.Errorf("%s, %s: %s with %d attempts (%v), want %s with %d", c.policy, c.scene, played.Outcome, played.Attempts, err, c.outcome, c.attempts)
		}
	}
}

// TestPolicyMeanings: every field of a policy has words for it.
func TestPolicyMeanings(t *testing.T) {
	var known []string
	for _, m := range meanings() {
		known = append(known, m[0])
	}
	for f := range reflect.TypeFor[pacer.Policy]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "preset" && !slices.Contains(known, name) {
			t.Errorf("field %s: no words for it", name)
		}
		known = slices.DeleteFunc(known, func(n string) bool { return n == name })
	}
	if len(known) > 0 {
		t.Errorf("words for fields that there are not: %v", known)
	}
}

func TestPolicyExplainJSON(t *testing.T) {
	file := here(t, "testdata/policy-openai-go-3.json")
	out, errs, code := wedge(t, "policy", "explain", "openai-go-3", "--json")
	if code != exitOK || errs != "" {
		t.Errorf("exit code %d, standard error %q", code, errs)
	}
	golden(t, file, out)
}

// TestPolicyExplainFile: what --print writes is a policy file, and explained as the preset is.
func TestPolicyExplainFile(t *testing.T) {
	text, errs, code := wedge(t, "policy", "explain", "slot-until-headers", "--print")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	if err := os.WriteFile("mine.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mine, errs, code := wedgeHere(t, "policy", "explain", "mine.yaml")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	if want, _, _ := wedgeHere(t, "policy", "explain", "slot-until-headers"); mine != want {
		t.Errorf("the printed file is explained as\n%s, the preset as\n%s", mine, want)
	}
}

// TestPolicyExplainFileOnPreset: a file may say what it changes of a preset only.
func TestPolicyExplainFileOnPreset(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte("policy: {idle: 30s, preset: openai-go-3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := wedgeHere(t, "policy", "explain", "mine.yaml")
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	for _, want := range []string{"mine\n", "openai-go-3, with what the file says over it", "  idle                    30s ", "  response_header         600s ", "130.0 s  limit idle ends it, 981 tokens"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestPolicyBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad.yaml", []byte("policy:\n  idle: 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"policy", "wedge: policy: found no command, want policy list or policy explain NAME"},
		{"policy explain", "wedge: policy explain: want one policy, a name or a file; names: none, ideal,"},
		{"policy explain a b", "wedge: policy explain: want one policy, a name or a file; names: none, ideal,"},
		{"policy explain openai-go", `wedge: policy explain: found "openai-go", want one of none, ideal,`},
		{"policy explain missing.yaml", "wedge: missing.yaml: no such file or directory"},
		{"policy explain bad.yaml", `wedge: bad.yaml:2:9: policy.idle: found "60", want a duration with its unit`},
		{"policy list none", `wedge: unknown command "none" for "wedge policy list"`},
		{"policy frobnicate", `wedge: unknown command "frobnicate" for "wedge policy"`},
		{"repro starvation --set policy.preset=opencoder", `wedge: --set policy.preset=opencoder: policy.preset: found "opencoder", did you mean "opencode"?`},
	} {
		out, errs, code := wedgeHere(t, strings.Fields(c.args)...)
		if code != exitUsage || out != "" || !strings.HasPrefix(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d, standard output %q, standard error %q, want %s…", c.args, code, out, errs, c.want)
		}
	}
}
