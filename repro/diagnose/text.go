package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// secs writes a duration in seconds, and one that is too short for that in milliseconds.
func secs(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Millisecond:
		return "under 1 ms"
	case d < 100*time.Millisecond:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// ago writes how long something is past.
func ago(d time.Duration) string {
	if d < time.Millisecond {
		return "just now"
	}
	return secs(d) + " ago"
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

// ofAll writes how many of a set, such as "16 of 30 calls", "all 30 calls", "both calls" or "the only call".
func ofAll(n, total int, noun string) string {
	switch {
	case n == 0 && total > 1:
		return "none of " + count(total, noun)
	case n != total:
		return fmt.Sprintf("%d of %s", n, count(total, noun))
	case n == 1:
		return "the only " + noun
	case n == 2:
		return strings.Replace(count(2, noun), "2", "both", 1)
	}
	return "all " + count(n, noun)
}

// areOfAll is ofAll with the verb for it, such as "none of 30 slots is" or "the only slot is".
func areOfAll(n, total int, noun string) string {
	return ofAll(n, total, noun) + " " + verb(max(n, 1), "is", "are")
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

// times writes how often something happened.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}
