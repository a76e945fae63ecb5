package report

import "gonum.org/v1/plot/vg/draw"

// Phase draws where runs go in the plane of queued and orbiting calls. A run that heals comes back to where it began; one
// that does not stays far out.
func Phase(in PhaseInput) ([]byte, error) { return in.svg(in.Frame) }

func (in PhaseInput) frame() Frame { return in.Frame }
func (in PhaseInput) broad() bool  { return false }

func (in PhaseInput) svg(f Frame) ([]byte, error) {
	s := sheet{
		x: Axis{Label: or(in.XLabel, "queued calls")}, y: Axis{Label: or(in.YLabel, "calls in orbit (waiting to retry)")},
		fromZero: true, arrows: true,
		keys: []key{
			{name: "start", look: look{ink: inkText, shape: ring}},
			{name: "end", look: look{ink: inkText, shape: square}},
		},
	}
	for i, path := range in.Paths {
		st := strand{look: lookOf(i)}
		for k := range min(len(path.Queued), len(path.Orbit)) {
			st.points = append(st.points, Point{X: path.Queued[k], Y: path.Orbit[k]})
		}
		s.strands, s.names = append(s.strands, st), append(s.names, path.Name)
	}
	s.over = func(c draw.Canvas, x, y scale) {
		for i := len(s.strands) - 1; i >= 0; i-- {
			var ends []Point
			for _, p := range s.strands[i].points {
				if drawable(p, x, y) {
					ends = append(ends, p)
				}
			}
			if len(ends) == 0 {
				continue
			}
			first, last := ends[0], ends[len(ends)-1]
			g := draw.GlyphStyle{Color: s.strands[i].look.ink, Radius: 4.5, Shape: square}
			c.DrawGlyphNoClip(g, at(c, x, y, last.X, last.Y))
			g.Shape, g.Radius = ring, 6
			c.DrawGlyphNoClip(g, at(c, x, y, first.X, first.Y))
		}
	}
	return s.svg(f)
}
