package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shape is a marker drawn as an outline of a width that can be seen; gonum's own are half a pixel wide.
type shape int

// The shapes.
const (
	ring shape = iota // kept for the ends of lines
	diamond
	square
	cross
	plus
)

var _ draw.GlyphDrawer = ring

// DrawGlyph draws the shape around a point.
func (s shape) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 1.5})
	r := sty.Radius
	var p vg.Path
	line := func(x, y vg.Length) {
		p.Move(vg.Point{X: pt.X - x, Y: pt.Y - y})
		p.Line(vg.Point{X: pt.X + x, Y: pt.Y + y})
	}
	switch s {
	case ring:
		p.Move(vg.Point{X: pt.X + r, Y: pt.Y})
		p.Arc(pt, r, 0, 2*math.Pi)
		p.Close()
	case square:
		p = vg.Rectangle{Min: vg.Point{X: pt.X - r, Y: pt.Y - r}, Max: vg.Point{X: pt.X + r, Y: pt.Y + r}}.Path()
	case diamond:
		d := r * 1.25
		p.Move(vg.Point{X: pt.X + d, Y: pt.Y})
		p.Line(vg.Point{X: pt.X, Y: pt.Y + d})
		p.Line(vg.Point{X: pt.X - d, Y: pt.Y})
		p.Line(vg.Point{X: pt.X, Y: pt.Y - d})
		p.Close()
	case cross:
		line(r*0.8, r*0.8)
		line(r*0.8, -r*0.8)
	case plus:
		line(r, 0)
		line(0, r)
	}
	c.Stroke(p)
}
