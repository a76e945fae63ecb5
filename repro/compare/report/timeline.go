package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Timeline draws one run over time, panels above each other on one time axis, the trigger tinted.
func Timeline(in TimelineInput) ([]byte, error) { return in.svg(in.Frame) }

func (in TimelineInput) frame() Frame { return in.Frame }
func (in TimelineInput) broad() bool  { return true }

// Heights of a timeline's parts in CSS pixels.
const (
	panelPlot = 120
	panelFoot = 24 // tick labels of the time axis
)

func (in TimelineInput) svg(f Frame) ([]byte, error) {
	width := vg.Length(kept(f.WidthPx, widthDefault, 280, 2400)) - 2*margin
	panels := in.layout(width, narrow(f))
	if len(panels) == 0 {
		return empty(f, "nothing was measured over time")
	}
	body := vg.Length(30)
	for _, p := range panels {
		body += p.height
	}
	f.HeightPx = 0 // panels have the height they need
	pic := begin(f, append(shadeKeys(in.Triggers), referenceKeys(in.marks())...), body)
	left := vg.Length(0)
	for _, p := range panels {
		left = max(left, p.plot.DataCanvas(pic.area).Min.X-pic.area.Min.X)
	}
	area := pic.area
	for i, p := range panels {
		part, label := area, ""
		part.Min.Y = part.Max.Y - p.height
		if i == len(panels)-1 {
			label = "time"
			part.Min.Y = area.Min.Y
		}
		area.Max.Y = part.Min.Y
		part.Max.Y = drawLegend(part, p.legend, yLabel(part, p.Label, p.Unit).Max.Y+gap/2)
		own := p.plot.DataCanvas(part).Min.X - part.Min.X
		drawPlot(p.plot, draw.Crop(part, left-own, 0, 0, -gap/2), label)
	}
	return pic.finish()
}

// laid is a panel with its place.
type laid struct {
	Panel
	plot   *plot.Plot
	legend [][]placed
	height vg.Length
}

// layout makes the panels. A name has one look in all of them, as long as there are looks for all.
func (in TimelineInput) layout(width vg.Length, small bool) (panels []laid) {
	every := in.EveryS
	if !finite(every) || every <= 0 {
		every = 1
	}
	ex := extent{}
	for _, p := range in.Panels {
		for _, t := range p.Lines {
			for _, pt := range t.points(in.StartS, every) {
				ex.addBound(pt.X)
			}
		}
	}
	for _, t := range in.Triggers {
		if t.seen() && ex.seen {
			ex.addBound(t.FromX)
		}
	}
	var known []string
	for _, p := range in.Panels {
		if in.distinct() > seriesCount {
			known = nil // more than can be told apart: looks begin anew in each panel
		}
		var strands []strand
		var keys []key
		ey := extent{room: true}
		ey.add(0)
		for _, t := range p.Lines {
			i := indexOf(&known, t.Name)
			s := strand{points: t.points(in.StartS, every), look: lookOf(i)}
			for _, pt := range s.points {
				ey.addBound(pt.Y)
			}
			strands = append(strands, s)
			l := s.look
			l.shape = nil
			keys = append(keys, key{name: t.Name, look: l})
		}
		x, y := ex.scale("s", map[bool]int{true: 4, false: 10}[small]), ey.scale("", 3)
		a := axes(x, y)
		a.Add(plotter(func(c draw.Canvas) {
			sheet{strands: strands, shades: in.Triggers, references: in.marks()}.data(c, x, y)
		}))
		l := laid{Panel: p, plot: a, legend: layLegend(keys, width)}
		l.height = sizeText*leading + vg.Length(len(l.legend))*legendRow + panelPlot + panelFoot + gap
		panels = append(panels, l)
	}
	return panels
}

// marks are the marks, upright.
func (in TimelineInput) marks() []Reference {
	upright := append([]Reference(nil), in.Marks...)
	for i := range upright {
		upright[i].Vertical = true
	}
	return upright
}

// distinct is how many names there are.
func (in TimelineInput) distinct() int {
	var names []string
	for _, p := range in.Panels {
		for _, t := range p.Lines {
			indexOf(&names, t.Name)
		}
	}
	return len(names)
}

// points are the values of a track at their instants.
func (t Track) points(start, every float64) []Point {
	out := make([]Point, 0, len(t.Values))
	for i, v := range t.Values {
		out = append(out, Point{X: start + float64(i)*every, Y: float64(v)})
	}
	return out
}

// indexOf is where name stands among the known ones, to which it is added if it is new.
func indexOf(known *[]string, name string) int {
	for i, k := range *known {
		if k == name {
			return i
		}
	}
	*known = append(*known, name)
	return len(*known) - 1
}
