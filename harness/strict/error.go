package strict

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Error is bad input: one line that says where, what was found, and what is allowed. The zero value
// says nothing.
type Error struct {
	Source string // a file's name, or the flag the text came from
	Line   int    // counted from 1; 0 when there is no line to name
	Column int    // counted from 1
	Field  string // the path of the field, such as "policy.idle"; may be empty
	Msg    string
}

// Error returns the line, fit for a terminal: "f.yaml:2:3: policy.idle: …".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(OneLine(e.Source))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(OneLine(e.Field) + ": ")
	}
	b.WriteString(OneLine(e.Msg))
	return b.String()
}

// OneLine makes text from a file or flag fit for a line of a terminal: what would not show there, such
// as the escape that YAML lets into a key, is left out.
func OneLine(s string) string {
	shows := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(shows, s)), " ")
}

// errorOf turns an error of the YAML library into one line.
func (d *Document) errorOf(err error) *Error {
	e := &Error{Source: d.source, Msg: err.Error()}
	var located yaml.Error
	if errors.As(err, &located) {
		e.Msg = located.GetMessage()
		e.place(located.GetToken())
	}
	return e
}

func (d *Document) errorAt(n ast.Node, field, format string, args ...any) *Error {
	e := &Error{Source: d.source, Field: field, Msg: fmt.Sprintf(format, args...)}
	e.place(n.GetToken())
	return e
}

func (e *Error) place(t *token.Token) {
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
}
