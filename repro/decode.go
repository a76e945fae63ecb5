package repro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// InputError is bad input: one line that says where, what was found, and what is allowed.
type InputError struct {
	Source string // a file's name, or the flag the text came from
	Line   int    // counted from 1; 0 when there is no line to name
	Column int
	Field  string // the path of the field, such as "policy.idle"; may be empty
	Msg    string
}

func (e *InputError) Error() string {
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

// oneLine makes text from a file or flag fit for a line of a terminal: what would not show there, such
// as the escape that YAML lets into a key, is left out.
func oneLine(s string) string {
	shows := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(shows, s)), " ")
}

// document is a parsed YAML text that remembers where its fields stand.
type document struct {
	source string
	root   ast.Node // nil for an empty document
}

// decodeOnto decodes a YAML text onto v, a pointer to a struct that holds the defaults: fields that
// the text does not name keep their values. Unknown fields, numbers that do not fit and durations
// without a unit are refused with their line and column.
func decodeOnto(source string, text []byte, v any) (*document, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark, as some editors write it
	if err := checkText(source, text); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, inputErrorOf(source, "", err)
	}
	doc := &document{source: source}
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if doc.root != nil {
			return nil, doc.errorAt(d.Body, "", "a second document, want one")
		}
		doc.root = d.Body
	}
	if doc.root == nil {
		return doc, nil
	}
	if err := doc.check(doc.root, reflect.TypeOf(v).Elem(), ""); err != nil {
		return nil, err
	}
	err = yaml.NewDecoder(strings.NewReader(string(text)), yaml.Strict()).Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, inputErrorOf(source, "", err)
	}
	return doc, nil
}

// checkText refuses what YAML allows in no file: bytes that are not UTF-8, and control characters.
func checkText(source string, text []byte) error {
	line, column := 1, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		column++
		switch {
		case r == utf8.RuneError && size == 1:
			return &InputError{Source: source, Line: line, Column: column, Msg: fmt.Sprintf("found the byte 0x%02x, want UTF-8 text", text[0])}
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == '\u2028' || r == '\u2029':
			return &InputError{Source: source, Line: line, Column: column, Msg: fmt.Sprintf("found the control character %U, want text without", r)}
		case r == '\n':
			line, column = line+1, 0
		}
		text = text[size:]
	}
	return nil
}

// inputErrorOf turns an error of the YAML library into one line.
func inputErrorOf(source, field string, err error) *InputError {
	e := &InputError{Source: source, Field: field, Msg: err.Error()}
	var located yaml.Error
	if errors.As(err, &located) {
		e.Msg = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

func (d *document) errorAt(n ast.Node, field, format string, args ...any) *InputError {
	e := &InputError{Source: d.source, Field: field, Msg: fmt.Sprintf(format, args...)}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// at returns an error about the field at a path, with its position if the document names it.
func (d *document) at(field, msg string) *InputError {
	if n := d.find(field); n != nil {
		return d.errorAt(n, field, "%s", msg)
	}
	return &InputError{Source: d.source, Field: field, Msg: msg}
}

// find returns the node at a path such as "faults[0].what", or the nearest one above it.
func (d *document) find(field string) ast.Node {
	if d == nil || d.root == nil {
		return nil
	}
	n := d.root
	found := false
	for _, key := range strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := child(n, key)
		if next == nil {
			break
		}
		n, found = next, true
	}
	if !found {
		return nil
	}
	return n
}

func child(n ast.Node, key string) ast.Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			if v.Key.GetToken().Value == key {
				return v.Value
			}
		}
	case *ast.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Values) {
			return n.Values[i]
		}
	}
	return nil
}

func join(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

func yamlName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if name := yamlName(f); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if yamlName(f) == key && key != "-" && key != "" {
			return f.Type, true
		}
	}
	return nil, false
}

// asInput is errors.As for an input error, which also says whether there is an error at all.
func asInput(err error, target **InputError) bool { return errors.As(err, target) }
