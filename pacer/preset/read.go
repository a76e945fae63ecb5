package preset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"example.com/wedge/pacer"
)

// FileError is what is wrong with a policy file: one line that says where, what was found, and what is
// allowed.
type FileError struct {
	Source string // the file's name
	Line   int    // counted from 1; 0 when there is no line to name
	Column int
	Field  string // the path of the field, such as "policy.idle"; may be empty
	Msg    string
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(oneLine(e.Source))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(oneLine(e.Field) + ": ")
	}
	b.WriteString(oneLine(e.Msg))
	return b.String()
}

// oneLine makes text from a file fit for a line of a terminal.
func oneLine(s string) string {
	shows := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(shows, s)), " ")
}

// ReadFile reads a policy file. A policy without a name has that of the file. If it names a preset in
// policy.preset, it is that one, and set is its set unless the file has its own, with the fields that
// the file names over it, wherever they stand. The error is a *FileError.
func ReadFile(path string) (Preset, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var of *os.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		return Preset{}, &FileError{Source: path, Msg: err.Error()}
	}
	return parse(path, text)
}

// parse reads the text of a policy file.
func parse(source string, text []byte) (Preset, error) {
	doc, err := newDocument(source, text)
	if err != nil {
		return Preset{}, err
	}
	p := Preset{Policy: pacer.DefaultPolicy()}
	if n := child(child(doc.root, "policy"), "preset"); n != nil {
		base, err := Get(found(n))
		if err != nil {
			return Preset{}, doc.errorAt(n, "policy.preset", "%s", err)
		}
		p = Preset{Policy: base.Policy, Set: base.Set, named: base.named}
	}
	p.Name = nameOf(source)
	if err := doc.decode(text, &p); err != nil {
		return Preset{}, err
	}
	p.named = append(slices.Clone(p.named), doc.keys("policy")...)
	p.About, p.Source, p.Trap = oneLine(p.About), oneLine(p.Source), oneLine(p.Trap) // the line breaks are the file's
	if err := doc.validate(&p); err != nil {
		return Preset{}, err
	}
	return p, nil
}

func (d *document) validate(p *Preset) error {
	if p.Name == "" || strings.ContainsFunc(p.Name, notInName) {
		return d.at("name", fmt.Sprintf("found %q, want letters, digits, dots, dashes and underscores", p.Name))
	}
	if err := p.Policy.Validate(); err != nil {
		field, msg := fieldOf(err)
		return d.at(join("policy", field), msg)
	}
	c := pacer.DefaultConfig()
	for i, set := range p.Set {
		field := fmt.Sprintf("set[%d]", i)
		if err := apply(set, &c); err != nil {
			return d.at(field, err.Error())
		}
		if err := c.Validate(); err != nil {
			return d.at(field, err.Error())
		}
	}
	return nil
}

// fieldOf parts an error that begins with the field it is about.
func fieldOf(err error) (field, msg string) {
	field, msg, ok := strings.Cut(err.Error(), ": ")
	if !ok || strings.Contains(field, " ") {
		return "", err.Error()
	}
	return field, msg
}

// apply makes a setting of the pacer, such as "pacer.hold=start".
func apply(set string, c *pacer.Config) error {
	path, value, ok := strings.Cut(set, "=")
	keys := strings.Split(path, ".")
	if !ok || len(keys) < 2 || keys[0] != "pacer" || strings.TrimSpace(value) == "" || strings.ContainsAny(set, "\r\n") || strings.ContainsFunc(path, notInName) {
		return fmt.Errorf("found %q, want pacer.FIELD=VALUE, such as pacer.hold=start", set)
	}
	text := nest(keys[1:], value)
	doc, err := newDocument(set, text)
	if err == nil {
		err = doc.decode(text, c)
	}
	var bad *FileError
	if errors.As(err, &bad) {
		bad.Line = 0 // of a text that nobody has written
	}
	return err
}

// nest writes the YAML text that gives the field at the path of keys a value.
func nest(keys []string, value string) []byte {
	var b strings.Builder
	for i, key := range keys {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), key)
		if i < len(keys)-1 {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String() + " " + value + "\n")
}

// nameOf makes a name out of that of a file.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.Map(func(r rune) rune {
		if notInName(r) {
			return '-'
		}
		return r
	}, strings.TrimSuffix(base, filepath.Ext(base)))
}

func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
}
