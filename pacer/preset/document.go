package preset

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

// document is a parsed YAML text that remembers where its fields stand.
type document struct {
	source string
	root   ast.Node
}

// newDocument parses a YAML text, which must have something in it.
func newDocument(source string, text []byte) (*document, error) {
	if err := checkText(source, text); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, fileErrorOf(source, err)
	}
	d := &document{source: source}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if d.root != nil {
			return nil, d.errorAt(doc.Body, "", "a second document, want one")
		}
		d.root = doc.Body
	}
	if d.root == nil {
		return nil, &FileError{Source: source, Msg: "found nothing in it, want a policy file (wedge policy explain NAME --print shows one)"}
	}
	return d, nil
}

// checkText refuses what YAML allows in no file: bytes that are not UTF-8, and control characters.
func checkText(source string, text []byte) error {
	line, column := 1, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		column++
		switch {
		case r == utf8.RuneError && size == 1:
			return &FileError{Source: source, Line: line, Column: column, Msg: fmt.Sprintf("found the byte 0x%02x, want UTF-8 text", text[0])}
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == '\u2028' || r == '\u2029':
			return &FileError{Source: source, Line: line, Column: column, Msg: fmt.Sprintf("found the control character %U, want text without", r)}
		case r == '\n':
			line, column = line+1, 0
		}
		text = text[size:]
	}
	return nil
}

// decode decodes the document, whose text it is, onto v, a pointer to a struct that holds the
// defaults. What does not fit is refused with its line and column.
func (d *document) decode(text []byte, v any) error {
	if err := d.check(d.root, reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		return fileErrorOf(d.source, err)
	}
	return nil
}

// fileErrorOf turns an error of the YAML library into one line.
func fileErrorOf(source string, err error) *FileError {
	e := &FileError{Source: source, Msg: err.Error()}
	var located yaml.Error
	if errors.As(err, &located) {
		e.Msg = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

func (d *document) errorAt(n ast.Node, field, format string, args ...any) *FileError {
	e := &FileError{Source: d.source, Field: field, Msg: fmt.Sprintf(format, args...)}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// at returns an error about the field at a path, with the position of it or of the nearest field above
// it that the document names.
func (d *document) at(field, msg string) *FileError {
	n := d.root
	for _, key := range strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := child(n, key)
		if next == nil {
			break
		}
		n = next
	}
	if n == d.root {
		return &FileError{Source: d.source, Field: field, Msg: msg}
	}
	return d.errorAt(n, field, "%s", msg)
}

// keys lists the fields of the block of that name.
func (d *document) keys(block string) []string {
	m, ok := child(d.root, block).(*ast.MappingNode)
	if !ok {
		return nil
	}
	names := make([]string, 0, len(m.Values))
	for _, v := range m.Values {
		names = append(names, v.Key.GetToken().Value)
	}
	return names
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
	return strings.Trim(field+"."+key, ".")
}
