package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textRunesMax bounds a text of the bundle that stands in a sentence or a cell.
const textRunesMax = 2000

// clean makes a text of the bundle one line of bounded length, and shows what is no character, or would turn the
// direction of others, as what it is.
func clean(s string) string {
	s = strings.Join(strings.Fields(strings.Map(printable, s)), " ")
	if utf8.RuneCountInString(s) <= textRunesMax {
		return s
	}
	return string([]rune(s)[:textRunesMax]) + "…"
}

// printable keeps a rune, or replaces one that cannot be shown.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.C, r), r == utf8.RuneError:
		return '\uFFFD'
	}
	return r
}

// cleanAll cleans each text of a list.
func cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = clean(t)
	}
	return out
}

// stageWords is the name of a stage as people read it.
func stageWords(name string) string { return strings.ReplaceAll(clean(name), "_", " ") }

// thousands writes a count with its digits in threes.
func thousands[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return sign + s
}

// span writes a length of time, in seconds, in the unit that suits it.
func span(s float64) string {
	switch {
	case !finite(s):
		return "–"
	case s < 0:
		return "−" + span(-s)
	case s == 0:
		return "0 s"
	case s < 0.9995:
		return number(s*1000) + " ms"
	case s < 120:
		return number(s) + " s"
	}
	whole := int64(math.Round(s))
	day, hour, minute := whole/86400, whole/3600, whole/60
	switch {
	case s < 2*3600:
		return pair(minute, "min", whole%60, "s")
	case s < 48*3600:
		return pair(hour, "h", minute%60, "min")
	}
	return pair(day, "d", hour%24, "h")
}

func pair(a int64, unitA string, b int64, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%s %s", thousands(a), unitA)
	}
	return fmt.Sprintf("%s %s %d %s", thousands(a), unitA, b, unitB)
}

// number writes a value with three digits that count, and large ones in threes.
func number(v float64) string {
	switch a := math.Abs(v); {
	case !finite(v):
		return "–"
	case a >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 1000 || v == math.Trunc(v):
		return thousands(int64(math.Round(v)))
	case a >= 100:
		return trimZeros(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 10:
		return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	case a >= 1:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	case a >= 1e-4:
		return trimZeros(strconv.FormatFloat(v, 'f', 3-int(math.Floor(math.Log10(a)))-1, 64))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// share writes a part of 1 in percent, as finely as anybody reads it.
func share(v float64) string {
	switch v *= 100; {
	case v > 0 && v < 0.1:
		return "< 0.1 %"
	case finite(v):
		v = math.Round(v*10) / 10
	}
	return number(v) + " %"
}

// bytesWords writes a number of bytes.
func bytesWords(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return number(float64(n)/float64(u.size)) + " " + u.name
		}
	}
	return thousands(n) + " B"
}

// plural writes a count of things.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + more
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
