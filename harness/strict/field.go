package strict

import (
	"errors"
	"fmt"
	"strings"
)

// Set decodes a value in YAML form onto the field of v at the path of keys, as [Document.Decode] would
// from a file. Its errors have no line: nobody wrote the text that they would speak of.
func Set(source string, keys []string, value string, v any, rules Rules) error {
	d, err := Parse(source, Nest(keys, value))
	if err == nil {
		err = d.Decode(v, rules)
	}
	var bad *Error
	if errors.As(err, &bad) {
		bad.Line = 0
	}
	return err
}

// Nest writes the YAML text that gives the field at the path of keys a value.
func Nest(keys []string, value string) []byte {
	var b strings.Builder
	for i, key := range keys {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), key)
		if i < len(keys)-1 {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String() + " " + value + "\n")
}

// Split parts an error of a check of a block, which begins with the field of the block that it is about
// ("idle: 60µs, want …"), into the path of the field and the rest. Without such a beginning the path is
// the block's; the block may be "", the whole document.
func Split(block string, err error) (path, msg string) {
	field, msg, ok := strings.Cut(err.Error(), ": ")
	if !ok || strings.Contains(field, " ") {
		field, msg = "", err.Error()
	}
	return strings.Trim(block+"."+field, "."), msg
}
