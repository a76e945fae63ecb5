package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

// pageHTML is the page around the pictures.
//
//go:embed page.html
var pageHTML string

// Widths at which the page draws each picture, in CSS pixels: beside another, over the whole page, on a telephone.
const (
	pageHalf   = 552
	pageWhole  = 1126
	pageNarrow = 364
)

// Write writes the page: one file without scripts that loads nothing. The same input gives the same bytes. The error is of
// drawing or writing, never of odd data.
func Write(w io.Writer, in Input) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"plain": plain, "figure": figure, "sheet": func() template.CSS { return template.CSS(styleSheet()) },
		"corner": func(t Table) string { return or(plain(t.Corner), "policy") },
		"helps":  Table.helps, "filled": Row.filled,
	}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("report: the page's template: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, in); err != nil {
		return fmt.Errorf("report: page %q: %w", in.Title, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// picturePair is one picture as the page holds it: at two widths, of which the style sheet shows one.
type picturePair struct {
	Broad        bool
	Wide, Narrow template.HTML
}

// figure draws a plot for the page. Text in it is escaped by the SVG writer.
func figure(p Plot) (pair picturePair, err error) {
	if p == nil {
		return picturePair{}, nil
	}
	f := p.frame()
	pair.Broad = p.broad()
	f.HeightPx = 0
	for _, half := range []struct {
		width int
		to    *template.HTML
	}{{map[bool]int{true: pageWhole, false: pageHalf}[pair.Broad], &pair.Wide}, {pageNarrow, &pair.Narrow}} {
		f.WidthPx = half.width
		svg, err := p.svg(f)
		if err != nil {
			return picturePair{}, err
		}
		*half.to = template.HTML(withoutStyle(svg))
	}
	return pair, nil
}

// helps are the columns that explain themselves.
func (t Table) helps() (columns []Column) {
	for _, c := range t.Columns {
		if c.Help != "" {
			columns = append(columns, c)
		}
	}
	return columns
}

// shownCell is a cell in words.
type shownCell struct {
	Column, Value, Interval, N, Mark, Class string
}

// filled pairs the cells of a row with their columns.
func (r Row) filled(columns []Column) (cells []shownCell) {
	for i, column := range columns {
		if i >= len(r.Cells) {
			cells = append(cells, shownCell{Column: plain(column.Name), Value: "–"})
			continue
		}
		cells = append(cells, shown(column, r.Cells[i]))
	}
	return cells
}

// shown writes one cell.
func shown(column Column, c Cell) shownCell {
	out := shownCell{Column: plain(column.Name), Value: plain(c.Text)}
	if out.Value == "" {
		out.Value = "–"
		if finite(c.Value) {
			out.Value = number(c.Value, column.Unit)
		}
	}
	if finite(c.Lo) && finite(c.Hi) && (c.Lo != 0 || c.Hi != 0) {
		words, unit := together(column.Unit, c.Lo, c.Hi)
		out.Interval = words[0] + " to " + words[1] + unit
	}
	if c.N > 0 {
		out.N = "n = " + thousands(c.N)
	}
	switch c.Mark {
	case Best:
		out.Mark, out.Class = "best", "good"
	case Better:
		out.Mark, out.Class = "better", "good"
	case Worse:
		out.Mark, out.Class = "worse", "bad"
	}
	return out
}
