package strict_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/strict"
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

func decode(text string, v any, rules strict.Rules) error {
	d, err := strict.Parse("f.yaml", []byte(text))
	if err != nil {
		return err
	}
	return d.Decode(v, rules)
}

func TestDecodeKeepsDefaults(t *testing.T) {
	v := outer{Name: "n", Seed: 7, Inner: inner{Limit: time.Second, Count: 3, Names: []string{"a"}}}
	if err := decode("inner:\n  limit: 5s\nlist:\n  - {rate: 0.5}\n", &v, strict.Plain); err != nil {
		t.Fatal(err)
	}
	if v.Name != "n" || v.Seed != 7 || v.Inner.Limit != 5*time.Second || v.Inner.Count != 3 || len(v.Inner.Names) != 1 || v.List[0].Rate != 0.5 {
		t.Errorf("decoded %+v", v)
	}
	for _, empty := range []string{"", "# nothing but a comment\n", "---\n"} {
		if err := decode(empty, &v, strict.Plain); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
	if v.Inner.Limit != 5*time.Second {
		t.Errorf("an empty document changed %+v", v)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"inner:\n  limt: 5s", `f.yaml:2:3: inner.limt: unknown field, did you mean "limit"?`},
		{"innre: {}", `f.yaml:1:1: innre: unknown field, did you mean "inner"?`},
		{"inner:\n  limit: 0", `f.yaml:2:10: inner.limit: found 0, want a duration with its unit such as 0s`},
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
		{"name: \xff", `f.yaml:1:7: found the byte 0xff, want UTF-8 text`},
		{"name: a\nseed: \x1b[1m", `f.yaml:2:7: found the control character U+001B, want text without`},
		{"\tname: a", `f.yaml:1:5: tab character`},
		{"\"na\\e[31m\\u202eme\": a", `f.yaml:1:1: na[31mme: unknown field`},
	} {
		refused(t, c.text, strict.Plain, c.want)
	}
}

// TestDecodeExact: what is refused besides, and what a plain document may say.
func TestDecodeExact(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"inner:", `f.yaml:1:8: inner: found nothing, want a value`},
		{"inner: {rate: ~}", `f.yaml:1:15: inner.rate: found nothing, want a value`},
		{"name: 3", `f.yaml:1:7: name: found "3", want a text`},
		{"inner: {rate: '0.5'}", `f.yaml:1:15: inner.rate: found "0.5", want a number`},
	} {
		refused(t, c.text, strict.Exact, c.want)
		var v outer
		if err := decode(c.text, &v, strict.Plain); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"innre: {}", `f.yaml:1:1: innre: unknown field, want one of name, seed, inner, list`},
		{"inner: {limit: 0}", `f.yaml:1:16: inner.limit: found "0", want a duration with its unit, such as 60s or 1m30s`},
		{"inner: {limit: -5s}", `f.yaml:1:16: inner.limit: found -5s, want a duration of 0s or more`},
		{"name: [a]", `f.yaml:1:7: name: found a list, want a text`},
	} {
		refused(t, c.text, strict.Exact, c.want)
	}
	v := outer{Seed: 7}
	text := "name: |\n  n\ninner: {limit: 5s, count: 3, rate: 1, on: true, names: [\"3\"]}\nlist: []\n"
	if err := decode(text, &v, strict.Exact); err != nil || v.Name != "n\n" || v.Seed != 7 || v.Inner.Rate != 1 || v.Inner.Names[0] != "3" {
		t.Errorf("%+v, %v", v, err)
	}
}

// temperature reads itself.
type temperature struct{ degrees string }

func (c *temperature) UnmarshalYAML(text []byte) error {
	degrees, ok := strings.CutSuffix(string(text), "C")
	if !ok {
		return errors.New("want degrees, such as 20C")
	}
	c.degrees = degrees
	return nil
}

// TestDecodeLeavesTypesToThemselves: a type that reads its own YAML checks it too.
func TestDecodeLeavesTypesToThemselves(t *testing.T) {
	var v struct {
		Room *temperature `yaml:"room"`
	}
	if err := decode("room: 20C", &v, strict.Exact); err != nil || v.Room.degrees != "20" {
		t.Errorf("%+v, %v", v.Room, err)
	}
	if err := decode("room: 20", &v, strict.Plain); err == nil || !strings.Contains(err.Error(), "want degrees") {
		t.Errorf("%v", err)
	}
}

func refused(t *testing.T, text string, rules strict.Rules, want string) {
	t.Helper()
	var v outer
	err := decode(text, &v, rules)
	var bad *strict.Error
	if !errors.As(err, &bad) {
		t.Errorf("%q: error %v, want a strict.Error", text, err)
		return
	}
	if got := err.Error(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("%q:\n got %s\nwant %s…", text, got, want)
	}
}
