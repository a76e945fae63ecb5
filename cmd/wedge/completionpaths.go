package main

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
)

// settings completes a field of the scenario with a value, such as policy.idle=60s, block by block. The
// scenario is the one on the command line, if there is one: it has the faults that can be named.
func settings(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	const only = cobra.ShellCompDirectiveNoFileComp
	s := scenarioOnLine(cmd, args)
	if path, value, ok := strings.Cut(begun, "="); ok {
		var out []string
		for _, v := range beginning(valuesOf(s, path), value) {
			out = append(out, path+"="+v)
		}
		return out, only
	}
	return beginning(fieldsIn(s, begun[:strings.LastIndexByte(begun, '.')+1]), begun), only | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
}

// scenarioOnLine reads the scenario that the command line names, or else takes the default one.
func scenarioOnLine(cmd *cobra.Command, args []string) *repro.Scenario {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	if flag := cmd.Flag("scenario"); flag != nil && flag.Value.String() != "" {
		name = flag.Value.String()
	}
	if name != "" {
		if s, err := scenarioOf(name); err == nil {
			return s
		}
	}
	return repro.Default()
}

// fieldsIn lists what follows a prefix that is empty or ends in a dot: blocks end in a dot, fields in an
// equals sign.
func fieldsIn(s *repro.Scenario, prefix string) []string {
	v := reflect.ValueOf(s).Elem()
	keys := strings.Split(prefix, ".")
	for _, key := range keys[:len(keys)-1] {
		if v = inside(v, key); !v.IsValid() {
			return nil
		}
	}
	var out []string
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, prefix+idOf(v, i)+".")
		}
	case reflect.Struct:
		for f := range v.Type().Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case name == "" || name == "-":
				continue
			case !isBlock(f.Type):
				name += "="
			default:
				name += "."
			}
			out = append(out, prefix+name)
		}
	}
	return out
}

// inside returns the field of a block, or the element of a list, that a key names.
func inside(v reflect.Value, key string) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if idOf(v, i) == key {
				return pointedAt(v.Index(i))
			}
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name == key && name != "" && name != "-" && isBlock(f.Type) {
				return pointedAt(value)
			}
		}
	}
	return reflect.Value{}
}

// pointedAt follows a pointer, also one to nothing: its fields can be set.
func pointedAt(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		return reflect.New(v.Type().Elem()).Elem()
	}
	return v.Elem()
}

// isBlock says whether a field has fields that can be set one by one, and not only all of it.
func isBlock(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice { // lists whose elements have ids
		e := t.Elem()
		return e == reflect.TypeFor[fault.Fault]() || e == reflect.TypeFor[repro.Trigger]() || e == reflect.TypeFor[repro.RandomFault]()
	}
	p := reflect.PointerTo(t)
	bytes, any, node := reflect.TypeFor[yaml.BytesUnmarshaler](), reflect.TypeFor[yaml.InterfaceUnmarshaler](), reflect.TypeFor[yaml.NodeUnmarshaler]()
	return t.Kind() == reflect.Struct && !p.Implements(bytes) && !p.Implements(any) && !p.Implements(node)
}

// idOf is the name of an element of a list.
func idOf(list reflect.Value, i int) string {
	if f, ok := list.Index(i).Interface().(repro.RandomFault); ok {
		return f.Name(i)
	}
	return list.Index(i).FieldByName("ID").String()
}

// wantWords finds in the refusal of a value the words that are allowed, such as "want one of a, b, c".
var wantWords = regexp.MustCompile(`want (?:one of )?([a-zA-Z0-9_.-]+(?:(?:, | or )[a-zA-Z0-9_.-]+)+)$`)

// valuesOf lists the values that a field allows. A field that takes one of a few words says so when it
// refuses another one, so that there is no second list of them to forget. Others show what they have.
func valuesOf(s *repro.Scenario, path string) []string {
	const nonsense = "?"
	err := s.Set(path, nonsense)
	if err == nil {
		err = s.Validate()
	}
	var input *repro.InputError
	if !errors.As(err, &input) {
		return nil
	}
	if m := wantWords.FindStringSubmatch(input.Msg); m != nil && !strings.Contains(input.Msg, "in plain digits") {
		return strings.FieldsFunc(strings.ReplaceAll(m[1], " or ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
	}
	return nil
}
