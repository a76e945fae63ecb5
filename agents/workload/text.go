package workload

import (
	"strconv"
	"strings"
	"unicode"
)

// shownBytesMax bounds how much of a bad value an error message repeats.
const shownBytesMax = 60

// shown returns text as an error message shows it: as it is when that is safe in
// a terminal, else quoted; long text is cut.
func shown(text string) string {
	if text == "" {
		return "nothing"
	}
	text = shorten(text)
	if printable(text) && strings.TrimSpace(text) == text {
		return text
	}
	return strconv.Quote(text)
}

// shorten cuts long text.
func shorten(text string) string {
	if len(text) <= shownBytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:shownBytesMax], "") + "…"
}

// printable reports whether text is UTF-8 without control characters and without the
// mark that stands for bytes that were not UTF-8.
func printable(text string) bool {
	for _, r := range text {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
