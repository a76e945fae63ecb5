package repro

import (
	"errors"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Limit  time.Duration `yaml:"limit"`
	Count  int           `yaml:"count"`
	Rate   float64       `yaml:"rate"`
	On     bool          `yaml:"on"`
	Names  []string      `yaml:"names"`
	Hidden int           `yaml:"-"`
}

type outer struct {
	Name  string  `yaml:"name"`
	Seed  uint64  `yaml:"seed"`
	Inner inner   `yaml:"inner"`
	List  []inner `yaml:"list"`
}

func TestDecodeOntoKeepsDefaults(t *testing.T) {
	v := outer{Name: "n", Seed: 7, Inner: inner{Limit: time.Second, Count: 3, Names: []string{"a"}}}
	if _, err := decodeOnto("f.yaml", []byte("inner:\n  limit: 5s\nlist:\n  - {rate: 0.5}\n"), &v); err != nil {
		t.Fatal(err)
	}
	if v.Name != "n" || v.Seed != 7 || v.Inner.Limit != 5*time.Second || v.Inner.Count != 3 || len(v.Inner.Names) != 1 || v.List[0].Rate != 0.5 {
		t.Errorf("decoded %+v", v)
	}
	for _, empty := range []string{"", "# nothing but a comment\n", "---\n"} {
		if _, err := decodeOnto("f.yaml", []byte(empty), &v); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
	if v.Inner.Limit != 5*time.Second {
		t.Errorf("an empty document changed %+v", v)
	}
}

func TestDecodeOntoRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"inner:\n  limt: 5s", `f.yaml:2:3: inner.limt: unknown field, did you mean "limit"?`},
		{"innre: {}", `f.yaml:1:1: innre: unknown field, did you mean "inner"?`},
		{"inner:\n  limit: 5", `f.yaml:2:10: inner.limit: found "5", want a duration`},
		{"inner:\n  limit: 5 parsecs", `f.yaml:2:10: inner.limit: found "5 parsecs", want a duration`},
		{"inner:\n  limit: -5s", `f.yaml:2:10: inner.limit: found -5s, want a duration of 0s or more`},
		{"inner:\n  count: 1.5", `f.yaml:2:10: inner.count: found "1.5", want a whole number`},
		{"inner:\n  count: many", `f.yaml:2:10: inner.count: found "many", want a whole number`},
		{"inner:\n  count: [1]", `f.yaml:2:10: inner.count: found a list, want a whole number`},
		{"inner:\n  rate: .nan", `f.yaml:2:9: inner.rate: found ".nan", want a number`},
		{"inner:\n  rate: .inf", `f.yaml:2:9: inner.rate: found ".inf", want a number`},
		{"inner:\n  on: 1", `f.yaml:2:7: inner.on: found "1", want true or false`},
		{"inner:\n  names: x", `f.yaml:2:10: inner.names: found "x", want a list`},
		{"seed: -1", `f.yaml:1:7: seed: found "-1", want a whole number from 0 to`},
		{"name: {a: 1}", `f.yaml:1:7: name: found a block, want a text`},
		{"inner:\n  count: 010", `f.yaml:2:10: inner.count: found "010", want a whole number in plain digits`},
		{"inner: 3", `f.yaml:1:8: inner: found "3", want a block of fields: limit, count`},
		{"list:\n  - count: 1\n  - coutn: 1", `f.yaml:3:5: list[1].coutn: unknown field, did you mean "count"?`},
		{"inner:\n  hidden: 1", `f.yaml:2:3: inner.hidden: unknown field`},
		{"name: a\nname: b", `f.yaml:2:1: mapping key "name" already defined`},
		{"inner: [", `f.yaml:1:8: sequence end token ']' not found`},
		{"- a", `f.yaml:1:1: found a list, want a block of fields`},
		{"name: a\n---\nname: b", `f.yaml:3:5: a second document, want one`},
		{"\tname: a", `f.yaml:1:5: tab character`},
		{"\"na\\e[31m\\u202eme\": a", `f.yaml:1:1: na[31mme: unknown field`},
	} {
		var v outer
		_, err := decodeOnto("f.yaml", []byte(c.text), &v)
		var bad *InputError
		if !errors.As(err, &bad) {
			t.Errorf("%q: error %v, want an InputError", c.text, err)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q:\n got %s\nwant %s…", c.text, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"starvation", "silent-stream", "slot-leak", "idle"}
	for name, want := range map[string]string{"starvaton": "starvation", "silent": "silent-stream", "SLOT-LEAK": "slot-leak", "zzzz": "", "x": ""} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
