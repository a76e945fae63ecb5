package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"example.com/wedge/repro/diagnose"
)

// style writes for a terminal, or plainly for a file or pipe. The zero value is plain.
type style struct {
	color bool
	width int // columns; 0 means 100
}

// styleOf looks at where the output goes. NO_COLOR (https://no-color.org) and TERM=dumb turn colour
// off.
func styleOf(w io.Writer) style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return style{}
	}
	s := style{color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.width = width
	}
	return s
}

func (s style) columns() int {
	if s.width == 0 {
		return 100
	}
	return min(max(s.width, 40), 120)
}

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) red(t string) string    { return s.paint("1;31", t) }
func (s style) green(t string) string  { return s.paint("1;32", t) }
func (s style) yellow(t string) string { return s.paint("1;33", t) }

// outcome writes an outcome in capitals, painted by how bad it is.
func (s style) outcome(o diagnose.Outcome) string {
	text := strings.ToUpper(string(o))
	switch o {
	case diagnose.Completed:
		return s.green(text)
	case diagnose.Slow, diagnose.Starved:
		return s.yellow(text)
	}
	return s.red(text)
}

// wrap breaks text into lines that fit, each with the given indent.
func (s style) wrap(indent, text string) string {
	var b strings.Builder
	room := s.columns() - len(indent)
	used := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case used == 0:
			b.WriteString(indent)
		case used+1+n > room:
			b.WriteString("\n" + indent)
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	b.WriteByte('\n')
	return b.String()
}

// plainText makes text from elsewhere safe for a terminal: control characters become escapes, and so
// do those that turn the direction of writing or do not show at all.
func plainText(text string) string {
	if !strings.ContainsFunc(text, unsafeRune) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unsafeRune(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	return (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && r != '\n' && r != '\t'
}
