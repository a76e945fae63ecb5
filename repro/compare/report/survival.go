package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"example.com/wedge/repro/compare/stats"
)

// few is the number at risk below which a curve says little: from there it is drawn thin.
const few = 10

// CCDF draws the share that takes longer than t, both axes logarithmic. Those that never ended well count as longer than their
// time; a curve with such ones ends in a ring.
func CCDF(in CCDFInput) ([]byte, error) { return in.svg(in.Frame) }

func (in CCDFInput) frame() Frame { return in.Frame }
func (in CCDFInput) broad() bool  { return false }

func (in CCDFInput) svg(f Frame) ([]byte, error) {
	s := sheet{marked: true, x: Axis{Label: or(in.What, "time"), Unit: "s", Log: true}, y: Axis{Label: "share that takes longer", Unit: "%", Log: true}, yTop: 1}
	dropped := 0
	var curves []curve
	for i, sample := range in.Samples {
		c := curveOf(sample.TookS, sample.CensoredS)
		dropped += c.dropped
		s.names = append(s.names, c.name(sample.Name, "never"))
		solid, thin := c.strands(lookOf(i), true)
		s.strands = append(s.strands, solid, thin)
		curves = append(curves, c)
	}
	s.yLow = floor(curves)
	s.keys = curveKeys(curves, "never: failed, or not done by then")
	if dropped > 0 {
		f.Note = join(f.Note, fmt.Sprintf("%d times that are none are left out", dropped))
	}
	s.over = func(c draw.Canvas, x, y scale) { drawEnds(c, x, y, curves) }
	return s.svg(f)
}

// Recovery draws the share of runs that have not recovered by t after the trigger. Runs that never did keep their curve up:
// it ends in a plateau and a ring.
func Recovery(in RecoveryInput) ([]byte, error) { return in.svg(in.Frame) }

func (in RecoveryInput) frame() Frame { return in.Frame }
func (in RecoveryInput) broad() bool  { return false }

func (in RecoveryInput) svg(f Frame) ([]byte, error) {
	s := sheet{marked: true, x: Axis{Label: "time after the end of the trigger", Unit: "s"}, y: Axis{Label: "runs not yet recovered", Unit: "%"}, fromZero: true, yTop: 1}
	dropped := 0
	var curves []curve
	for i, g := range in.Groups {
		c := curveOf(g.AfterS, g.NeverS)
		dropped += c.dropped
		s.names = append(s.names, c.name(g.Name, "never"))
		solid, thin := c.strands(lookOf(i), false)
		s.strands = append(s.strands, solid, thin)
		curves = append(curves, c)
	}
	s.keys = curveKeys(curves, "never recovered while watched")
	if dropped > 0 {
		f.Note = join(f.Note, fmt.Sprintf("%d times that are none are left out", dropped))
	}
	s.over = func(c draw.Canvas, x, y scale) { drawEnds(c, x, y, curves) }
	return s.svg(f)
}

// curve is a Kaplan-Meier curve with where it ends.
type curve struct {
	stats.Survival
	lastS   float64 // when the last one ended or was last seen
	dropped int     // not numbers, or negative
}

// curveOf estimates the curve of what can be used.
func curveOf(took, censored []float64) curve {
	var times []stats.Time
	var c curve
	for i, list := range [][]float64{took, censored} {
		for _, s := range list {
			if !finite(s) || s < 0 {
				c.dropped++
				continue
			}
			times = append(times, stats.Time{Seconds: s, Censored: i == 1})
			c.lastS = max(c.lastS, s)
		}
	}
	c.Survival = stats.KaplanMeier(times)
	return c
}

// floor is a share below that of a single one of the largest group, so that no curve lies on the axis.
func floor(curves []curve) float64 {
	largest := 6
	for _, c := range curves {
		largest = max(largest, c.N)
	}
	return 0.6 / float64(largest)
}

// name adds n, and how many were censored.
func (c curve) name(name, word string) string {
	switch {
	case c.N == 0:
		return name + " (no data)"
	case c.Never > 0:
		return fmt.Sprintf("%s (n = %s, %s %s)", name, thousands(c.N), thousands(c.Never), word)
	}
	return named(name, c.N)
}

// strands are the curve and its thin tail. On a log axis it begins at its first step and does not fall to zero.
func (c curve) strands(l look, log bool) (solid, tail strand) {
	if c.N == 0 {
		return solid, tail
	}
	share, from := 1.0, 0.0
	if log {
		from = c.lastS
		if len(c.Steps) > 0 {
			from = c.Steps[0].Seconds
		}
	}
	points := []Point{{X: from, Y: 1}}
	thinFrom := -1
	for _, step := range c.Steps {
		if step.AtRisk < few && thinFrom < 0 && c.N > few {
			points = append(points, Point{X: step.Seconds, Y: share})
			thinFrom = len(points) - 1
		}
		if share = step.Survival; log && share <= 0 {
			share = points[len(points)-1].Y
		}
		points = append(points, Point{X: step.Seconds, Y: share})
	}
	points = append(points, Point{X: c.lastS, Y: share})
	drop := log && c.Survival.At(c.lastS) <= 0
	solid = strand{points: points, look: l, steps: true, drop: drop}
	if l.ink != inkOther {
		// Each at its own distance, so that markers of curves that run together do not meet.
		solid.sparse = 25 + 11*vg.Length(l.ink-inkSeries)
	}
	if thinFrom >= 0 {
		solid.points, solid.drop = points[:thinFrom+1], false
		l.width = 0.9
		tail = strand{points: points[thinFrom:], look: l, steps: true, drop: drop}
	}
	return solid, tail
}

// curveKeys explains the ring and the thin tail if there are any.
func curveKeys(curves []curve, word string) (keys []key) {
	rings, tails := false, false
	for _, c := range curves {
		rings = rings || c.Never > 0
		tails = tails || c.N > few
	}
	if rings {
		keys = append(keys, key{name: word, look: look{ink: inkText, shape: ring}})
	}
	if tails {
		keys = append(keys, key{name: fmt.Sprintf("thin: fewer than %d left", few), look: look{ink: inkText, width: 0.9}})
	}
	return keys
}

// drawEnds rings the end of each curve that was cut off.
func drawEnds(c draw.Canvas, x, y scale, curves []curve) {
	for i := len(curves) - 1; i >= 0; i-- {
		cv := curves[i]
		end := Point{X: cv.lastS, Y: cv.At(cv.lastS)}
		if cv.Never == 0 || end.Y <= 0 || !drawable(end, x, y) {
			continue
		}
		g := draw.GlyphStyle{Color: lookOf(i).ink, Radius: 4.5, Shape: ring}
		c.DrawGlyphNoClip(g, at(c, x, y, end.X, end.Y))
	}
}

// or is s, or what stands for nothing.
func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
