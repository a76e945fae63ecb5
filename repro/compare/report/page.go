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
		"plain": plain, "sheet": func() template.CSS { return template.CSS(styleSheet()) },
		"corner": func(corner string) string { return or(plain(corner), "policy") },
		"filled": Row.filled, "figures": figures, "part": func(t Table, helps []Column) tablePart { return tablePart{t, helps} },
		"helps": newHelps(),
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

// figures draws the plots of a section. One that would stand alone in its row takes all of it.
func figures(plots []Plot) (pairs []picturePair, err error) {
	var kept []Plot
	for _, p := range plots {
		if p != nil {
			kept = append(kept, p)
		}
	}
	left := true // the next half picture begins a row
	for i, p := range kept {
		broad := p.broad() || left && (i+1 == len(kept) || kept[i+1].broad())
		left = broad || !left
		pair, err := figure(p, broad)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// figure draws a plot for the page. Text in it is escaped by the SVG writer.
func figure(p Plot, broad bool) (pair picturePair, err error) {
	f := p.frame()
	f.HeightPx = 0
	pair.Broad = broad
	for _, half := range []struct {
		width int
		to    *template.HTML
	}{{map[bool]int{true: pageWhole, false: pageHalf}[broad], &pair.Wide}, {pageNarrow, &pair.Narrow}} {
		f.WidthPx = half.width
		svg, err := p.svg(f)
		if err != nil {
			return picturePair{}, err
		}
		*half.to = template.HTML(shortPaths(withoutStyle(svg)))
	}
	return pair, nil
}

// tablePart is what the template of a table needs.
type tablePart struct {
	Table
	Helps []Column
}

// newHelps returns a function that gives the columns of a table that explain themselves and have not been explained yet.
func newHelps() func(Table) []Column {
	said := map[Column]bool{}
	return func(t Table) (columns []Column) {
		for _, c := range t.Columns {
			if c.Help != "" && !said[c] {
				said[c] = true
				columns = append(columns, c)
			}
		}
		return columns
	}
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
	known := finite(c.Lo) && finite(c.Hi) && (c.Lo != 0 || c.Hi != 0)
	values := []float64{c.Value}
	if known {
		values = append(values, c.Lo, c.Hi)
	}
	// Number and interval are in one unit, written once, unless words stand for the number.
	words, unit := together(column.Unit, values...)
	if known {
		out.Interval = words[1] + " to " + words[2]
		if out.Value != "" {
			out.Interval += unit
		}
	}
	if out.Value == "" {
		out.Value = "–"
		if finite(c.Value) {
			out.Value = words[0] + unit
		}
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
