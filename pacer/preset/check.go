package preset

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// check compares the shape of a node with the type it is meant for. The YAML library alone would
// accept 1.5 for an integer, and 60 for sixty nanoseconds.
func (d *document) check(n ast.Node, t reflect.Type, field string) error {
	switch {
	case n.Type() == ast.NullType:
		return d.errorAt(n, field, "found nothing, want a value")
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
	v, err := time.ParseDuration(text)
	if err != nil || n.Type() != ast.StringType { // 0 needs no unit elsewhere
		return d.errorAt(n, field, "found %s, want a duration with its unit, such as 60s or 1m30s", quoted(text))
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
			return d.errorAt(v.Key, join(field, key), "unknown field, want one of %s", strings.Join(fieldNames(t), ", "))
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
	want := ""
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		// Written back it must be the same: to YAML, 010 is eight.
		if v, err := strconv.ParseInt(text, 10, 64); err != nil || n.Type() != ast.IntegerType || strconv.FormatInt(v, 10) != text {
			want = "a whole number in plain digits"
		}
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || n.Type() != ast.IntegerType && n.Type() != ast.FloatType {
			want = "a number"
		}
	case reflect.Bool:
		if n.Type() != ast.BoolType {
			want = "true or false"
		}
	case reflect.String:
		if n.Type() != ast.StringType && n.Type() != ast.LiteralType {
			want = "a text"
		}
	default:
		panic(fmt.Sprintf("preset: no check of a field of type %v", t)) // the tests go through all fields
	}
	if want != "" {
		return d.errorAt(n, field, "found %s, want %s", quoted(text), want)
	}
	return nil
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if name := yamlName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if yamlName(f) == key && key != "" {
			return f.Type, true
		}
	}
	return nil, false
}

// yamlName is the name of a field in a file; "" if it has none.
func yamlName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
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
