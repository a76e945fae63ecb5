package series

import "math"

// segments is into how many parts a series is cut to see whether it goes one way all the time.
const segments = 6

// steady says whether a series goes the way of its trend all the time: of the medians of its six parts, none goes back by more
// than a third of the whole way, and at least three of the five steps go forth. A saw-tooth does not, whose trend is but
// where it was when it was looked at.
func steady(points []point) bool {
	n := len(points)
	var m [segments]float64
	for i := range m {
		m[i] = median(values(points[i*n/segments : (i+1)*n/segments]))
	}
	way := m[segments-1] - m[0]
	forth := 0
	for i := 1; i < segments; i++ {
		switch step := (m[i] - m[i-1]) / way; {
		case step < -1./3:
			return false
		case step > 0:
			forth++
		}
	}
	return way != 0 && forth >= 3
}

// stepPMax is less strict than that of a trend, since a step must explain a series better than a trend does as well.
const stepPMax = 0.001

// stepped says whether one change from one level to another tells more of a series than a line does: what is left
// over (the sum of distances) is less by a quarter, and the change is clear of noise (Pettitt's test). at is the
// place of the first point after it.
func stepped(points []point, line trend) (at int, yes bool) {
	at, rest := bestStep(points)
	if rest >= 0.75*total(line.around(points)) {
		return 0, false
	}
	n, k := float64(len(points)), 0
	for _, p := range points[:at] {
		for _, q := range points[at:] {
			switch {
			case q.x > p.x:
				k++
			case q.x < p.x:
				k--
			}
		}
	}
	p := 2 * math.Exp(-6*float64(k)*float64(k)/(n*n*n+n*n)/line.factor)
	return at, p < stepPMax
}

// bestStep returns where a change from one level to another leaves least over, and how much.
func bestStep(points []point) (at int, rest float64) {
	const least = 3 // points on either side
	rest = math.Inf(1)
	for i := least; i <= len(points)-least; i++ {
		if r := total(fromMedian(points[:i])) + total(fromMedian(points[i:])); r < rest {
			rest, at = r, i
		}
	}
	return at, rest
}

// noise returns what is left of a series when what it does is taken off: its trend; or, where one of these tells
// much more of it than a line, a step or a line with a bend in the middle. Else the shape itself would pass for
// values that depend on those before them.
func noise(points []point, line trend) []float64 {
	straight, n := line.around(points), len(points)
	if n < pointsMin {
		return straight
	}
	all := total(straight)
	if at, rest := bestStep(points); rest < 0.75*all {
		return append(fromMedian(points[:at]), fromMedian(points[at:])...)
	}
	if bent := append(fromLine(points[:n/2]), fromLine(points[n/2:])...); total(bent) < 0.5*all {
		return bent
	}
	return straight
}

// fromLine returns how far each value is above a line through the medians of the first and last thirds.
func fromLine(points []point) []float64 {
	third := max(len(points)/3, 1)
	first, last := points[:third], points[len(points)-third:]
	line := trend{}
	if t0, t1 := median(times(first)), median(times(last)); t1 > t0 {
		line.slope = (median(values(last)) - median(values(first))) / (t1 - t0)
	}
	return line.around(points)
}

// fromMedian returns how far each value is above the median.
func fromMedian(points []point) []float64 {
	xs := values(points)
	m := median(values(points))
	for i := range xs {
		xs[i] -= m
	}
	return xs
}

// total returns the sum of distances from 0 of what lies around it.
func total(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Abs(x)
	}
	return sum
}

// levelsOff says whether a series goes the way of its trend at less than 40 % of the pace in its second half as in its first,
// and clearly so.
func levelsOff(points []point, line trend) bool {
	half := len(points) / 2
	first, second := trendOf(points[:half]), trendOf(points[half:])
	if line.slope < 0 {
		return second.slope > 0.4*first.slope && second.low > first.slope
	}
	return second.slope < 0.4*first.slope && second.high < first.slope
}
