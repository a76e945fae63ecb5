package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines draws a plain picture of lines as an SVG that stands alone. The error is of writing only; odd data are no error.
func Lines(in LinesInput) ([]byte, error) { return in.svg(in.Frame) }

func (in LinesInput) frame() Frame { return in.Frame }
func (in LinesInput) broad() bool  { return false }

func (in LinesInput) svg(f Frame) ([]byte, error) {
	s := sheet{marked: in.Markers, x: in.X, y: in.Y, references: in.References, shades: in.Shades}
	for i, c := range in.Curves {
		s.strands = append(s.strands, strand{points: c.Points, look: lookOf(i), steps: in.Steps, markers: in.Markers, band: true})
		s.names = append(s.names, named(c.Name, c.N))
	}
	return s.svg(f)
}

// Sweep draws one curve a scenario over the values of a parameter, with its interval as a band.
func Sweep(in SweepInput) ([]byte, error) { return in.svg(in.Frame) }

func (in SweepInput) frame() Frame { return in.Frame }
func (in SweepInput) broad() bool  { return false }

func (in SweepInput) svg(f Frame) ([]byte, error) {
	lines := LinesInput{X: in.X, Y: in.Y, Curves: in.Curves, Markers: true}
	if in.ShippedX != 0 && finite(in.ShippedX) {
		lines.References = []Reference{{Name: "shipped: " + number(in.ShippedX, in.X.Unit), At: in.ShippedX, Vertical: true}}
	}
	return lines.svg(f)
}

// Load draws goodput against offered load: solid while load rises, dashed while it falls. Where the two differ, the fleet
// did not heal at the load at which it broke.
func Load(in LoadInput) ([]byte, error) { return in.svg(in.Frame) }

func (in LoadInput) frame() Frame { return in.Frame }
func (in LoadInput) broad() bool  { return false }

func (in LoadInput) svg(f Frame) ([]byte, error) {
	s := sheet{x: in.X, y: in.Y}
	if in.X == (Axis{}) && in.Y == (Axis{}) {
		s = sheet{x: Axis{Label: "offered load", Unit: in.Unit}, y: Axis{Label: "goodput", Unit: in.Unit}, arrows: true, diagonal: true}
	}
	falls := false
	var names []string
	for i, r := range in.Ramps {
		l := lookOf(i)
		l.dashes = nil
		s.strands = append(s.strands, strand{points: r.Up, look: l, markers: true})
		names = append(names, named(r.Name, r.N))
		falls = falls || len(r.Down) > 0
	}
	for i, r := range in.Ramps {
		l := lookOf(i)
		l.dashes = []vg.Length{4, 3}
		s.strands = append(s.strands, strand{points: r.Down, look: l, markers: true})
	}
	for _, k := range keysOf(names) {
		k.look.dashes = nil // here a dash says which way the load goes
		s.keys = append(s.keys, k)
	}
	if s.diagonal {
		s.keys = append(s.keys, key{name: "all that is offered", look: look{ink: inkLine, width: 1}})
	}
	if falls {
		s.keys = append(s.keys, key{name: or(in.UpName, "load rising"), look: look{ink: inkText, width: 1.5}},
			key{name: or(in.DownName, "load falling"), look: look{ink: inkText, width: 1.5, dashes: []vg.Length{4, 3}}})
	}
	if in.Capacity > 0 && finite(in.Capacity) {
		s.references = append(s.references, Reference{Name: "capacity " + number(in.Capacity, in.Unit), At: in.Capacity})
	}
	return s.svg(f)
}

// sheet is a picture of strands on two axes: what most pictures are once their data are turned into points.
type sheet struct {
	x, y       Axis
	strands    []strand
	names      []string // of the first strands, for the legend
	keys       []key    // further entries of the legend
	references []Reference
	shades     []Shade
	marked     bool                            // strands carry markers, and so does the legend
	arrows     bool                            // the middle of each strand shows which way it goes
	diagonal   bool                            // y = x
	fromZero   bool                            // both axes reach to 0 whatever the data
	yTop, yLow float64                         // that y reaches at least; 0: as the data do
	over       func(c draw.Canvas, x, y scale) // drawn on top
}

func (s sheet) svg(f Frame) ([]byte, error) {
	x, y, odd := s.scales(narrow(f))
	if odd > 0 {
		f.Note = join(f.Note, fmt.Sprintf("%d values have no place here and are left out", odd))
	}
	keys := keysOf(s.names)
	for i := range keys {
		if !s.marked {
			keys[i].look.shape = nil
		}
	}
	keys = append(keys, s.keys...)
	keys = append(keys, referenceKeys(s.references)...)
	keys = append(keys, shadeKeys(s.shades)...)
	if !s.drawable(x, y) {
		return empty(f, "nothing was measured that could be drawn")
	}
	p := begin(f, keys, 300)
	area := yLabel(p.area, s.y.Label, s.y.Unit)
	a := axes(x, y)
	a.Add(plotter(func(c draw.Canvas) { s.data(c, x, y) }))
	drawPlot(a, area, withUnit(s.x.Label, s.x.Unit))
	return p.finish()
}

// scales fits both axes to what is to be seen, and counts what cannot be.
func (s sheet) scales(small bool) (x, y scale, odd int) {
	ex, ey := extent{log: s.x.Log}, extent{log: s.y.Log, room: s.yTop == 0}
	for _, st := range s.strands {
		for _, p := range st.points {
			ex.add(p.X)
			ey.add(p.Y)
			if p.interval() {
				ey.addBound(p.Lo)
				ey.addBound(p.Hi)
			}
		}
	}
	odd = ex.odd + ey.odd
	for _, r := range s.references {
		if r.Vertical {
			ex.addBound(r.At)
		} else {
			ey.addBound(r.At)
		}
	}
	if s.fromZero {
		ex.addBound(0)
		ey.addBound(0)
	}
	for _, bound := range []float64{s.yTop, s.yLow} {
		if bound > 0 {
			ey.addBound(bound)
		}
	}
	ticks := 7
	if small {
		ticks = 4
	}
	return ex.scale(s.x.Unit, ticks), ey.scale(s.y.Unit, 5), odd
}

// drawable says that at least one point can be seen.
func (s sheet) drawable(x, y scale) bool {
	for _, st := range s.strands {
		for _, p := range st.points {
			if drawable(p, x, y) {
				return true
			}
		}
	}
	return false
}

// data draws shades, references, the many in the background, the few in front.
func (s sheet) data(c draw.Canvas, x, y scale) {
	drawShades(c, x, s.shades)
	if s.diagonal {
		low, high := max(x.low, y.low), min(x.high, y.high)
		if low < high {
			strand{points: []Point{{X: low, Y: low}, {X: high, Y: high}}, look: look{ink: inkLine, width: 1}}.draw(c, x, y)
		}
	}
	drawReferences(c, x, y, s.references)
	// The many lie behind; of the named, dashes lie on what is solid, so that curves on top of each other both show.
	for _, front := range []bool{false, true} {
		for _, st := range s.strands {
			if front == (st.look.ink == inkOther) {
				continue
			}
			st.draw(c, x, y)
			if s.arrows {
				st.arrow(c, x, y)
			}
		}
	}
	if s.over != nil {
		s.over(c, x, y)
	}
}

// join puts two notes after each other.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
