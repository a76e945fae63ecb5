package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	legendRow    = 18
	legendSwatch = 26
	legendGap    = 14
)

// key is one entry of the legend: a line with its marker, or a box if it is an area.
type key struct {
	name  string
	look  look
	box   bool
	alpha float64 // of the box; 0: full
	// hollow: the box is an outline
	hollow bool
}

// look is how one series is told from the others.
type look struct {
	ink    ink
	dashes []vg.Length
	shape  draw.GlyphDrawer
	width  vg.Length
}

// lookOf hands out the looks in order. The ninth and later share one that stays in the background.
func lookOf(i int) look {
	dashes := [seriesCount][]vg.Length{nil, {7, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}, {4, 2}, {10, 2, 2, 2, 2, 2}, {1, 3}}
	shapes := [seriesCount]draw.GlyphDrawer{draw.CircleGlyph{}, square, draw.PyramidGlyph{}, diamond, draw.BoxGlyph{}, cross, draw.TriangleGlyph{}, plus}
	if i < 0 || i >= seriesCount {
		return look{ink: inkOther, width: 1, shape: plus}
	}
	return look{ink: seriesInk(i), dashes: dashes[i], shape: shapes[i], width: 2}
}

// line is the stroke of a look.
func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.ink, Width: l.width, Dashes: l.dashes}
}

// glyph is the marker of a look.
func (l look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.ink, Radius: 3.5, Shape: l.shape}
}

// keysOf makes the legend of named series: the first few by name, the rest together.
func keysOf(names []string) []key {
	var keys []key
	for i, name := range names {
		if i == seriesCount && len(names) > i+1 {
			return append(keys, key{name: fmt.Sprintf("%d more", len(names)-seriesCount), look: lookOf(i)})
		}
		keys = append(keys, key{name: name, look: lookOf(i)})
	}
	return keys
}

// placed is an entry with its place in a row.
type placed struct {
	key
	x vg.Length
}

// layLegend breaks the entries into rows no wider than width.
func layLegend(keys []key, width vg.Length) [][]placed {
	sty := style(sizeText, inkText, false)
	var rows [][]placed
	x := width + 1
	for _, k := range keys {
		k.name = fit(k.name, sty, width-legendSwatch)
		w := legendSwatch + widthOf(sty, k.name)
		if x+w > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], placed{key: k, x: x})
		x += w + legendGap
	}
	return rows
}

// drawLegend draws the rows from y down and returns where they end.
func drawLegend(c draw.Canvas, rows [][]placed, y vg.Length) vg.Length {
	sty := aligned(style(sizeText, inkText, false), draw.XLeft, draw.YCenter)
	for _, row := range rows {
		middle := y - legendRow/2
		for _, e := range row {
			x := margin + e.x
			switch {
			case e.box:
				alpha := e.alpha
				if alpha == 0 {
					alpha = 1
				}
				box := vg.Rectangle{Min: vg.Point{X: x, Y: middle - 6}, Max: vg.Point{X: x + 18, Y: middle + 6}}
				if e.hollow {
					c.SetLineStyle(e.look.line())
					c.Stroke(box.Path())
					break
				}
				c.SetColor(wash{e.look.ink, alpha})
				c.Fill(box.Path())
			default:
				c.StrokeLine2(e.look.line(), x, middle, x+20, middle)
				if e.look.shape != nil {
					c.DrawGlyphNoClip(e.look.glyph(), vg.Point{X: x + 10, Y: middle})
				}
			}
			c.FillText(sty, vg.Point{X: x + legendSwatch, Y: middle}, e.name)
		}
		y -= legendRow
	}
	return y
}
