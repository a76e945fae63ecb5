package strict

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

// Document is a parsed YAML text that remembers where its fields stand. It comes from [Parse], does not
// change, and is safe for concurrent use.
type Document struct {
	source string
	text   []byte
	root   ast.Node // nil for an empty document
}

// Parse reads a YAML text of one document, which may be empty. The source is what errors call it. The
// error is an *[Error].
func Parse(source string, text []byte) (*Document, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark, as some editors write it
	d := &Document{source: source, text: text}
	if err := d.checkText(); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, d.errorOf(err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if d.root != nil {
			return nil, d.errorAt(doc.Body, "", "a second document, want one")
		}
		d.root = doc.Body
	}
	return d, nil
}

// checkText refuses what YAML allows in no file: bytes that are not UTF-8, and control characters.
func (d *Document) checkText() error {
	line, column := 1, 0
	for text := d.text; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		column++
		switch {
		case r == utf8.RuneError && size == 1:
			return &Error{Source: d.source, Line: line, Column: column, Msg: fmt.Sprintf("found the byte 0x%02x, want UTF-8 text", text[0])}
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == '\u2028' || r == '\u2029':
			return &Error{Source: d.source, Line: line, Column: column, Msg: fmt.Sprintf("found the control character %U, want text without", r)}
		case r == '\n':
			line, column = line+1, 0
		}
		text = text[size:]
	}
	return nil
}

// Decode decodes the document onto v, a pointer to a struct whose fields have yaml tags and hold the
// defaults: those that the document does not name keep their values. What does not fit is refused, as
// an *[Error], and may leave v changed in part. An empty document changes nothing.
func (d *Document) Decode(v any, rules Rules) error {
	if d.root == nil {
		return nil
	}
	if err := (checker{d, rules}).check(d.root, reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	err := yaml.NewDecoder(bytes.NewReader(d.text), yaml.Strict()).Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		return d.errorOf(err)
	}
	return nil
}

// Peek decodes onto v, a pointer, those fields of the document that v has. Nothing else is looked at or checked:
// it is for fields that the defaults of others depend on, ahead of [Document.Decode].
func (d *Document) Peek(v any) error { return yaml.Unmarshal(d.text, v) }

// Empty says whether there is nothing in the document but comments.
func (d *Document) Empty() bool { return d.root == nil }

// At returns an error about the field at a path such as "faults[0].what", with the position of it or of
// the nearest field above it that the document names.
func (d *Document) At(field, msg string) *Error {
	if n, _ := d.find(field); n != d.root {
		return d.errorAt(n, field, "%s", msg)
	}
	return &Error{Source: d.source, Field: field, Msg: msg}
}

// Value returns what stands in the document at the path of a field, in words such as "a list" where it
// is no single value, and whether the document names the field.
func (d *Document) Value(field string) (text string, named bool) {
	n, whole := d.find(field)
	if !whole || n == nil {
		return "", false
	}
	return found(n), true
}

// Keys lists the fields that the document names of the block at a path, in its order.
func (d *Document) Keys(block string) []string {
	n, whole := d.find(block)
	m, ok := n.(*ast.MappingNode)
	if !ok || !whole {
		return nil
	}
	names := make([]string, 0, len(m.Values))
	for _, v := range m.Values {
		names = append(names, v.Key.GetToken().Value)
	}
	return names
}

// find returns the node at the path, and true, or else the nearest one above it; nil in an empty
// document.
func (d *Document) find(path string) (n ast.Node, whole bool) {
	n = d.root
	for _, key := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := child(n, key)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
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
