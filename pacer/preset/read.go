package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
)

// FileError is what is wrong with a policy file: one line that says where, what was found, and what is
// allowed.
type FileError = strict.Error

// ReadFile reads a policy file. A policy without a name has that of the file. If it names a preset in
// policy.preset, it is that one, and set is its set unless the file has its own, with the fields that
// the file names over it, wherever they stand. The error is a *FileError.
func ReadFile(path string) (Preset, error) {
	text, err := strict.ReadFile(path)
	if err != nil {
		return Preset{}, &FileError{Source: path, Msg: err.Error()}
	}
	return parse(path, text)
}

// parse reads the text of a policy file.
func parse(source string, text []byte) (Preset, error) {
	doc, err := strict.Parse(source, text)
	if err != nil {
		return Preset{}, err
	}
	if doc.Empty() {
		return Preset{}, doc.At("", "found nothing in it, want a policy file (wedge policy explain NAME --print shows one)")
	}
	p := Preset{Policy: pacer.DefaultPolicy()}
	if name, ok := doc.Value("policy.preset"); ok {
		base, err := Get(name)
		if err != nil {
			return Preset{}, doc.At("policy.preset", err.Error())
		}
		p = Preset{Policy: base.Policy, Set: base.Set, named: base.named}
	}
	p.Name = strict.NameOf(source)
	if err := doc.Decode(&p, strict.Exact); err != nil {
		return Preset{}, err
	}
	p.named = append(slices.Clone(p.named), doc.Keys("policy")...)
	p.About, p.Source, p.Trap = strict.OneLine(p.About), strict.OneLine(p.Source), strict.OneLine(p.Trap) // the line breaks are the file's
	if field, err := p.validate(); err != nil {
		return Preset{}, doc.At(field, err.Error())
	}
	return p, nil
}

// validate says what is wrong with the values, and in which field.
func (p *Preset) validate() (field string, err error) {
	if p.Name == "" || strings.ContainsFunc(p.Name, strict.NotInName) {
		return "name", fmt.Errorf("found %q, want letters, digits, dots, dashes and underscores", p.Name)
	}
	if err := p.Policy.Validate(); err != nil {
		path, msg := strict.Split("policy", err)
		return path, errors.New(msg)
	}
	c := pacer.DefaultConfig()
	for i, set := range p.Set {
		err := apply(set, &c)
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			return fmt.Sprintf("set[%d]", i), err
		}
	}
	return "", nil
}

// apply makes a setting of the pacer, such as "pacer.hold=start".
func apply(set string, c *pacer.Config) error {
	path, value, ok := strings.Cut(set, "=")
	keys := strings.Split(path, ".")
	if !ok || len(keys) < 2 || keys[0] != "pacer" || strings.TrimSpace(value) == "" || strings.ContainsAny(set, "\r\n") || strings.ContainsFunc(path, strict.NotInName) {
		return fmt.Errorf("found %q, want pacer.FIELD=VALUE, such as pacer.hold=start", set)
	}
	switch path { // a whole block is not mixed with what stood there, such as another rule's parameters
	case "pacer.limit":
		c.Limit = concurrency.Config{}
	case "pacer.queue":
		c.Queue = queue.Config{}
	}
	return strict.Set(set, keys[1:], value, c, strict.Exact)
}
