package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseTokens reads a whole number of tokens.
func (t *traceReader) parseTokens(field, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > TokensLimit {
		return 0, t.refuse(field, shown(text), wanted[int]())
	}
	return int(n), nil
}

// parseMillis reads a decimal number of milliseconds and rounds it to nanoseconds.
func (t *traceReader) parseMillis(field, text string) (time.Duration, error) {
	ms, err := strconv.ParseFloat(text, 64)
	// ParseFloat also knows NaN, Inf and hexadecimal, none of which the formats have.
	decimal := strings.Trim(text, "0123456789.eE+-") == ""
	if err != nil || !decimal || ms < 0 || ms > float64(DurationLimit/time.Millisecond) {
		return 0, t.refuse(field, shown(text), fmt.Sprintf("a number of milliseconds from 0 to %d", DurationLimit/time.Millisecond))
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond))), nil
}

// millis formats a duration as the trace formats have it.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

func (t *traceReader) checkSessionID(id string) error {
	if id == "" || len(id) > SessionIDBytesLimit || !printable(id) || strings.TrimSpace(id) != id {
		return t.refuse("session_id", shown(id), fmt.Sprintf("1 to %d bytes of printable text without space around it", SessionIDBytesLimit))
	}
	return nil
}

// eachField calls do with the key and the raw value of each field of a JSON object,
// in order. Unlike encoding/json it shows repeated keys and the text of values.
func (t *traceReader) eachField(line []byte, do func(key, value string) error) error {
	if err := t.checkObject(line); err != nil {
		return err
	}
	// From here on the line is a well-formed object, so the scan needs no checks.
	rest := bytes.TrimSpace(line[1:])
	for rest[0] != '}' {
		key, after := cutValue(rest)
		value, next := cutValue(after)
		name, _ := jsonText(string(key))
		if err := do(name, string(value)); err != nil {
			return err
		}
		rest = next
	}
	return nil
}

// checkObject refuses what is not a JSON object.
func (t *traceReader) checkObject(line []byte) error {
	const want = "a JSON object"
	if line[0] != '{' {
		return t.refuse("line", shown(string(line)), want)
	}
	if json.Valid(line) {
		return nil
	}
	var fields struct{}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(line, &fields); errors.As(err, &syntax) {
		return t.refuse(fmt.Sprintf("column %d", syntax.Offset), syntax.Error(), want)
	}
	return t.refuse("line", shown(string(line)), want)
}

// cutValue splits well-formed JSON behind its first value and the comma or colon that
// follows it; white space is dropped.
func cutValue(text []byte) (value, rest []byte) {
	depth, end := 0, 0
	for inString := false; ; end++ {
		switch c := text[end]; {
		case inString && c == '\\':
			end++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ']' || c == '}'):
			depth--
		case depth == 0 && (c == ',' || c == ':'):
			return bytes.TrimSpace(text[:end]), bytes.TrimSpace(text[end+1:])
		case depth == 0 && c == '}':
			return bytes.TrimSpace(text[:end]), text[end:]
		}
	}
}

// jsonText returns the text of a JSON string.
func jsonText(value string) (string, bool) {
	if !strings.HasPrefix(value, `"`) {
		return "", false
	}
	var text string
	err := json.Unmarshal([]byte(value), &text)
	return text, err == nil
}
