package report

import (
	"fmt"
	"sort"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Pareto draws cost against benefit, smaller is better in both. Those that none beats in both are joined and named in bold;
// the names stand beside the points, or as numbers that the legend explains where there is no room.
func Pareto(in ParetoInput) ([]byte, error) { return in.svg(in.Frame) }

func (in ParetoInput) frame() Frame { return in.Frame }
func (in ParetoInput) broad() bool  { return false }

func (in ParetoInput) svg(f Frame) ([]byte, error) {
	ex, ey := extent{log: in.X.Log}, extent{log: in.Y.Log, room: true}
	for _, o := range in.Offers {
		ex.add(o.X)
		ey.add(o.Y)
		ex.addBound(o.XLo)
		ex.addBound(o.XHi)
		ey.addBound(o.YLo)
		ey.addBound(o.YHi)
	}
	x, y := ex.scale(in.X.Unit, map[bool]int{true: 4, false: 7}[narrow(f)]), ey.scale(in.Y.Unit, 5)
	var seen []Offer
	for _, o := range in.Offers {
		if drawable(Point{X: o.X, Y: o.Y}, x, y) {
			seen = append(seen, o)
		}
	}
	if left := len(in.Offers) - len(seen); left > 0 {
		f.Note = join(f.Note, fmt.Sprintf("%d without numbers are left out", left))
	}
	f.HeightPx = 0 // a longer legend must not squeeze the points, see below
	best := front(seen)
	keys := []key{
		{name: "no other is better in both", look: look{ink: inkSeries, width: 1.5, shape: draw.CircleGlyph{}}},
		{name: "another is better in both", look: look{ink: inkSoft, shape: ring}},
	}
	if len(seen) == 0 {
		return empty(f, "nothing was measured that could be drawn")
	}
	// What cannot be named beside its point is numbered in the legend, which takes room, which moves the points: draw once to
	// see who is left over, then with their legend. Positions shift by the same for all, so that what fitted still fits.
	labels := in.place(begin(f, keys, 340), x, y, seen, best)
	for _, l := range labels {
		if l.number > 0 {
			keys = append(keys, key{name: fmt.Sprintf("%d: %s", l.number, l.full), look: look{}})
		}
	}
	pic := begin(f, keys, 340)
	in.plot(pic, x, y, func(c draw.Canvas) {
		drawFront(c, x, y, seen, best)
		for _, l := range placeAll(c, x, y, seen, best) {
			c.FillText(l.style, l.at, l.words)
		}
	})
	return pic.finish()
}

// place finds the labels on a canvas that is thrown away.
func (in ParetoInput) place(p *picture, x, y scale, seen []Offer, best []bool) (labels []label) {
	in.plot(p, x, y, func(c draw.Canvas) { labels = placeAll(c, x, y, seen, best) })
	return labels
}

// plot draws the axes and what lies on them.
func (in ParetoInput) plot(p *picture, x, y scale, data func(draw.Canvas)) {
	a := axes(x, y)
	a.Add(plotter(data))
	drawPlot(a, yLabel(p.area, withUnit(or(in.Y.Label, "time"), in.Y.Unit)+" ↑ worse", ""), withUnit(or(in.X.Label, "cost"), in.X.Unit)+" → worse")
}

// front says of each offer that none is as good in both and better in one.
func front(offers []Offer) []bool {
	best := make([]bool, len(offers))
	for i, o := range offers {
		best[i] = !o.Bracket
		for _, p := range offers {
			if !p.Bracket && p.X <= o.X && p.Y <= o.Y && (p.X < o.X || p.Y < o.Y) {
				best[i] = false
			}
		}
	}
	return best
}

// drawFront draws the points with their intervals, and the stair through the best.
func drawFront(c draw.Canvas, x, y scale, offers []Offer, best []bool) {
	var stair []vg.Point
	for i, o := range offers {
		pt := at(c, x, y, o.X, o.Y)
		k := inkSoft
		if best[i] {
			k = inkSeries
			stair = append(stair, pt)
		}
		whisker := draw.LineStyle{Color: wash{k, 0.45}, Width: 1.2}
		if (Point{Lo: o.XLo, Hi: o.XHi}).interval() {
			c.StrokeLine2(whisker, at(c, x, y, o.XLo, o.Y).X, pt.Y, at(c, x, y, o.XHi, o.Y).X, pt.Y)
		}
		if (Point{Lo: o.YLo, Hi: o.YHi}).interval() {
			c.StrokeLine2(whisker, pt.X, at(c, x, y, o.X, o.YLo).Y, pt.X, at(c, x, y, o.X, o.YHi).Y)
		}
	}
	line := stairOf(stair)
	if len(line) > 1 {
		c.StrokeLines(draw.LineStyle{Color: inkSeries, Width: 1.2, Dashes: []vg.Length{4, 3}}, line)
	}
	for i, o := range offers {
		g := draw.GlyphStyle{Color: inkSoft, Radius: 4, Shape: ring}
		if best[i] {
			g = draw.GlyphStyle{Color: inkSeries, Radius: 4.5, Shape: draw.CircleGlyph{}}
		}
		c.DrawGlyphNoClip(g, at(c, x, y, o.X, o.Y))
	}
}

// stairOf joins points by level and upright lines, from the left.
func stairOf(points []vg.Point) (line []vg.Point) {
	sort.Slice(points, func(i, j int) bool {
		return points[i].X < points[j].X || points[i].X == points[j].X && points[i].Y > points[j].Y
	})
	for i, pt := range points {
		if i > 0 {
			line = append(line, vg.Point{X: pt.X, Y: points[i-1].Y})
		}
		line = append(line, pt)
	}
	return line
}
