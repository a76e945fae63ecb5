package report

import (
	"math"
	"sort"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// strand is one line as it is drawn.
type strand struct {
	points  []Point
	look    look
	steps   bool      // y holds until the next x
	markers bool      // at each point
	sparse  vg.Length // a marker now and then along the line, the first after so many pixels; 0: none
	band    bool      // tint between Lo and Hi
	drop    bool      // falls to the bottom at its end
}

// drawable says that a point has a place on both scales.
func drawable(p Point, x, y scale) bool {
	return onScale(p.X, x) && onScale(p.Y, y)
}

// onScale says that a number has a place of its own on a scale, be it in a gutter.
func onScale(v float64, s scale) bool {
	switch {
	case math.IsInf(v, 1):
		return s.never
	case !finite(v):
		return false
	case s.log:
		return v > 0 || v == 0 && s.zero
	}
	return true
}

// interval says that a point has one to draw.
func (p Point) interval() bool { return finite(p.Lo) && finite(p.Hi) && (p.Lo != 0 || p.Hi != 0) }

// draw puts a strand on its canvas.
func (s strand) draw(c draw.Canvas, x, y scale) {
	at := func(px, py float64) vg.Point {
		return vg.Point{X: c.X(x.Normalize(0, 0, px)), Y: c.Y(y.Normalize(0, 0, py))}
	}
	for _, run := range s.runs(x, y) {
		if s.band {
			s.tint(c, run, at)
		}
		var line []vg.Point
		for i, p := range run {
			if s.steps && i > 0 {
				line = append(line, vg.Point{X: at(p.X, p.Y).X, Y: line[len(line)-1].Y})
			}
			line = append(line, at(p.X, p.Y))
		}
		if s.drop {
			line = append(line, vg.Point{X: line[len(line)-1].X, Y: c.Min.Y})
		}
		line = decimate(line)
		if len(line) > 1 {
			c.StrokeLines(s.look.line(), line)
		}
		if s.sparse > 0 {
			s.dot(c, line)
		}
		if s.markers || len(run) == 1 && !s.drop {
			s.mark(c, run, at)
		}
	}
}

// runs splits the points where one cannot be drawn.
func (s strand) runs(x, y scale) (runs [][]Point) {
	open := false
	for _, p := range s.points {
		if !drawable(p, x, y) {
			open = false
			continue
		}
		if !open {
			runs, open = append(runs, nil), true
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], p)
	}
	return runs
}

// tint fills the band of the points that have an interval.
func (s strand) tint(c draw.Canvas, run []Point, at func(x, y float64) vg.Point) {
	var upper, lower []vg.Point
	for _, p := range run {
		if p.interval() {
			upper, lower = append(upper, at(p.X, p.Hi)), append(lower, at(p.X, p.Lo))
		}
	}
	if len(upper) < 2 {
		return
	}
	upper, lower = decimate(upper), decimate(lower)
	for i := len(lower) - 1; i >= 0; i-- {
		upper = append(upper, lower[i])
	}
	c.FillPolygon(wash{s.look.ink, 0.16}, upper)
}

// mark draws markers, and whiskers where there is no band to show the interval. Markers that would lie on each other are
// left out.
func (s strand) mark(c draw.Canvas, run []Point, at func(x, y float64) vg.Point) {
	glyph := s.look.glyph()
	last := vg.Point{X: -1e6}
	for i, p := range run {
		pt := at(p.X, p.Y)
		if i < len(run)-1 && math.Hypot(float64(pt.X-last.X), float64(pt.Y-last.Y)) < 9 {
			continue
		}
		last = pt
		if p.interval() && (!s.band || len(run) == 1) {
			low, high := at(p.X, p.Lo), at(p.X, p.Hi)
			c.StrokeLine2(draw.LineStyle{Color: s.look.ink, Width: 1.2}, low.X, low.Y, high.X, high.Y)
		}
		c.DrawGlyphNoClip(glyph, pt)
	}
}

// dot puts markers along a line at even distances, not at data: they tell which line it is.
func (s strand) dot(c draw.Canvas, line []vg.Point) {
	const every = 90
	next := s.sparse
	for i := 1; i < len(line); i++ {
		length := vg.Length(apart(line[i-1], line[i]))
		for ; length > 0 && next <= length; next += every {
			share := next / length
			c.DrawGlyphNoClip(s.look.glyph(), vg.Point{X: line[i-1].X + (line[i].X-line[i-1].X)*share, Y: line[i-1].Y + (line[i].Y-line[i-1].Y)*share})
		}
		next -= length
	}
}

// decimate drops what cannot be seen: of all points in one pixel's column it keeps the first, the lowest, the highest and
// the last. Lines that do not run from left to right only lose points on top of each other.
func decimate(line []vg.Point) []vg.Point {
	const few = 400
	if len(line) <= few {
		return line
	}
	if !sort.SliceIsSorted(line, func(i, j int) bool { return line[i].X < line[j].X }) {
		out := line[:1:1]
		for _, p := range line[1:] {
			if q := out[len(out)-1]; math.Hypot(float64(p.X-q.X), float64(p.Y-q.Y)) >= 0.5 {
				out = append(out, p)
			}
		}
		return out
	}
	var out []vg.Point
	for from := 0; from < len(line); {
		to := from
		low, high := from, from
		for to < len(line) && math.Floor(float64(line[to].X)) == math.Floor(float64(line[from].X)) {
			if line[to].Y < line[low].Y {
				low = to
			}
			if line[to].Y > line[high].Y {
				high = to
			}
			to++
		}
		keep := []int{from, min(low, high), max(low, high), to - 1}
		for i, k := range keep {
			if i == 0 || k != keep[i-1] {
				out = append(out, line[k])
			}
		}
		from = to
	}
	return out
}
