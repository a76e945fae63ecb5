package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Slots draws what the server's slots are doing over time, stacked, with what waits for one on top.
func Slots(in SlotsInput) ([]byte, error) { return in.svg(in.Frame) }

func (in SlotsInput) frame() Frame { return in.Frame }
func (in SlotsInput) broad() bool  { return true }

// layer is one area of a stack.
type layer struct {
	name   string
	ink    ink
	alpha  float64
	values []float32
}

func (in SlotsInput) layers() []layer {
	return []layer{
		{"useful", inkSeries, 0.85, in.Useful},
		{"zombie: the client has gone", inkSeries + 1, 0.85, in.Zombie},
		{"idle: taken, and nothing comes", inkOther, 0.75, in.Idle},
		{"queued, without a slot", inkSeries + 3, 0.45, in.Queued},
	}
}

func (in SlotsInput) svg(f Frame) ([]byte, error) {
	layers := in.layers()
	length := 0
	var keys []key
	for _, l := range layers {
		length = max(length, len(l.values))
		keys = append(keys, key{name: l.name, look: look{ink: l.ink}, box: true, alpha: l.alpha})
	}
	taken := look{ink: inkText, width: 1.4}
	keys = append(keys, key{name: "slots taken", look: taken})
	var there []Reference
	if in.Slots > 0 && finite(in.Slots) {
		there = []Reference{{Name: "slots there are: " + digits(in.Slots), At: in.Slots}}
		keys = append(keys, referenceKeys(there)...)
	}
	if length == 0 {
		return empty(f, "no slots were watched")
	}
	pic := begin(f, append(keys, shadeKeys(in.Triggers)...), 280)
	every := in.EveryS
	if !finite(every) || every <= 0 {
		every = 1
	}
	ex, ey := extent{}, extent{room: true}
	ey.add(0)
	ex.addBound(in.StartS)
	ex.addBound(in.StartS + float64(length-1)*every)
	edges := make([][]Point, len(layers)+1) // edges[i] lies under layer i
	for i := range length {
		x, sum := in.StartS+float64(i)*every, 0.0
		edges[0] = append(edges[0], Point{X: x})
		for k, l := range layers {
			if i < len(l.values) && finite(float64(l.values[i])) {
				sum += max(0, float64(l.values[i]))
			}
			edges[k+1] = append(edges[k+1], Point{X: x, Y: sum})
		}
		ey.addBound(sum)
	}
	for _, r := range there {
		ey.addBound(r.At)
	}
	x, y := ex.scale("s", map[bool]int{true: 4, false: 10}[narrow(f)]), ey.scale("", 5)
	a := axes(x, y)
	a.Add(plotter(func(c draw.Canvas) {
		drawShades(c, x, in.Triggers)
		for k, l := range layers {
			area(c, x, y, edges[k], edges[k+1], wash{l.ink, l.alpha})
		}
		strand{points: edges[3], look: taken}.draw(c, x, y)
		drawReferences(c, x, y, there)
	}))
	drawPlot(a, yLabel(pic.area, "slots and waiting calls", ""), "time")
	return pic.finish()
}

// area fills between two edges.
func area(c draw.Canvas, x, y scale, low, high []Point, w wash) {
	line := func(edge []Point) (out []vg.Point) {
		for _, p := range edge {
			out = append(out, at(c, x, y, p.X, p.Y))
		}
		return decimate(out)
	}
	outline, back := line(high), line(low)
	for i := len(back) - 1; i >= 0; i-- {
		outline = append(outline, back[i])
	}
	c.FillPolygon(inkPaper, outline) // nothing shines through
	c.FillPolygon(w, outline)
}

// at is the place of a point of the data.
func at(c draw.Canvas, x, y scale, px, py float64) vg.Point {
	return vg.Point{X: c.X(x.Normalize(0, 0, px)), Y: c.Y(y.Normalize(0, 0, py))}
}
