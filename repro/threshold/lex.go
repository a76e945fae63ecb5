package threshold

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is that of a token.
type kind uint8

const (
	end kind = iota
	word
	digits
	sign // operators and parentheses
	other
)

// token is a piece of an expression.
type token struct {
	kind   kind
	text   string
	at     int  // byte offset
	spaced bool // there is space before it
}

// lexer cuts an expression into tokens. Words are letters, digits, _ and . as in p99.9; numbers are digits with
// a point, and what follows them at once is a token of its own, the unit.
type lexer struct {
	text string
	at   int
}

func (l *lexer) next() token {
	start := l.at
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	t := token{at: l.at, spaced: l.at > start}
	rest := l.text[l.at:]
	switch {
	case rest == "":
		return t
	case isLetter(rest[0]):
		t.kind, t.text = word, rest[:span(rest, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' })]
	case isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]):
		t.kind, t.text = digits, strings.TrimRight(rest[:span(rest, func(c byte) bool { return isDigit(c) || c == '.' || c == '_' || c == ',' })], ",")
	default:
		t.kind, t.text = signOf(rest)
	}
	l.at += len(t.text)
	return t
}

// unit takes the unit that follows a number: letters, % and /. A unit that was written apart is taken too.
func (l *lexer) unit() token {
	t := token{kind: word, at: l.at}
	rest := l.text[l.at:]
	rest = strings.TrimLeft(rest, " \t")
	if skipped := len(l.text) - l.at - len(rest); skipped > 0 {
		t.at, t.spaced = l.at+skipped, true
	}
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !unicode.IsLetter(r) && r != '%' && r != '/' {
			break
		}
		n += size
	}
	t.text = rest[:n]
	if t.spaced && !isUnit(t.text) { // then it is the next word of the expression
		t.text = ""
	}
	if t.text != "" {
		l.at = t.at + n
	}
	return t
}

// isUnit says whether a text is a unit of some quantity.
func isUnit(text string) bool {
	text = strings.TrimSuffix(text, perHour)
	return text == "" || slices.ContainsFunc(units[:], func(u unitName) bool { return u.name == text })
}

// signs are tried in this order.
var signs = [...]string{"&&", "||", "<=", ">=", "==", "!=", "<", ">", "(", ")", "-"}

func signOf(rest string) (kind, string) {
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return sign, s
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return other, rest[:size]
}

func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
