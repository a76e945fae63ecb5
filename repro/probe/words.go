package probe

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// secondsText writes seconds with their unit.
func secondsText(s float64) string {
	if s < 0.1 {
		return strconv.FormatFloat(math.Round(s*1000), 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(s, 'f', 1, 64) + " s"
}

func span(d time.Duration) string { return secondsText(d.Seconds()) }

// round keeps milliseconds.
func round(s float64) float64 { return math.Round(s*1000) / 1000 }

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// verb picks the verb's form for n subjects.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// list joins words with commas and a last "and".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
