package harness

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// jsonLine is a line of JSON that is put together by hand: encoding/json takes several times longer
// and allocates. Keys and values that are written as they are must be plain; text from outside goes
// through str.
type jsonLine []byte

// str appends ,"key":"value". The key is given with its quotes and colon.
func (b jsonLine) str(key, value string) jsonLine {
	return appendQuoted(append(append(b, ','), key...), value)
}

// num appends ,"key":n.
func (b jsonLine) num(key string, n int) jsonLine {
	b = append(append(b, ','), key...)
	if n >= 0 && n < 10 { // most are
		return append(b, byte('0'+n))
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// flag appends ,"key":true or ,"key":false.
func (b jsonLine) flag(key string, v bool) jsonLine {
	return strconv.AppendBool(append(append(b, ','), key...), v)
}

// length appends ,"key":seconds.
func (b jsonLine) length(key string, d time.Duration) jsonLine {
	return appendSeconds(append(append(b, ','), key...), int64(d))
}

// appendSeconds appends a number of nanoseconds as seconds with nine decimals.
func appendSeconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = append(strconv.AppendInt(b, ns/1e9, 10), ".000000000"...)
	// 32 bits are enough for nine digits, and divide faster.
	for i, rest := len(b)-1, uint32(ns%1e9); rest > 0; i-- {
		b[i] = byte('0' + rest%10)
		rest /= 10
	}
	return b
}

// appendNumber appends a finite number: as a whole one where it is, since most gauges are counts.
func appendNumber(b []byte, v float64) []byte {
	const exact = 1 << 53
	if v == math.Trunc(v) && math.Abs(v) < exact {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendQuoted appends text as a string of JSON. Invalid UTF-8 becomes the replacement character.
// Control characters are escaped, also those above ASCII, and so are <, > and &, so that a line does
// no harm in a terminal or a page.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	plain := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !special[c] {
			i++
			continue
		}
		b = append(b, s[plain:i]...)
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		b = appendRune(b, r)
		i += size
		plain = i
	}
	return append(append(b, s[plain:]...), '"')
}

func appendRune(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, '\\', 'n')
	case r < utf8.RuneSelf, r < 0xa0, r == '\u2028', r == '\u2029':
		return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(b, r)
}

// special has the bytes that are not copied as they are: the characters that are escaped, and all that
// are not ASCII.
var special = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&'
	}
	return t
}()
