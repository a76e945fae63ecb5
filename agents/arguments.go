package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// arguments are those that the tools know. A nil pointer is an argument that was not given.
type arguments struct {
	Message *int    `json:"message"`
	Text    *string `json:"text"`
	Path    *string `json:"path"`
}

// parseArguments reads the arguments of a tool call. Models leave out empty ones, so "" is {}. The
// error is meant for the model.
func parseArguments(text string) (arguments, error) {
	if args, ok := parsePlain(text); ok {
		return args, nil
	}
	if strings.TrimSpace(text) == "" {
		return arguments{}, nil
	}
	var args arguments
	err := json.Unmarshal([]byte(text), &args)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return arguments{}, fmt.Errorf("argument %s: found %s, want %s", wrong.Field, wrong.Value, wanted(wrong.Field))
	case errors.As(err, &wrong):
		return arguments{}, fmt.Errorf("arguments: found %s, want a JSON object", wrong.Value)
	case err != nil:
		return arguments{}, fmt.Errorf("arguments: not valid JSON (%w)", err)
	}
	return args, nil
}

func wanted(argument string) string {
	if argument == "message" {
		return "a whole number"
	}
	return "a string"
}

// parsePlain reads arguments in their plain form: known names, strings without escapes or
// characters beyond ASCII, small numbers, no white space but a blank after a colon or comma. It
// answers as encoding/json would or not at all. Nearly all arguments that the simulated model makes are
// plain and kilobytes long, and this is some twenty times faster and allocates next to nothing.
func parsePlain(text string) (args arguments, ok bool) {
	rest, ok := strings.CutPrefix(text, "{")
	if !ok {
		return args, false
	}
	if rest == "}" {
		return args, true
	}
	for {
		if rest, ok = args.plainPair(rest); !ok || rest == "" {
			return args, false
		}
		end := rest[0]
		rest = rest[1:]
		if end == '}' {
			return args, rest == ""
		}
		if end != ',' {
			return args, false
		}
		rest = strings.TrimPrefix(rest, " ")
	}
}

// plainPair reads one argument and returns what follows it.
func (args *arguments) plainPair(text string) (rest string, ok bool) {
	name, rest, ok := plainString(text)
	if !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(rest, ":"); !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, " ")
	switch name {
	case "message":
		n, rest, ok := plainNumber(rest)
		args.Message = &n
		return rest, ok
	case "text":
		value, rest, ok := plainString(rest)
		args.Text = &value
		return rest, ok
	case "path":
		value, rest, ok := plainString(rest)
		args.Path = &value
		return rest, ok
	}
	return "", false
}

func plainString(text string) (value, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, `"`)
	if !ok {
		return "", "", false
	}
	value, rest, ok = strings.Cut(text, `"`)
	if !ok || strings.IndexByte(value, '\\') >= 0 || !printable(value) {
		return "", "", false
	}
	return value, rest, true
}

// plainNumber reads a number of up to nine digits.
func plainNumber(text string) (n int, rest string, ok bool) {
	i := 0
	for i < len(text) && i < 10 && '0' <= text[i] && text[i] <= '9' {
		n = 10*n + int(text[i]-'0')
		i++
	}
	if i == 0 || i == 10 || i > 1 && text[0] == '0' {
		return 0, "", false
	}
	return n, text[i:], true
}

// printable says whether all of text is printable ASCII or DEL. It looks at 32 bytes at a time.
func printable(text string) bool {
	i := 0
	for ; i+32 <= len(text); i += 32 {
		t := text[i : i+32]
		if unprintable(word(t, 0))|unprintable(word(t, 8))|unprintable(word(t, 16))|unprintable(word(t, 24)) != 0 {
			return false
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c >= 0x80 {
			return false
		}
	}
	return true
}

// word returns the eight bytes of t from i on.
func word(t string, i int) uint64 {
	t = t[i : i+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// unprintable returns 0 if and only if eight bytes are all from 0x20 to 0x7f: a byte below 0x80 is less
// than 0x20 if and only if subtracting that borrows into its high bit. The borrow may reach the byte
// above, but only from a byte that counts itself.
func unprintable(x uint64) uint64 {
	const (
		blanks = 0x2020202020202020
		highs  = 0x8080808080808080
	)
	return ((x - blanks) | x) & highs
}
