package strict_test

import (
	"errors"
	"slices"
	"testing"

	"example.com/wedge/harness/strict"
)

func parsed(t *testing.T, text string) *strict.Document {
	t.Helper()
	d, err := strict.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAt: an error stands where its field does, or else the nearest one above it.
func TestAt(t *testing.T) {
	d := parsed(t, "policy:\n  idle: 60s\nfaults:\n  - id: a\n  - {id: b, what: hang}\n")
	for field, want := range map[string]string{
		"policy.idle":    "f.yaml:2:9: policy.idle: no",
		"policy.total":   "f.yaml:2:7: policy.total: no",
		"faults[1].what": "f.yaml:5:19: faults[1].what: no",
		"faults[7].what": "f.yaml:4:3: faults[7].what: no",
		"seed":           "f.yaml: seed: no",
		"":               "f.yaml: no",
	} {
		if got := d.At(field, "no").Error(); got != want {
			t.Errorf("%q: %s, want %s", field, got, want)
		}
	}
	if got := parsed(t, "# nothing\n").At("policy.idle", "no").Error(); got != "f.yaml: policy.idle: no" {
		t.Error(got)
	}
}

func TestValueAndKeys(t *testing.T) {
	d := parsed(t, "\ufeffpolicy: {idle: 60s, retry_on: [503], hedge: {after: 1s}, total: }\n")
	for field, want := range map[string]string{
		"policy": "a block", "policy.idle": "60s", "policy.retry_on": "a list", "policy.retry_on[0]": "503", "policy.hedge.after": "1s",
	} {
		if got, named := d.Value(field); got != want || !named {
			t.Errorf("%s: %q, %t, want %q", field, got, named, want)
		}
	}
	for _, field := range []string{"seed", "policy.idle.x", "policy.retry_on[1]", "policy.retry_on[-1]"} {
		if got, named := d.Value(field); got != "" || named {
			t.Errorf("%s: %q, %t, want nothing", field, got, named)
		}
	}
	if got := d.Keys("policy"); !slices.Equal(got, []string{"idle", "retry_on", "hedge", "total"}) {
		t.Errorf("%q", got)
	}
	for _, block := range []string{"seed", "policy.idle", "policy.seed"} {
		if got := d.Keys(block); len(got) != 0 {
			t.Errorf("%s: %q, want none", block, got)
		}
	}
	empty := parsed(t, "---\n# nothing\n")
	if _, named := empty.Value("policy"); named || !empty.Empty() || len(empty.Keys("policy")) != 0 || d.Empty() {
		t.Error("an empty document has something in it, or one that is not has not")
	}
}

func TestPeek(t *testing.T) {
	var head struct {
		Policy struct {
			Preset string `yaml:"preset"`
		} `yaml:"policy"`
	}
	if err := parsed(t, "\ufeffpolicy: {idle: 3, preset: a}\nunknown: 1\n").Peek(&head); err != nil || head.Policy.Preset != "a" {
		t.Errorf("%+v, %v", head, err)
	}
	if err := parsed(t, "policy: 3\n").Peek(&head); err == nil {
		t.Error("a number passed for a block")
	}
}

func TestSet(t *testing.T) {
	v := outer{Inner: inner{Count: 3}}
	if err := strict.Set("--set inner.rate=0.5", []string{"inner", "rate"}, "0.5", &v, strict.Plain); err != nil || v.Inner.Rate != 0.5 || v.Inner.Count != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	err := strict.Set("--set inner.rate=x", []string{"inner", "rate"}, "x", &v, strict.Plain)
	if err == nil || err.Error() != `--set inner.rate=x: inner.rate: found "x", want a number` {
		t.Errorf("%v", err)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ block, text, path, msg string }{
		{"policy", "idle: 60µs, want more", "policy.idle", "60µs, want more"},
		{"", "seed: 0: no", "seed", "0: no"},
		{"policy", "a contradiction: no", "policy", "a contradiction: no"},
		{"policy", "no", "policy", "no"},
		{"", "no", "", "no"},
	} {
		if path, msg := strict.Split(c.block, errors.New(c.text)); path != c.path || msg != c.msg {
			t.Errorf("%q, %q: %q, %q, want %q, %q", c.block, c.text, path, msg, c.path, c.msg)
		}
	}
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{"a/my policy.yaml": "my-policy", "x": "x", "a/.yaml": "", "idle-60s.v2.yml": "idle-60s.v2", "é.yaml": "-"} {
		if got := strict.NameOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
