package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Forest draws paired differences with their 95 % intervals, a row each. Filled marks are certain after Holm's correction.
func Forest(in ForestInput) ([]byte, error) { return in.svg(in.Frame) }

func (in ForestInput) frame() Frame { return in.Frame }
func (in ForestInput) broad() bool  { return true }

// forestRow is a line of the picture: a heading, or a difference.
type forestRow struct {
	heading string
	Difference
	middle float64 // on the y scale, in pixels from the bottom
}

// known says that the row has something to draw.
func (d Difference) known() bool { return finite(d.Value) && finite(d.Lo) && finite(d.Hi) }

func (in ForestInput) svg(f Frame) ([]byte, error) {
	small := narrow(f)
	rows, high := in.rows(small)
	ex := extent{}
	ex.add(0)
	known := false
	for _, d := range in.Rows {
		if d.known() {
			known = known || d.Value != 0 || d.Lo != 0 || d.Hi != 0
			ex.add(d.Value)
			ex.add(d.Lo)
			ex.add(d.Hi)
		}
	}
	if len(in.Rows) == 0 {
		return empty(f, "nothing was compared")
	}
	if !known {
		ex.add(-1)
		ex.add(1)
	}
	keys := []key{
		{name: "certainly better", look: look{ink: inkGood, width: 2, shape: draw.BoxGlyph{}}},
		{name: "certainly worse", look: look{ink: inkBad, width: 2, shape: draw.BoxGlyph{}}},
		{name: "not certain", look: look{ink: inkSoft, width: 1.4, shape: ring}},
	}
	pic := begin(f, keys, vg.Length(high)+60)
	x := ex.scale(in.Unit, map[bool]int{true: 4, false: 8}[small])
	room := (x.high - x.low) * 0.02
	x.low, x.high = x.low-room, x.high+room
	y := scale{low: 0, high: high}
	a := bare(x, y)
	a.Add(grid{x: x})
	area, numbers := pic.area, vg.Length(0)
	if in.What != "" {
		area = yLabel(area, in.What, in.Unit)
	}
	numberStyle := aligned(style(sizeSmall, inkText, false), draw.XRight, draw.YCenter)
	if small {
		a.Y.Tick.Marker = plot.ConstantTicks{}
		area.Min.X += 12 // the first tick's label is as wide on either side
	} else {
		a.Y.Tick.Marker = in.names(rows, (area.Max.X-area.Min.X)*0.3)
		for _, r := range rows {
			numbers = max(numbers, widthOf(numberStyle, in.numbers(r, x.high-x.low)))
		}
		area.Max.X -= numbers + gap
	}
	a.Y.Tick.LineStyle.Width, a.Y.LineStyle.Width = 0, 0
	a.Add(plotter(func(c draw.Canvas) {
		zero := c.X(x.Normalize(0, 0, 0))
		c.StrokeLine2(draw.LineStyle{Color: inkText, Width: 1.2}, zero, c.Min.Y, zero, c.Max.Y)
		for _, r := range rows {
			in.row(c, x, y, r, small, pic.area.Max.X)
		}
	}))
	drawPlot(a, area, in.way())
	return pic.finish()
}

// rows lays the rows out from the top and says how high they are together.
func (in ForestInput) rows(small bool) (rows []forestRow, high float64) {
	rowHigh := map[bool]float64{true: 34, false: 21}[small]
	y := 0.0
	group := ""
	for _, d := range in.Rows {
		if d.Group != group && d.Group != "" {
			rows = append(rows, forestRow{heading: d.Group, middle: y + 13})
			y += 24
		}
		group = d.Group
		rows = append(rows, forestRow{Difference: d, middle: y + rowHigh/2})
		y += rowHigh
	}
	for i := range rows {
		rows[i].middle = y - rows[i].middle
	}
	return rows, max(y, 1)
}

// way says which side is better.
func (in ForestInput) way() string {
	if in.HigherIsBetter {
		return "← worse · better →"
	}
	return "← better · worse →"
}

// names are the rows' names as labels of the y axis.
func (in ForestInput) names(rows []forestRow, width vg.Length) plot.ConstantTicks {
	sty := style(sizeText, inkText, false)
	ticks := plot.ConstantTicks{}
	for _, r := range rows {
		if r.heading == "" {
			ticks = append(ticks, plot.Tick{Value: r.middle, Label: fit(r.Name, sty, width)})
		}
	}
	return ticks
}

// numbers are what the row says in digits, in the unit that suits the whole picture.
func (in ForestInput) numbers(r forestRow, largest float64) string {
	switch {
	case r.heading != "":
		return ""
	case !r.known():
		return "not known"
	}
	words, unit := together(in.Unit, r.Value, r.Lo, r.Hi, largest)
	for i, v := range []float64{r.Value, r.Lo, r.Hi} {
		if v > 0 {
			words[i] = "+" + words[i]
		}
	}
	return fmt.Sprintf("%s [%s, %s]%s%s", words[0], words[1], words[2], unit, suffix(r.N))
}

// suffix is n after the numbers.
func suffix(n int) string {
	if n <= 0 {
		return ""
	}
	return ", n = " + thousands(n)
}

// row draws a heading, or an interval with its mark.
func (in ForestInput) row(c draw.Canvas, x, y scale, r forestRow, small bool, right vg.Length) {
	middle := c.Y(y.Normalize(0, 0, r.middle))
	if r.heading != "" {
		sty := aligned(style(sizeText, inkText, true), draw.XLeft, draw.YCenter)
		c.FillText(sty, vg.Point{X: margin, Y: middle}, fit(r.heading, sty, right-margin))
		return
	}
	sty := aligned(style(sizeSmall, inkText, r.Certain && r.known()), draw.XRight, draw.YCenter)
	if !r.known() {
		sty.Color = inkSoft
	}
	words := in.numbers(r, x.high-x.low)
	if small {
		top := middle + 8
		words = fit(words, sty, c.Max.X-c.Min.X)
		cover(c, sty, right-widthOf(sty, words), top, words)
		name := style(sizeSmall, inkText, false)
		cover(c, name, margin, top, fit(r.Name, name, right-margin-widthOf(sty, words)-gap))
		middle -= 8
	} else {
		c.FillText(sty, vg.Point{X: right, Y: middle}, words)
	}
	if r.known() {
		in.interval(c, x, middle, r.Difference)
	}
}

// cover writes over the grid, on paper.
func cover(c draw.Canvas, sty text.Style, x, middle vg.Length, words string) {
	sty = aligned(sty, draw.XLeft, draw.YCenter)
	c.SetColor(inkPaper)
	c.Fill(vg.Rectangle{Min: vg.Point{X: x - 2, Y: middle - 7}, Max: vg.Point{X: x + widthOf(sty, words) + 2, Y: middle + 7}}.Path())
	c.FillText(sty, vg.Point{X: x, Y: middle}, words)
}

// interval draws the line and the mark of a difference.
func (in ForestInput) interval(c draw.Canvas, x scale, middle vg.Length, d Difference) {
	k, width := inkSoft, vg.Length(1.4)
	if d.Certain {
		width = 2.4
		if k = inkGood; (d.Value > 0) != in.HigherIsBetter {
			k = inkBad
		}
	}
	to := func(v float64) vg.Length { return c.X(x.Normalize(0, 0, v)) }
	line := draw.LineStyle{Color: k, Width: width}
	low, high := to(min(d.Lo, d.Hi)), to(max(d.Lo, d.Hi))
	c.StrokeLine2(line, low, middle, high, middle)
	c.StrokeLine2(line, low, middle-4, low, middle+4)
	c.StrokeLine2(line, high, middle-4, high, middle+4)
	g := draw.GlyphStyle{Color: k, Radius: 4.5, Shape: ring}
	if d.Certain {
		g.Shape = draw.BoxGlyph{}
	}
	c.DrawGlyphNoClip(g, vg.Point{X: to(d.Value), Y: middle})
}
