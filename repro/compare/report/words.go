package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text in CSS pixels.
const (
	sizeTitle = 14
	sizeText  = 12
	sizeSmall = 11
	leading   = 1.3 // line height over size
)

// nameRunesMax bounds what is kept of any text that goes into a picture.
const nameRunesMax = 400

// clean makes a text of unknown origin fit for a picture: one line, no control or direction characters, bounded.
func clean(s string) string {
	runes := []rune(plain(s))
	if len(runes) > nameRunesMax {
		return shorten(runes, nameRunesMax)
	}
	return string(runes)
}

// plain makes a text one line, and shows what is no character, or would turn the direction of others, as what it is.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r), r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, s)), " ")
}

// style is a text style; bold for titles.
func style(size vg.Length, k ink, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = 3 // WeightBold of golang.org/x/image/font, which gonum counts weights in
	}
	return text.Style{Color: k, Font: f, XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: plot.DefaultTextHandler}
}

// widthOf is how wide s becomes. The font has letters of Europe only: what it lacks the reader's browser takes from another,
// where it is up to as wide as high.
func widthOf(sty text.Style, s string) vg.Length {
	w := sty.Width(s)
	for _, r := range s {
		if r >= firstForeign && !(r >= '\u2000' && r < '\u2300') {
			w += sty.Font.Size * 0.4
		}
	}
	return w
}

// firstForeign is the first letter after Latin, Greek and Cyrillic.
const firstForeign = '\u0530'

// fit shortens s in its middle until it is no wider than max: names of variants differ at their ends.
func fit(s string, sty text.Style, max vg.Length) string {
	s = clean(s)
	if widthOf(sty, s) <= max {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes) // most runes that may be kept
	for low < high {
		keep := (low + high + 1) / 2
		if widthOf(sty, shorten(runes, keep)) <= max {
			low = keep
		} else {
			high = keep - 1
		}
	}
	return shorten(runes, low)
}

// shorten keeps so many runes of both ends.
func shorten(runes []rune, keep int) string {
	head := (keep*2 + 2) / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
}

// wrap breaks s into at most so many lines; the last is shortened if need be.
func wrap(s string, sty text.Style, max vg.Length, lines int) []string {
	var out []string
	words := strings.Fields(clean(s))
	for len(words) > 0 {
		if len(out) == lines-1 {
			return append(out, fit(strings.Join(words, " "), sty, max))
		}
		n := 1
		for n < len(words) && widthOf(sty, strings.Join(words[:n+1], " ")) <= max {
			n++
		}
		out = append(out, fit(strings.Join(words[:n], " "), sty, max))
		words = words[n:]
	}
	return out
}

// finite says whether v can be drawn at all.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// thousands writes a count with a comma between thousands.
func thousands(n int) string {
	s := strconv.Itoa(n)
	from := 3
	if n < 0 {
		from = 4
	}
	for i := len(s) - 3; i >= from-2 && i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// named puts n behind a name.
func named(name string, n int) string {
	if n <= 0 {
		return name
	}
	return name + " (n = " + thousands(n) + ")"
}

// number writes v with three significant digits and its unit: "0.31", "12.4 min", "31 %".
func number(v float64, unit string) string {
	words, unit := together(unit, v)
	return words[0] + unit
}

// together writes numbers that belong together in the one unit that suits the largest, and gives that unit apart, with the
// space before it.
func together(unit string, values ...float64) (words []string, written string) {
	largest := 0.0
	for _, v := range values {
		if finite(v) {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	per, written := 1.0, clean(unit)
	switch {
	case unit == "%":
		per = 0.01
	case unit != "s":
	case largest >= 2*hour:
		per, written = hour, "h"
	case largest >= 2*minute:
		per, written = minute, "min"
	case largest > 0 && largest < 1:
		per, written = 1e-3, "ms"
	}
	for _, v := range values {
		words = append(words, digits(v/per))
	}
	if written != "" {
		written = " " + written
	}
	return words, written
}

// digits writes three significant digits without an exponent where that is readable.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	case v == 0:
		return "0"
	case a >= 1e7 || a < 1e-3:
		return minus(fmt.Sprintf("%.2g", v))
	case a >= 100:
		s := thousands(int(math.Round(v)))
		return minus(s)
	}
	places := 2 - int(math.Floor(math.Log10(a)))
	s := strconv.FormatFloat(v, 'f', places, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	return minus(s)
}

// minus sets the sign that is as wide as a digit.
func minus(s string) string {
	if strings.HasPrefix(s, "-") {
		return "−" + s[1:]
	}
	return s
}
