package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer"
	"example.com/wedge/repro"
)

// AsIs is the name that stands for each scenario's own policy.
const AsIs = "as-is"

// ParseVariant reads a policy as --policy names it: "as-is", "oracle", a preset's name, a policy file (its name
// ends in .yaml or .yml, or has a slash in it), or a policy written out, such as "patient: {idle: 60s}"
// or "open: {preset: none, max_attempts: 5, set: [pacer.hold=start]}". What is written out changes the
// preset, or wedge's defaults.
func ParseVariant(text string) (Variant, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return Variant{}, &repro.InputError{Source: "--policy", Msg: "found nothing, want a preset, a policy file, or a policy such as 'patient: {idle: 60s}'"}
	case strings.ContainsAny(trimmed, "{\n"):
		return inline(trimmed)
	case trimmed == AsIs:
		return Variant{Name: AsIs, AsIs: true, About: "Each scenario's own policy."}, nil
	case trimmed == Oracle:
		return oracle(), nil
	}
	if ext := filepath.Ext(trimmed); ext == ".yaml" || ext == ".yml" || strings.ContainsRune(trimmed, filepath.Separator) {
		return policyFile(trimmed)
	}
	return presetNamed(trimmed)
}

// inline reads "NAME: {fields of the policy}".
func inline(text string) (Variant, error) {
	source := "--policy " + text
	bad := func(format string, args ...any) (Variant, error) {
		return Variant{}, &repro.InputError{Source: source, Msg: fmt.Sprintf(format, args...)}
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		var of *strict.Error // which says it in one line
		if _, err := strict.Parse(source, []byte(text)); errors.As(err, &of) {
			return bad("%s; want a policy such as 'patient: {idle: 60s}'", of.Msg)
		}
		return bad("found no YAML, want a policy such as 'patient: {idle: 60s}'")
	}
	if len(file.Docs) != 1 {
		return bad("want one policy such as 'patient: {idle: 60s}'")
	}
	top, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok || len(top.Values) != 1 {
		return bad("want one name with its policy, such as 'patient: {idle: 60s}'")
	}
	v := Variant{Name: top.Values[0].Key.GetToken().Value}
	if v.Name == "" || strings.ContainsFunc(v.Name, func(r rune) bool { return r < '!' || r > '~' }) {
		return bad("found the name %q, want one without spaces", v.Name)
	}
	body, ok := top.Values[0].Value.(*ast.MappingNode)
	if !ok {
		return bad("want a block of fields of the policy after the name, such as {idle: 60s}")
	}
	base := Variant{Policy: pacer.DefaultPolicy()}
	var rest []string
	for _, field := range body.Values {
		switch field.Key.GetToken().Value {
		case "preset":
			if base, err = presetNamed(field.Value.GetToken().Value); err != nil {
				return v, err
			}
		case "set":
			if err := yaml.NodeToValue(field.Value, &v.Set); err != nil {
				return bad("set: found no list of texts, want settings of the pacer such as [pacer.hold=start]")
			}
			for _, set := range v.Set {
				if !strings.HasPrefix(set, "pacer.") || !strings.Contains(set, "=") {
					return bad("set: found %q, want settings of the pacer such as pacer.hold=start", set)
				}
			}
		default:
			rest = append(rest, field.String())
		}
	}
	v.Policy, v.Set = base.Policy, append(slices.Clone(base.Set), v.Set...)
	return v, v.change(source, rest)
}

// change puts fields, each as "path: value" in YAML, into the policy.
func (v *Variant) change(source string, fields []string) error {
	s := repro.Default()
	s.Policy = v.Policy
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ":")
		if err := s.Set("policy."+strings.TrimSpace(name), strings.Join(strings.Fields(value), " ")); err != nil {
			return renamed(source, err)
		}
	}
	v.Policy = s.Policy
	if err := v.Policy.Validate(); err != nil {
		return &repro.InputError{Source: source, Msg: err.Error()}
	}
	if err := v.contradiction(); err != nil {
		return &repro.InputError{Source: source, Msg: err.Error()}
	}
	return nil
}

// renamed gives an error of bad input the source that the user wrote.
func renamed(source string, err error) error {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, ": "); ok {
		text = rest
	}
	return &repro.InputError{Source: source, Msg: text}
}

// contradiction says which limit of the policy can never end anything because another always comes
// first. Shipped presets may have such limits, since real clients do.
func (v *Variant) contradiction() error {
	p := &v.Policy
	for _, pair := range []struct {
		inner string
		limit time.Duration
		outer string
		until time.Duration
	}{
		{"connect", p.Connect, "total", p.Total},
		{"dial", p.Dial, "total", p.Total},
		{"response_header", p.ResponseHeader, "first_token", p.FirstToken},
		{"response_header", p.ResponseHeader, "total", p.Total},
		{"first_token", p.FirstToken, "total", p.Total},
		{"idle", p.Idle, "total", p.Total},
		{"first_token", p.FirstToken, "call_total", p.CallTotal},
		{"idle", p.Idle, "call_total", p.CallTotal},
		{"total", p.Total, "call_total", p.CallTotal},
	} {
		if pair.limit > 0 && pair.until > 0 && pair.limit >= pair.until {
			return fmt.Errorf("%s: found %v, but %s is %v, so it never fires: want less, or 0s", pair.inner, pair.limit, pair.outer, pair.until)
		}
	}
	return nil
}

// policyFile reads a policy file.
func policyFile(path string) (Variant, error) {
	if _, err := os.Stat(path); err != nil {
		return Variant{}, &repro.InputError{Source: path, Msg: "found no such file, want a policy file, or the name of a preset"}
	}
	return presetFile(path)
}
