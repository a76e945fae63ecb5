package strict

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

// Rules says what a document may leave to its reader.
type Rules int

const (
	// Plain is for files that are written by hand and run at once, such as scenarios: a field without a
	// value keeps its default, a number will do for a text and a text that reads as one for a number,
	// and an unknown field is answered with the known one that was probably meant.
	Plain Rules = iota
	// Exact is for files that are copied and passed on, such as policies: every field that is named has
	// a value, which is of the field's own type, and an unknown field is answered with all there are.
	Exact
)

// checker compares a document with the type that it is meant for. The YAML library alone would accept
// 1.5 for an integer and 60 for sixty nanoseconds, and would not say where a bad duration stands.
type checker struct {
	doc   *Document
	rules Rules
}

func (c checker) check(n ast.Node, t reflect.Type, field string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Type() == ast.NullType && c.rules == Exact:
		return c.doc.errorAt(n, field, "found nothing, want a value")
	case n.Type() == ast.NullType, unmarshalsItself(t):
		return nil
	case t == reflect.TypeFor[time.Duration]():
		return c.duration(n, field)
	case t.Kind() == reflect.Struct:
		return c.block(n, t, field)
	case t.Kind() == reflect.Slice:
		return c.list(n, t, field)
	}
	if want := c.wanted(n, t); want != "" {
		return c.bad(n, field, want)
	}
	return nil
}

func (c checker) bad(n ast.Node, field, want string) error {
	return c.doc.errorAt(n, field, "found %s, want %s", quoted(found(n)), want)
}

func (c checker) duration(n ast.Node, field string) error {
	const want = "a duration with its unit, such as 60s or 1m30s"
	text := found(n)
	v, err := time.ParseDuration(text)
	switch {
	case c.rules == Exact && (err != nil || n.Type() != ast.StringType): // ParseDuration lets 0 pass
		return c.bad(n, field, want)
	case n.Type() == ast.IntegerType && text == "0":
		return c.doc.errorAt(n, field, "found 0, want a duration with its unit such as 0s")
	case err != nil:
		return c.bad(n, field, want+", of at most 2562047h")
	case v < 0:
		return c.doc.errorAt(n, field, "found %s, want a duration of 0s or more", text)
	}
	return nil
}

func (c checker) block(n ast.Node, t reflect.Type, field string) error {
	names := fieldNames(t)
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return c.bad(n, field, "a block of fields: "+strings.Join(names, ", "))
	}
	for _, v := range m.Values {
		key := v.Key.GetToken().Value
		path := strings.TrimPrefix(field+"."+key, ".")
		ft, ok := fieldType(t, key)
		if !ok {
			return c.doc.errorAt(v.Key, path, "unknown field%s", c.instead(key, names))
		}
		if err := c.check(v.Value, ft, path); err != nil {
			return err
		}
	}
	return nil
}

// instead says what might stand for an unknown name.
func (c checker) instead(name string, known []string) string {
	if c.rules == Exact {
		return oneOf(known)
	}
	return Suggest(name, known)
}

func (c checker) list(n ast.Node, t reflect.Type, field string) error {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return c.bad(n, field, "a list")
	}
	for i, v := range s.Values {
		if err := c.check(v, t.Elem(), fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	return nil
}

// wanted says what is wanted instead of the single value at a node; "" if it is right.
func (c checker) wanted(n ast.Node, t reflect.Type) string {
	text, is := found(n), n.Type()
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		// Written back it must be the same: to YAML, 010 is eight.
		if v, err := strconv.ParseInt(text, 10, 64); err != nil || is != ast.IntegerType || strconv.FormatInt(v, 10) != text {
			return "a whole number in plain digits"
		}
	case reflect.Uint64:
		if v, err := strconv.ParseUint(text, 10, 64); err != nil || is != ast.IntegerType || strconv.FormatUint(v, 10) != text {
			return "a whole number from 0 to 18446744073709551615 in plain digits"
		}
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		number := is == ast.IntegerType || is == ast.FloatType
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || c.rules == Exact && !number {
			return "a number"
		}
	case reflect.Bool:
		if is != ast.BoolType {
			return "true or false"
		}
	case reflect.String:
		single := is != ast.MappingType && is != ast.SequenceType
		if !single || c.rules == Exact && is != ast.StringType && is != ast.LiteralType {
			return "a text"
		}
	default:
		panic(fmt.Sprintf("strict: no check of a field of type %v", t)) // the callers' tests go through all fields
	}
	return ""
}

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
		if key != "" && yamlName(f) == key {
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
