package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a picture in CSS pixels: one unit of the drawing is one pixel of the page.
const (
	widthDefault = 560
	widthNarrow  = 440 // below: fewer ticks, names on lines of their own
	margin       = 10
	gap          = 8 // between one thing and the next
)

// picture is a drawing under way: the frame is drawn, area is what is left for the data.
type picture struct {
	frame  Frame
	canvas *vgsvg.Canvas
	area   draw.Canvas
}

// begin draws title, note and legend, and leaves room so high for the data, or what HeightPx leaves.
func begin(f Frame, keys []key, body vg.Length) *picture {
	width := vg.Length(kept(f.WidthPx, widthDefault, 280, 2400))
	inner := width - 2*margin
	title := wrap(f.Title, style(sizeTitle, inkText, true), inner, 3)
	note := wrap(f.Note, style(sizeText, inkSoft, false), inner, 4)
	rows := layLegend(keys, inner)
	head := vg.Length(margin)
	if len(title) > 0 {
		head += vg.Length(len(title)) * sizeTitle * leading
	}
	if len(note) > 0 {
		head += vg.Length(len(note))*sizeText*leading + 2
	}
	if len(rows) > 0 {
		head += gap/2 + vg.Length(len(rows))*legendRow
	}
	head += gap / 2
	height := head + body + margin
	if f.HeightPx != 0 {
		height = max(vg.Length(kept(f.HeightPx, 0, 120, 4000)), head+60+margin)
	}
	height = vg.Length(math.Ceil(float64(height)))
	p := &picture{frame: f, canvas: vgsvg.New(width, height)}
	all := draw.New(p.canvas)
	all.SetColor(inkPaper)
	all.Fill(all.Rectangle.Path())
	y := height - margin
	for _, line := range title {
		y -= sizeTitle * leading
		write(all, style(sizeTitle, inkText, true), margin, y, line)
	}
	for _, line := range note {
		y -= sizeText * leading
		write(all, style(sizeText, inkSoft, false), margin, y, line)
	}
	if len(note) > 0 {
		y -= 2
	}
	if len(rows) > 0 {
		y = drawLegend(all, rows, y-gap/2)
	}
	p.area = draw.Crop(all, margin, -margin, margin, 0)
	p.area.Max.Y = y - gap/2
	return p
}

// finish gives the bytes.
func (p *picture) finish() ([]byte, error) { return finish(p.canvas, p.frame) }

// narrow says that the picture is for a telephone.
func narrow(f Frame) bool { return kept(f.WidthPx, widthDefault, 280, 2400) < widthNarrow }

// kept is v within its limits, or what 0 stands for.
func kept(v, zero, low, high int) int {
	if v == 0 {
		return zero
	}
	return min(high, max(low, v))
}

// write puts text with its base line near y, from x on.
func write(c draw.Canvas, sty text.Style, x, y vg.Length, s string) {
	c.FillText(sty, vg.Point{X: x, Y: y - sty.FontExtents().Descent + sty.Font.Size*0.25}, s)
}

// aligned is a style that writes around its point instead of from it.
func aligned(sty text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	sty.XAlign, sty.YAlign = x, y
	return sty
}

// empty is the picture of data that is not there: it says so.
func empty(f Frame, why string) ([]byte, error) {
	p := begin(f, nil, 70)
	sty := aligned(style(sizeText, inkSoft, false), draw.XCenter, draw.YCenter)
	p.area.FillText(sty, p.area.Center(), fit(why, sty, p.area.Max.X-p.area.Min.X))
	return p.finish()
}

// axes makes a gonum plot with our look and a grid. The label of y stands above its axis, where it costs no width.
func axes(x, y scale) *plot.Plot {
	p := bare(x, y)
	p.Add(grid{x, y})
	return p
}

// bare is axes without the grid.
func bare(x, y scale) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: inkLine, Width: 1}
		a.Tick.LineStyle = draw.LineStyle{Color: inkLine, Width: 1}
		a.Tick.Length = 4
		a.Padding = 0
	}
	p.X.Tick.Label = aligned(style(sizeSmall, inkSoft, false), draw.XCenter, draw.YTop)
	p.Y.Tick.Label = aligned(style(sizeSmall, inkSoft, false), draw.XRight, draw.YCenter)
	p.X.Min, p.X.Max, p.X.Scale, p.X.Tick.Marker = x.low, x.high, x, x
	p.Y.Min, p.Y.Max, p.Y.Scale, p.Y.Tick.Marker = y.low, y.high, y, y
	return p
}

// drawPlot draws axes and data into the area, and what x is below their middle. gonum's own label would stand in the middle
// of the numbers, which on a log axis is near its end.
func drawPlot(p *plot.Plot, area draw.Canvas, xLabel string) {
	if xLabel = clean(xLabel); xLabel != "" {
		area.Min.Y += sizeText*leading + gap/4
	}
	p.Draw(area)
	data := p.DataCanvas(area)
	sty := style(sizeText, inkText, false)
	xLabel = fit(xLabel, sty, area.Max.X-area.Min.X)
	width := widthOf(sty, xLabel)
	x := min((data.Min.X+data.Max.X-width)/2, area.Max.X-width)
	write(area, sty, max(x, area.Min.X), area.Min.Y-sizeText*leading, xLabel)
}

// yLabel writes what y is above the area and takes its line off it.
func yLabel(area draw.Canvas, label, unit string) draw.Canvas {
	sty := style(sizeText, inkText, false)
	write(area, sty, area.Min.X, area.Max.Y-sizeText*leading, fit(withUnit(label, unit), sty, area.Max.X-area.Min.X))
	area.Max.Y -= sizeText*leading + gap/2
	return area
}

// withUnit names an axis and its unit. Times and shares carry theirs on each tick.
func withUnit(label, unit string) string {
	if unit == "" || unit == "s" || unit == "%" {
		return label
	}
	return label + " (" + unit + ")"
}

// grid is the faint lines behind the data; gutters are set off by a line.
type grid struct{ x, y scale }

// Plot draws them.
func (g grid) Plot(c draw.Canvas, _ *plot.Plot) {
	sty := draw.LineStyle{Color: inkGrid, Width: 1}
	for _, t := range g.y.Ticks(0, 0) {
		y := c.Y(g.y.Normalize(0, 0, t.Value))
		c.StrokeLine2(sty, c.Min.X, y, c.Max.X, y)
	}
	for _, t := range g.x.Ticks(0, 0) {
		x := c.X(g.x.Normalize(0, 0, t.Value))
		c.StrokeLine2(sty, x, c.Min.Y, x, c.Max.Y)
	}
	edge := draw.LineStyle{Color: inkLine, Width: 1, Dashes: []vg.Length{1, 3}}
	for _, at := range g.x.edges() {
		c.StrokeLine2(edge, c.X(at), c.Min.Y, c.X(at), c.Max.Y)
	}
	for _, at := range g.y.edges() {
		c.StrokeLine2(edge, c.Min.X, c.Y(at), c.Max.X, c.Y(at))
	}
}

// edges is where the gutters begin, as shares of the axis.
func (s scale) edges() (at []float64) {
	if s.zero {
		at = append(at, gutter*0.7)
	}
	if s.never {
		at = append(at, 1-gutter*0.7)
	}
	return at
}

// plotter draws data with a function; gonum calls it with the canvas of the data.
type plotter func(c draw.Canvas)

// Plot calls the function.
func (f plotter) Plot(c draw.Canvas, _ *plot.Plot) { f(c) }
