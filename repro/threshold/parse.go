package threshold

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read, against texts that somebody made to break it.
const (
	textBytesMax = 1000
	depthMax     = 20
)

// Parse reads an expression. The error is one line, with the column in characters, what was found, and what is allowed.
func Parse(text string) (*Expr, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, fmt.Errorf(`threshold: found nothing, want an expression such as "p95(call) < 120s"`)
	case len(text) > textBytesMax:
		return nil, fmt.Errorf("threshold: found %d bytes, want at most %d", len(text), textBytesMax)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("threshold: found %+q, want UTF-8", shortened(text))
	}
	p := &parser{lexer: lexer{text: text}}
	p.advance()
	root, err := p.either(0)
	if err == nil && p.tok.kind != end {
		err = p.wantMore(p.tok)
	}
	if err != nil {
		return nil, err
	}
	return &Expr{text: text, root: root}, nil
}

// parser reads an expression from left to right, one token ahead.
type parser struct {
	lexer
	tok   token
	ended int // byte offset behind the latest token
}

func (p *parser) advance() {
	p.ended = p.at
	p.tok = p.next()
}

func (p *parser) take(text string) bool {
	if p.tok.kind != sign || p.tok.text != text {
		return false
	}
	p.advance()
	return true
}

// either reads parts with || between them.
func (p *parser) either(depth int) (node, error) { return p.list(depth, "||", p.both) }

// both reads parts with && between them, which binds closer.
func (p *parser) both(depth int) (node, error) { return p.list(depth, "&&", p.part) }

func (p *parser) list(depth int, between string, item func(depth int) (node, error)) (node, error) {
	first, err := item(depth)
	if err != nil {
		return node{}, err
	}
	if p.tok.kind != sign || p.tok.text != between {
		return first, nil
	}
	out := node{or: between == "||", parts: []node{first}}
	for p.take(between) {
		n, err := item(depth)
		if err != nil {
			return node{}, err
		}
		out.parts = append(out.parts, n)
	}
	return out, nil
}

func (p *parser) part(depth int) (node, error) {
	if p.tok.kind == sign && p.tok.text == "(" {
		opened := p.tok
		if depth == depthMax {
			return node{}, p.errorf(opened, "found more than %d parentheses within each other, want fewer", depthMax)
		}
		p.advance()
		n, err := p.either(depth + 1)
		if err != nil {
			return node{}, err
		}
		if !p.take(")") {
			if p.tok.kind == end {
				return node{}, p.errorf(p.tok, `found the end, want ")" for the "(" in column %d`, p.column(opened.at))
			}
			return node{}, p.wantMore(p.tok)
		}
		return n, nil
	}
	t, err := p.term()
	if err != nil {
		return node{}, err
	}
	return node{term: t}, nil
}

func (p *parser) term() (*term, error) {
	start := p.tok
	t := &term{}
	if err := p.quantity(t); err != nil {
		return nil, err
	}
	if err := t.settle(); err != nil {
		return nil, p.errorf(start, "%s", err)
	}
	if err := p.operator(t); err != nil {
		return nil, err
	}
	if err := p.limit(t); err != nil {
		return nil, err
	}
	t.text = p.text[start.at:p.ended]
	return t, nil
}

// operators are shown as they are written.
const operators = "< <= > >= == !="

func (p *parser) operator(t *term) error {
	for _, op := range strings.Fields(operators) {
		if p.take(op) {
			t.op = op
			return nil
		}
	}
	hint := ""
	switch p.tok.text {
	case "=":
		hint = "; for equal write =="
	case "≤", "≥", "≠":
		hint = "; write " + map[string]string{"≤": "<=", "≥": ">=", "≠": "!="}[p.tok.text]
	}
	return p.errorf(p.tok, "found %s after %s, want one of %s%s", p.tok.show(), t.quantity(), operators, hint)
}

// wantMore is the error of something that follows a term, or a group.
func (p *parser) wantMore(found token) error {
	hint := ""
	switch strings.ToLower(found.text) {
	case "and", "&", ",", ";":
		hint = `; for "and" write &&`
	case "or", "|":
		hint = `; for "or" write ||`
	case ")":
		hint = `; there is no "(" that it closes`
	}
	return p.errorf(found, "found %s, want && or || and another term, or the end%s", found.show(), hint)
}

func (p *parser) errorf(at token, format string, args ...any) error {
	return fmt.Errorf("threshold %q: column %d: %s", shortened(p.text), p.column(at.at), fmt.Sprintf(format, args...))
}

func (p *parser) column(at int) int { return utf8.RuneCountInString(p.text[:at]) + 1 }

func (t token) show() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", shortened(t.text))
}

// shortened cuts a text that would make the line of an error too long.
func shortened(text string) string {
	const runesMax = 120
	runes := 0
	for i := range text {
		if runes == runesMax {
			return text[:i] + "…"
		}
		runes++
	}
	return text
}
