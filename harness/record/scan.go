package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner reads the tokens of a line.
type scanner struct {
	rest  []byte
	room  *[]byte // for texts that are not in the line as they are
	depth int     // of objects
}

// object reads an object up to the end of the line, or of the object around it. value reads a field's value,
// or says what is wanted instead.
func (s *scanner) object(value func(name []byte) (ok bool, want string)) *fieldError {
	inner := s.depth > 0
	s.depth++
	defer func() { s.depth-- }()
	if !s.take('{') {
		return &fieldError{msg: fmt.Sprintf("found %s, want an object of JSON", excerpt(s.rest))}
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return &fieldError{msg: fmt.Sprintf("found %s, want a comma or the end of the object", excerpt(s.rest))}
		}
		name, ok := s.quoted()
		if !ok || !s.take(':') {
			return &fieldError{msg: fmt.Sprintf("found %s, want a field's name and a colon", excerpt(s.rest))}
		}
		if ok, want := value(name); !ok {
			return &fieldError{plainName(name), fmt.Sprintf("found %s, want %s", excerpt(s.rest), want)}
		}
	}
	if s.skip(); !inner && len(s.rest) > 0 {
		return &fieldError{msg: fmt.Sprintf("found %s after the object, want the end of the line", excerpt(s.rest))}
	}
	return nil
}

// plainName returns the name of a field as a message has it.
func plainName(name []byte) string {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return excerpt(name)
		}
	}
	return string(name)
}

func (s *scanner) skip() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r' || s.rest[0] == '\n') {
		s.rest = s.rest[1:]
	}
}

// take reads one character, if that is the next one.
func (s *scanner) take(c byte) bool {
	s.skip()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) word(w string) bool {
	s.skip()
	if len(s.rest) < len(w) || string(s.rest[:len(w)]) != w {
		return false
	}
	s.rest = s.rest[len(w):]
	return true
}

// number reads a number with at most so many decimals, and returns it times ten to their power.
func (s *scanner) number(decimals int) (v int64, ok bool) {
	s.skip()
	b, i, negative := s.rest, 0, false
	if i < len(b) && b[i] == '-' {
		negative = true
		i++
	}
	start := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if v = v*10 + int64(b[i]-'0'); v > numberMax {
			return 0, false
		}
	}
	if i == start || b[start] == '0' && i > start+1 {
		return 0, false
	}
	if i < len(b) && b[i] == '.' && decimals > 0 {
		i++
		point := i
		for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			if decimals--; decimals < 0 {
				return 0, false
			}
			v = v*10 + int64(b[i]-'0')
		}
		if i == point {
			return 0, false
		}
	}
	if i < len(b) && (b[i] == '.' || b[i] == 'e' || b[i] == 'E') {
		return 0, false
	}
	for range decimals {
		v *= 10
	}
	if negative {
		v = -v
	}
	s.rest = b[i:]
	return v, true
}

// numberMax bounds whole numbers, so that one of seconds fits into nanoseconds: 285 years.
const numberMax = 9_000_000_000

// quoted reads a text.
func (s *scanner) quoted() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			t := s.rest[:i]
			s.rest = s.rest[i+1:]
			return t, true
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escaped reads a text whose first escape is at plain.
func (s *scanner) escaped(plain int) ([]byte, bool) {
	start := len(*s.room)
	out := append(*s.room, s.rest[:plain]...)
	b := s.rest[plain:]
	for len(b) > 0 {
		switch c := b[0]; {
		case c == '"':
			*s.room, s.rest = out, b[1:]
			return out[start:], true
		case c == '\\':
			r, n := unescape(b)
			if n == 0 {
				return nil, false
			}
			out, b = utf8.AppendRune(out, r), b[n:]
		case c < ' ':
			return nil, false
		default:
			out, b = append(out, c), b[1:]
		}
	}
	return nil, false
}

// unescape reads one escape and returns its length, 0 if it is none. Halves of surrogate pairs become
// the replacement character: journals write whole characters.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	if b[1] != 'u' || len(b) < 6 {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(v), 6
}
