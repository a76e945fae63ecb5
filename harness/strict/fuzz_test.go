package strict_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.com/wedge/harness/strict"
)

// FuzzDecode feeds documents. What is refused is refused in one line that lies in the text; what passes as
// exact passes as plain, and means the same.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"name: a\nseed: 7\ninner: {limit: 5s, count: 3, rate: 0.5, on: true, names: [x]}\nlist:\n  - {rate: 1}\n",
		"inner: &a {limit: 5s}\nlist: [*a]\n", "inner: {<<: {limit: 5s}}\n", "name: !!binary aGVsbG8=\nseed: !!int 3\n",
		"name: |\n  two\n  lines\n", "list: [, ]\n", "? name\n: a\n", "\ufeffname: 'a'\n---\n", "seed: 0x10\ninner: {rate: .inf, limit: 0}\n", "\"na\\e[31m\": a",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var plain, exact outer
		plainErr, exactErr := decode(string(text), &plain, strict.Plain), decode(string(text), &exact, strict.Exact)
		for _, err := range []error{plainErr, exactErr} {
			var bad *strict.Error
			if err == nil {
				continue
			}
			if !errors.As(err, &bad) || strings.ContainsAny(err.Error(), "\n\r\x1b") || bad.Msg == "" {
				t.Errorf("%T: %q", err, err)
			} else if bad.Line > strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+1 {
				t.Errorf("line %d of a text that ends before: %v", bad.Line, err)
			}
		}
		if exactErr == nil && (plainErr != nil || !reflect.DeepEqual(plain, exact)) {
			t.Errorf("exact it is %+v, plain %+v, %v", exact, plain, plainErr)
		}
	})
}
