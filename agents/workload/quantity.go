package workload

import (
	"fmt"
	"strings"
	"time"
)

// Limits of a single value, whether written by a person, read from a trace or
// sampled. They are far above anything real, and low enough that no sum or
// product of a few of them overflows.
const (
	// DurationLimit is the longest length of time that is accepted and sampled.
	DurationLimit = 1000 * time.Hour
	// TokensLimit is the largest number of tokens that is accepted and sampled.
	TokensLimit = 1_000_000_000
)

// Quantity is what a distribution yields: a length of time, or a number of
// tokens. Both are counted in whole units (nanoseconds, tokens).
type Quantity interface{ time.Duration | int }

// limit returns the largest value of the quantity T.
func limit[T Quantity]() T {
	var zero T
	if _, ok := any(zero).(time.Duration); ok {
		return T(DurationLimit)
	}
	return T(TokensLimit)
}

// format returns v as people write it: "1m30s", "3500".
func format[T Quantity](v T) string {
	d, ok := any(v).(time.Duration)
	if !ok {
		return fmt.Sprint(v)
	}
	text := d.String()
	// 10m0s and 2h0m0s are what String says for 10m and 2h.
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// wanted says what a value of the quantity T may be, for error messages.
func wanted[T Quantity]() string {
	var zero T
	if _, ok := any(zero).(time.Duration); ok {
		return "a duration with a unit (300ms, 2s, 5m) from 0s to " + format(DurationLimit)
	}
	return fmt.Sprintf("a whole number of tokens from 0 to %d", TokensLimit)
}
