package repro

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// unmarshalsItself says whether the type reads YAML in its own way, and so checks it itself.
func unmarshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, i := range []reflect.Type{
		reflect.TypeFor[yaml.BytesUnmarshaler](), reflect.TypeFor[yaml.InterfaceUnmarshaler](), reflect.TypeFor[yaml.NodeUnmarshaler](),
		reflect.TypeFor[yaml.NodeUnmarshalerContext](), reflect.TypeFor[yaml.BytesUnmarshalerContext](), reflect.TypeFor[yaml.InterfaceUnmarshalerContext](),
	} {
		if p.Implements(i) {
			return true
		}
	}
	return false
}

// check compares the shape of a node with the type it is meant for. The YAML library alone would
// accept 1.5 for an integer, and would not say where a bad duration stands.
func (d *document) check(n ast.Node, t reflect.Type, field string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Type() == ast.NullType || unmarshalsItself(t) {
		return nil
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return d.checkDuration(n, field)
	case t.Kind() == reflect.Struct:
		return d.checkStruct(n, t, field)
	case t.Kind() == reflect.Slice:
		return d.checkSlice(n, t, field)
	}
	return d.checkScalar(n, t, field)
}

func (d *document) checkDuration(n ast.Node, field string) error {
	text := found(n)
	if n.Type() == ast.IntegerType && text == "0" {
		return d.errorAt(n, field, "found 0, want a duration with its unit such as 0s")
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return d.errorAt(n, field, "found %s, want a duration with its unit, such as 60s or 1m30s, of at most 2562047h", quoted(text))
	}
	if v < 0 {
		return d.errorAt(n, field, "found %s, want a duration of 0s or more", text)
	}
	return nil
}

func (d *document) checkStruct(n ast.Node, t reflect.Type, field string) error {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return d.errorAt(n, field, "found %s, want a block of fields: %s", quoted(found(n)), strings.Join(fieldNames(t), ", "))
	}
	for _, v := range m.Values {
		key := v.Key.GetToken().Value
		ft, ok := fieldType(t, key)
		if !ok {
			return d.errorAt(v.Key, join(field, key), "unknown field%s", suggest(key, fieldNames(t)))
		}
		if err := d.check(v.Value, ft, join(field, key)); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) checkSlice(n ast.Node, t reflect.Type, field string) error {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.errorAt(n, field, "found %s, want a list", quoted(found(n)))
	}
	for i, v := range s.Values {
		if err := d.check(v, t.Elem(), fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) checkScalar(n ast.Node, t reflect.Type, field string) error {
	text := found(n)
	bad := func(want string) error { return d.errorAt(n, field, "found %s, want %s", quoted(text), want) }
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		// Written back it must be the same: to YAML, 010 is eight.
		if v, err := strconv.ParseInt(text, 10, 64); err != nil || n.Type() != ast.IntegerType || strconv.FormatInt(v, 10) != text {
			return bad("a whole number in plain digits")
		}
	case reflect.Uint64:
		if v, err := strconv.ParseUint(text, 10, 64); err != nil || n.Type() != ast.IntegerType || strconv.FormatUint(v, 10) != text {
			return bad("a whole number from 0 to 18446744073709551615 in plain digits")
		}
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return bad("a number")
		}
	case reflect.Bool:
		if n.Type() != ast.BoolType {
			return bad("true or false")
		}
	case reflect.String:
		switch n.Type() {
		case ast.MappingType, ast.SequenceType:
			return bad("a text")
		}
	}
	return nil
}

// found is what stands at a node, in words where it is no single value.
func found(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return aBlock
	case ast.SequenceType:
		return aList
	}
	return n.GetToken().Value
}

const (
	aBlock = "a block"
	aList  = "a list"
)

// quoted quotes what was found, unless it is words for it, and cuts what is too long for a line.
func quoted(text string) string {
	if text == aBlock || text == aList {
		return text
	}
	const most = 80
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
