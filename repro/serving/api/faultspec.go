package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"example.com/wedge/harness/fault"
)

// faultBytesMax bounds the text of a fault: no good one comes near.
const faultBytesMax = 16 << 10

// faultValueBytesMax bounds the text of each of its values.
const faultValueBytesMax = 256

// ParseFault reads a fault from JSON or YAML, with the names of fields that scenario files have:
//
//	{"where": "stream", "what": "silence", "probability": 0.1, "after_tokens": 40}
//
//	where: router
//	what: latency
//	delay: 30s
//
// Lengths of time are Go durations such as "1m30s". If the text has no id, or the same, id is the
// fault's; "" leaves it to the text. The error is one line that names the field and what is allowed.
func ParseFault(text []byte, id string) (fault.Fault, error) {
	var f fault.Fault
	if len(text) > faultBytesMax {
		return f, fmt.Errorf("a fault of %d bytes, want %d at most", len(text), faultBytesMax)
	}
	if !utf8.Valid(text) {
		return f, errors.New("a fault that is not UTF-8 text")
	}
	if err := checkFields(text); err != nil {
		return f, err
	}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return fault.Fault{}, errors.New(yamlMessage(err))
	}
	if id != "" && f.ID != "" && f.ID != id {
		return fault.Fault{}, fmt.Errorf("id: %q, want %q or none", f.ID, id)
	}
	if id != "" {
		f.ID = id
	}
	if err := f.Validate(); err != nil {
		return fault.Fault{}, err
	}
	return f, nil
}

// checkFields looks at the fields before the YAML library does, whose own checks let 1.5 pass for a
// whole number, and 30 for a duration.
func checkFields(text []byte) error {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return errors.New(yamlMessage(err))
	}
	if len(file.Docs) != 1 {
		return fmt.Errorf("%d documents, want one fault", len(file.Docs))
	}
	var values []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		values = body.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{body}
	default:
		return errors.New(`want the fields of a fault, such as {"where": "stream", "what": "silence"}`)
	}
	for _, v := range values {
		if err := checkField(v); err != nil {
			return err
		}
	}
	return nil
}

func checkField(v *ast.MappingValueNode) error {
	key, ok := v.Key.(*ast.StringNode)
	if !ok {
		return fmt.Errorf("%s: want the name of a field", clean(v.Key.String()))
	}
	kind, known := faultField(key.Value)
	if !known {
		return fmt.Errorf("%s: no such field, want some of %s", clean(key.Value), strings.Join(faultFields(), ", "))
	}
	switch v.Value.(type) {
	case *ast.NullNode:
		return nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.LiteralNode:
	default:
		return fmt.Errorf("%s: %s, want a single value", key.Value, clean(v.Value.String()))
	}
	if n := len(v.Value.String()); n > faultValueBytesMax {
		return fmt.Errorf("%s: %d bytes, want %d at most", key.Value, n, faultValueBytesMax)
	}
	if problem := wrongKind(v.Value, kind); problem != "" {
		return fmt.Errorf("%s: %s, want %s", key.Value, clean(v.Value.String()), problem)
	}
	return nil
}

// wrongKind says what a value should be instead, or returns "".
func wrongKind(n ast.Node, kind reflect.Type) string {
	text, isText := n.(*ast.StringNode)
	switch {
	case kind == reflect.TypeFor[time.Duration]():
		if isText {
			if _, err := time.ParseDuration(text.Value); err == nil {
				return ""
			}
		}
		return `a duration such as "1m30s"`
	case kind.Kind() == reflect.Int:
		if _, ok := n.(*ast.IntegerNode); !ok {
			return "a whole number"
		}
	case kind.Kind() == reflect.Float64:
		_, whole := n.(*ast.IntegerNode)
		if _, ok := n.(*ast.FloatNode); !ok && !whole {
			return "a number"
		}
	case kind.Kind() == reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return "true or false"
		}
	}
	return ""
}

// faultField returns the type of a field by its name in scenario files.
func faultField(name string) (reflect.Type, bool) {
	for f := range reflect.TypeFor[fault.Fault]().Fields() {
		if fieldName(f) == name {
			return f.Type, true
		}
	}
	return nil, false
}

func faultFields() []string {
	var names []string
	for f := range reflect.TypeFor[fault.Fault]().Fields() {
		names = append(names, fieldName(f))
	}
	return names
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// yamlMessage makes one line of an error of the YAML library, without the excerpt that it draws.
func yamlMessage(err error) string {
	var located yaml.Error
	if errors.As(err, &located) {
		if t := located.GetToken(); t != nil && t.Position != nil {
			return fmt.Sprintf("line %d, column %d: %s", t.Position.Line, t.Position.Column, clean(located.GetMessage()))
		}
		return clean(located.GetMessage())
	}
	return clean(err.Error())
}

// clean makes text from outside fit for a line: what does not show is left out, and no more than
// two hundred bytes are kept.
func clean(s string) string {
	shows := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return cut(strings.Join(strings.Fields(strings.Map(shows, s)), " "), 200)
}
