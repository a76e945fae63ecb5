package waitgraph

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// title is what a card says first.
func (n *Node) title() string {
	if n.count() > 1 {
		return fmt.Sprintf("%s × %s", grouped(n.count()), n.name())
	}
	return n.name()
}

// words are what is written beside an edge.
func (e *Edge) words(many bool) string {
	var parts []string
	if e.What != "" {
		parts = append(parts, e.What)
	}
	if e.For > 0 {
		s := span(e.For)
		if many {
			s = "up to " + s
		}
		parts = append(parts, s)
	}
	if e.Confidence < 1 {
		parts = append(parts, fmt.Sprintf("inferred, %.0f %%", e.Confidence*100))
	}
	return strings.Join(parts, ", ")
}

// span writes a length of time with two figures or so.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 10*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 10*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// grouped writes a count with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// clean makes one line of the text, without control characters and what could turn the direction of
// writing around.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
			return '\ufffd'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// wrap breaks the text into at most lines lines of about width letters, at blanks and behind
// punctuation where there are any, and ends with "…" if something is left.
func wrap(s string, width, lines int) []string {
	rest := []rune(clean(s))
	var out []string
	for len(rest) > 0 {
		end := fit(rest, width)
		if end == len(rest) {
			return append(out, string(rest))
		}
		if len(out) == lines-1 {
			return append(out, string(rest[:max(1, end-1)])+"…")
		}
		cut := end
		for i := end; i > end/2; i-- {
			if rest[i] == ' ' || strings.ContainsRune("/.,:)-_", rest[i-1]) {
				cut = i
				break
			}
		}
		out = append(out, strings.TrimSpace(string(rest[:cut])))
		rest = []rune(strings.TrimSpace(string(rest[cut:])))
	}
	return out
}

// fit returns how many runes of the text are no wider than width letters.
func fit(text []rune, width int) int {
	for i, r := range text {
		width--
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80) { // wide: East Asian, and pictures
			width--
		}
		if width < 0 {
			return i
		}
	}
	return len(text)
}
