package report

import (
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// label is a name beside its point, or the number that stands for it.
type label struct {
	words  string
	full   string
	number int // 0: the name itself stands there
	at     vg.Point
	style  text.Style
}

// placeAll names the points without covering a point, another name or the edge: the best first, each at the first of eight
// places that is free. Those that find none get a number, and if that finds none either, only the number in the legend.
func placeAll(c draw.Canvas, x, y scale, offers []Offer, best []bool) []label {
	var taken []vg.Rectangle
	for _, o := range offers {
		pt := at(c, x, y, o.X, o.Y)
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: pt.X - 5, Y: pt.Y - 5}, Max: vg.Point{X: pt.X + 5, Y: pt.Y + 5}})
	}
	lines := append(append([]vg.Rectangle{}, taken...), stairBoxes(c, x, y, offers, best)...)
	var labels []label
	number := 0
	for _, first := range []bool{true, false} {
		for i, o := range offers {
			if best[i] != first {
				continue
			}
			l := label{full: clean(named(o.Name, o.N)), style: style(sizeSmall, inkText, best[i])}
			l.words = fit(o.Name, l.style, min(170, (c.Max.X-c.Min.X)*0.6))
			pt := at(c, x, y, o.X, o.Y)
			spot, ok := free(c, l, pt, lines)
			if !ok {
				spot, ok = free(c, l, pt, taken)
			}
			if !ok {
				number++
				l.number, l.words = number, strconv.Itoa(number)
				if spot, ok = free(c, l, pt, taken); !ok {
					l.words = ""
				}
			}
			if ok {
				l.at = spot.Min
				taken, lines = append(taken, spot), append(lines, spot)
			}
			labels = append(labels, l)
		}
	}
	return labels
}

// free finds a place for a label beside its point.
func free(c draw.Canvas, l label, pt vg.Point, taken []vg.Rectangle) (vg.Rectangle, bool) {
	w, h := widthOf(l.style, l.words), vg.Length(sizeSmall*1.15)
	const off = 7
	for _, d := range [8]vg.Point{
		{X: off, Y: -h / 2}, {X: off, Y: 2}, {X: -w / 2, Y: off}, {X: -w - off, Y: -h / 2},
		{X: off, Y: -h - 2}, {X: -w / 2, Y: -h - off}, {X: -w - off, Y: 2}, {X: -w - off, Y: -h - 2},
	} {
		low := vg.Point{X: pt.X + d.X, Y: pt.Y + d.Y}
		box := vg.Rectangle{Min: low, Max: vg.Point{X: low.X + w, Y: low.Y + h}}
		ok := box.Min.X >= c.Min.X+2 && box.Max.X <= c.Max.X && box.Min.Y >= c.Min.Y+2 && box.Max.Y <= c.Max.Y
		for _, t := range taken {
			ok = ok && (box.Max.X < t.Min.X || box.Min.X > t.Max.X || box.Max.Y < t.Min.Y || box.Min.Y > t.Max.Y)
		}
		if ok {
			return box, true
		}
	}
	return vg.Rectangle{}, false
}

// stairBoxes are the thin boxes around the stair and the whiskers, which names had better not cross.
func stairBoxes(c draw.Canvas, x, y scale, offers []Offer, best []bool) (boxes []vg.Rectangle) {
	thin := func(a, b vg.Point) {
		boxes = append(boxes, vg.Rectangle{Min: vg.Point{X: min(a.X, b.X) - 1, Y: min(a.Y, b.Y) - 1}, Max: vg.Point{X: max(a.X, b.X) + 1, Y: max(a.Y, b.Y) + 1}})
	}
	var points []vg.Point
	for i, o := range offers {
		if best[i] {
			points = append(points, at(c, x, y, o.X, o.Y))
		}
		if (Point{Lo: o.XLo, Hi: o.XHi}).interval() {
			thin(at(c, x, y, o.XLo, o.Y), at(c, x, y, o.XHi, o.Y))
		}
		if (Point{Lo: o.YLo, Hi: o.YHi}).interval() {
			thin(at(c, x, y, o.X, o.YLo), at(c, x, y, o.X, o.YHi))
		}
	}
	line := stairOf(points)
	for i := 1; i < len(line); i++ {
		thin(line[i-1], line[i])
	}
	return boxes
}
