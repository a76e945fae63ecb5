package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// secs writes a duration in seconds, the only unit of time in verdicts.
func secs(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// num writes a reading without a needless fraction.
func num(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return strconv.Itoa(n) + " " + stem + "ies"
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

// does writes a number with its noun and verb, such as "1 call waits" or "2 calls wait".
func does(n int, noun, one, many string) string { return count(n, noun) + " " + verb(n, one, many) }

// ofAll writes how many of a set, such as "16 of 30 calls", "all 30 calls" or "the only call".
func ofAll(n, total int, noun string) string {
	switch {
	case n != total:
		return fmt.Sprintf("%d of %s", n, count(total, noun))
	case n == 1:
		return "the only " + noun
	}
	return "all " + count(n, noun)
}

// list joins words with commas and a last "and".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// few joins at most idsShown names and counts the rest.
func few(names []string) string {
	if len(names) <= idsShown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:idsShown], ", ") + fmt.Sprintf(" and %d more", len(names)-idsShown)
}

// upper starts a sentence.
func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
