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

// stepped says whether one change from one level to another tells more of a series than a line does: what is left
// over (the sum of distances) is less by a quarter. at is the place of the first point after it.
func stepped(points []point, line trend) (at int, yes bool) {
	n := len(points)
	slant := 0.0
	for _, p := range points {
		slant += math.Abs(p.x - (line.start + line.slope*(p.t-points[0].t)))
	}
	best := math.Inf(1)
	const least = 3 // points on either side
	for i := least; i <= n-least; i++ {
		if rest := around(points[:i]) + around(points[i:]); rest < best {
			best, at = rest, i
		}
	}
	return at, best < 0.75*slant
}

// around returns the sum of distances from the median.
func around(points []point) float64 {
	xs := values(points)
	m := median(xs)
	sum := 0.0
	for _, x := range xs {
		sum += math.Abs(x - m)
	}
	return sum
}

// levelsOff says whether a series goes the way of its trend at less than 40 % of the pace in its second half as in its first.
func levelsOff(points []point, line trend) bool {
	way := math.Copysign(1, line.slope)
	half := len(points) / 2
	first, second := way*trendOf(points[:half]).slope, way*trendOf(points[half:]).slope
	return second < 0.4*max(first, 0)
}
