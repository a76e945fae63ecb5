package api

import (
	"encoding/json"
	"strconv"
)

// scan reads JSON from left to right, without reflection. It is made for requests as clients send them.
// What it does not know, and all that is wrong, sets odd, and then nothing that has been read counts:
// encoding/json has the last word. It takes the text for UTF-8.
type scan struct {
	text []byte
	at   int
	odd  bool
}

// nestingMax bounds how deep values may be nested; what is deeper is odd.
const nestingMax = 64

func (s *scan) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// next passes space over and returns the byte that follows, or 0 at the end.
func (s *scan) next() byte {
	s.space()
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// take passes a byte over, which must be the next one.
func (s *scan) take(c byte) bool {
	if s.odd || s.next() != c {
		s.odd = true
		return false
	}
	s.at++
	return true
}

// word passes a literal over, if it is the next one.
func (s *scan) word(w string) bool {
	if s.odd || s.next() == 0 || len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// object calls field for each key of an object, which must take the value. A null has none.
func (s *scan) object(field func(key []byte)) {
	if s.word("null") || !s.take('{') {
		return
	}
	if s.next() == '}' {
		s.at++
		return
	}
	for !s.odd {
		key := s.raw()
		if !s.take(':') {
			return
		}
		field(key)
		if s.next() == '}' {
			s.at++
			return
		}
		s.take(',')
	}
}

// array calls element for each element of an array, which must take it. A null has none.
func (s *scan) array(element func()) {
	if s.word("null") || !s.take('[') {
		return
	}
	if s.next() == ']' {
		s.at++
		return
	}
	for !s.odd {
		element()
		if s.next() == ']' {
			s.at++
			return
		}
		s.take(',')
	}
}

// raw takes a string without escapes and returns what is between the quotes.
func (s *scan) raw() []byte {
	inside, escaped := s.inside()
	s.odd = s.odd || escaped
	return inside
}

// inside takes a string and returns what is between the quotes.
func (s *scan) inside() (text []byte, escaped bool) {
	if !s.take('"') {
		return nil, false
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			text = s.text[s.at:i]
			s.at = i + 1
			return text, escaped
		case c == '\\':
			escaped = true
			i++ // whatever it is: str looks at it
		case c < ' ':
			s.odd = true
			return nil, false
		}
	}
	s.odd = true
	return nil, false
}

// str takes a string, or a null for an empty one.
func (s *scan) str() string {
	if s.word("null") {
		return ""
	}
	text, escaped := s.inside()
	if !escaped {
		return string(text)
	}
	return s.unescape(text)
}

// unescape replaces the escapes in a string. Those with code points are left to encoding/json.
func (s *scan) unescape(text []byte) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++ // there is one: inside has seen it
		switch text[i] {
		case '"', '\\', '/':
			out = append(out, text[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		default:
			return s.unescapeAll(text)
		}
	}
	return string(out)
}

func (s *scan) unescapeAll(text []byte) string {
	quoted := make([]byte, 0, len(text)+2)
	quoted = append(append(append(quoted, '"'), text...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		s.odd = true
	}
	return out
}

// boolean takes true, false, or a null for false.
func (s *scan) boolean() bool {
	switch {
	case s.word("true"):
		return true
	case !s.word("false") && !s.word("null"):
		s.odd = true
	}
	return false
}

// number takes the text of a number.
func (s *scan) number() []byte {
	s.space()
	begun := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.at++
			continue
		}
		break
	}
	text := s.text[begun:s.at]
	if !json.Valid(text) {
		s.odd = true
	}
	return text
}

// integer takes a whole number, or a null for nil.
func (s *scan) integer() *int {
	if s.word("null") {
		return nil
	}
	n, err := strconv.Atoi(string(s.number()))
	if err != nil {
		s.odd = true
		return nil
	}
	return &n
}

// float takes a number, or a null for nil.
func (s *scan) float() *float64 {
	if s.word("null") {
		return nil
	}
	f, err := strconv.ParseFloat(string(s.number()), 64)
	if err != nil {
		s.odd = true
		return nil
	}
	return &f
}

// skip takes any value and returns its text.
func (s *scan) skip() []byte {
	s.space()
	begun := s.at
	s.value(0)
	if s.odd {
		return nil
	}
	return s.text[begun:s.at]
}

func (s *scan) value(nesting int) {
	if nesting > nestingMax {
		s.odd = true
		return
	}
	switch c := s.next(); {
	case c == '{':
		s.object(func([]byte) { s.value(nesting + 1) })
	case c == '[':
		s.array(func() { s.value(nesting + 1) })
	case c == '"':
		if text, escaped := s.inside(); escaped {
			s.unescape(text)
		}
	case c == 't', c == 'f', c == 'n':
		s.boolean()
	default:
		s.number()
	}
}
