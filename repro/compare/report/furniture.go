package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// referenceLook is how straight lines at known values look.
func referenceLook(i int) look {
	return look{ink: inkSoft, width: 1.2, dashes: [][]vg.Length{{6, 4}, {2, 3}, {10, 3, 2, 3}}[i%3]}
}

// referenceKeys names the straight lines in the legend.
func referenceKeys(references []Reference) (keys []key) {
	for i, r := range references {
		if finite(r.At) {
			keys = append(keys, key{name: r.Name, look: referenceLook(i)})
		}
	}
	return keys
}

// drawReferences draws straight lines where their value has a place.
func drawReferences(c draw.Canvas, x, y scale, references []Reference) {
	for i, r := range references {
		switch {
		case r.Vertical && finite(r.At) && onScale(r.At, x):
			at := c.X(x.Normalize(0, 0, r.At))
			c.StrokeLine2(referenceLook(i).line(), at, c.Min.Y, at, c.Max.Y)
		case !r.Vertical && finite(r.At) && onScale(r.At, y):
			at := c.Y(y.Normalize(0, 0, r.At))
			c.StrokeLine2(referenceLook(i).line(), c.Min.X, at, c.Max.X, at)
		}
	}
}

// seen says that a shade has a width.
func (s Shade) seen() bool { return finite(s.FromX) && s.FromX < s.ToX }

// shadeKeys names each kind of shade once.
func shadeKeys(shades []Shade) (keys []key) {
	for i, s := range shades {
		known := !s.seen()
		for _, before := range shades[:i] {
			known = known || before.seen() && before.Name == s.Name
		}
		if !known {
			keys = append(keys, key{name: s.Name, look: look{ink: inkShade}, box: true})
		}
	}
	return keys
}

// drawShades tints stretches of the x axis, with a line where each begins and ends.
func drawShades(c draw.Canvas, x scale, shades []Shade) {
	for _, s := range shades {
		if from, to, ok := s.ends(c, x); ok {
			c.SetColor(inkShade)
			c.Fill(vg.Rectangle{Min: vg.Point{X: from, Y: c.Min.Y}, Max: vg.Point{X: max(to, from+1), Y: c.Max.Y}}.Path())
		}
	}
	drawEdges(c, x, shades, inkLine)
}

// drawEdges draws the lines where shades begin and end.
func drawEdges(c draw.Canvas, x scale, shades []Shade, k ink) {
	edge := draw.LineStyle{Color: k, Width: 0.9, Dashes: []vg.Length{2, 2}}
	for _, s := range shades {
		if from, to, ok := s.ends(c, x); ok {
			c.StrokeLine2(edge, from, c.Min.Y, from, c.Max.Y)
			c.StrokeLine2(edge, to, c.Min.Y, to, c.Max.Y)
		}
	}
}

// ends is where a shade begins and ends on the canvas, and whether any of it is seen.
func (s Shade) ends(c draw.Canvas, x scale) (from, to vg.Length, ok bool) {
	if !s.seen() || s.ToX < x.low || s.FromX > x.high {
		return 0, 0, false
	}
	return c.X(x.Normalize(0, 0, s.FromX)), c.X(x.Normalize(0, 0, math.Min(s.ToX, x.high))), true
}

// arrow shows which way a strand goes, in the middle of its length.
func (s strand) arrow(c draw.Canvas, x, y scale) {
	var line []vg.Point
	for _, p := range s.points {
		if drawable(p, x, y) {
			line = append(line, vg.Point{X: c.X(x.Normalize(0, 0, p.X)), Y: c.Y(y.Normalize(0, 0, p.Y))})
		}
	}
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += apart(line[i-1], line[i])
	}
	for i, gone := 1, 0.0; i < len(line); i++ {
		gone += apart(line[i-1], line[i])
		if gone < length/2 {
			continue
		}
		// The direction is that of a stretch long enough to have one.
		for from := i - 1; from >= 0; from-- {
			if apart(line[from], line[i]) >= 8 {
				drawHead(c, line[from], line[i], s.look.ink)
				return
			}
		}
	}
}

// apart is the distance of two points.
func apart(a, b vg.Point) float64 { return math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)) }

// drawHead draws the head of an arrow in the middle between two points.
func drawHead(c draw.Canvas, from, to vg.Point, k ink) {
	const long, wide = 10, 4.5
	d := vg.Length(apart(from, to))
	ux, uy := (to.X-from.X)/d, (to.Y-from.Y)/d
	tip := vg.Point{X: (from.X+to.X)/2 + ux*long/2, Y: (from.Y+to.Y)/2 + uy*long/2}
	back := vg.Point{X: tip.X - ux*long, Y: tip.Y - uy*long}
	c.FillPolygon(k, []vg.Point{tip, {X: back.X - uy*wide, Y: back.Y + ux*wide}, {X: back.X + uy*wide, Y: back.Y - ux*wide}})
}
