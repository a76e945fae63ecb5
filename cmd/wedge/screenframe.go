package main

import (
	"fmt"
	"strings"
	"unicode"

	"example.com/wedge/repro/live"
)

// piece is a part of a line, painted with a code of ANSI's; "": not at all.
type piece struct{ text, code string }

// spans is a line of the screen.
type spans []piece

// Codes of the paints.
const (
	inBold   = "1"
	inDim    = "2"
	inRed    = "1;31"
	inGreen  = "1;32"
	inYellow = "1;33"
)

// frame is what the screen shows of a run, line by line: at most as many lines as it is high, none wider than it is.
func frame(s *live.Snapshot, h live.History, url, said string, width, height int, st style) []string {
	f := &framer{s: s, h: h, width: width}
	blocks := []block{
		{0, f.head()}, {0, f.status()}, {3, f.why()}, {1, f.work()}, {1, f.stages()}, {2, f.pacer()},
		{2, f.oldest()}, {5, f.gauges()}, {4, f.facts()}, {6, f.foot(url)}, {1, f.said(said)},
	}
	out := make([]string, 0, height)
	for _, line := range fit(blocks, height) {
		out = append(out, line.render(width, st)+clearFrom(line, width))
	}
	return out
}

// block is lines that belong together. Of a low screen those of the highest rank are left out first, the last of them
// before the others.
type block struct {
	rank  int
	lines []spans
}

// fit leaves out what there is no room for: lines by the rank of their block, then those at the end.
func fit(blocks []block, height int) []spans {
	n, worst := 0, 0
	for _, b := range blocks {
		n += len(b.lines)
		worst = max(worst, b.rank)
	}
	for ; n > height && worst > 1; worst-- {
		for i := range blocks {
			b := &blocks[i]
			if over := min(n-height, len(b.lines)); b.rank == worst && over > 0 {
				b.lines = b.lines[:len(b.lines)-over]
				n -= over
			}
		}
	}
	var out []spans
	for _, b := range blocks {
		out = append(out, b.lines...)
	}
	return out[:min(len(out), height)]
}

// render writes a line that is no wider than the screen.
func (l spans) render(width int, st style) string {
	var b strings.Builder
	for _, s := range l {
		whole := strings.ToValidUTF8(s.text, "�")
		text, used := clip(whole, width)
		width -= used
		if s.code == "" || strings.TrimSpace(text) == "" {
			b.WriteString(text)
		} else {
			b.WriteString(st.paint(s.code, text))
		}
		if len(text) < len(whole) {
			break
		}
	}
	return b.String()
}

// clearFrom clears the rest of a line. At the end of a full one it would take the last character away.
func clearFrom(l spans, width int) string {
	for _, s := range l {
		width -= textColumns(strings.ToValidUTF8(s.text, "�"))
	}
	if width <= 0 {
		return ""
	}
	return clearToTheEnd
}

// clip cuts a text to so many columns, and returns how many it takes.
func clip(text string, width int) (string, int) {
	used := 0
	for i, r := range text {
		n := columnsOf(r)
		if used+n > width {
			return text[:i], used
		}
		used += n
	}
	return text, used
}

// columnsOf is how many columns of a terminal a character takes.
func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300 && r <= 0x1faff, r >= 0xff01 && r <= 0xff60:
		return 2
	}
	return 1
}

// textColumns is how many columns a text takes.
func textColumns(text string) int {
	_, n := clip(text, len(text)*2)
	return n
}

// bothEnds makes a line with something at each end, the left one cut if there is no room.
func bothEnds(width int, left, right piece) spans {
	room := max(0, width-textColumns(right.text)-1)
	text, used := clip(left.text, room)
	return spans{{text, left.code}, {strings.Repeat(" ", max(1, width-used-textColumns(right.text))), ""}, right}
}

// wideBar is a bar of so many of most, in a room of columns.
func wideBar(n, most, columns int) string {
	if n == 0 || most == 0 || columns < 1 {
		return ""
	}
	return strings.Repeat("█", min(columns, max(1, (n*columns+most/2)/most)))
}

// short writes a number with few digits.
func short(x float64) string {
	switch {
	case x < 0:
		return "-" + short(-x)
	case x >= 1e15:
		return fmt.Sprintf("%.3g", x)
	case x >= 100 || x == float64(int64(x)):
		return thousands(int(x + 0.5))
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
