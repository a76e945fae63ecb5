package diagnose

import (
	"cmp"
	"math"
	"slices"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// linePair is an attempt and an open line of the log, by their places in the evidence.
type linePair struct{ call, line int }

// sizeFit says how large a request of the agents is in the log's unit. A body has a part of the same
// length in each, such as the tools, besides its prompt.
type sizeFit struct{ slope, offset float64 }

// Bounds of what is compared.
const (
	sizeFitMin  = 8   // pairs, below which no fit is tried
	sizeFitMax  = 64  // pairs that a fit is made of
	sizeOff     = 1.5 // times larger or smaller than expected is another request
	sizeNearMax = 64  // lines that an attempt is compared with

	sizeShiftMax = 2 // requests at either end that the other side may lack when sizes are aligned
)

// sizes fits the sizes of the log's lines to the agents' estimates, the smallest to the smallest and so
// on, since which line is whose is what is asked. As some of either side may have no counterpart, a few
// alignments are tried, and the one counts that leaves the least. There is no fit if the log has no sizes,
// or all requests are of one.
func (l *routerLines) sizes(ev *harness.Evidence) (best sizeFit, ok bool) {
	open := ev.Router.Open
	if len(l.pairs) < sizeFitMin || slices.ContainsFunc(open, func(q harness.RouterRequest) bool { return q.Size <= 0 }) {
		return best, false
	}
	var x, y []float64
	for _, p := range l.pairs[:min(len(l.pairs), sizeFitMax)] {
		x, y = append(x, float64(ev.Calls[p.call].PromptTokens)), append(y, float64(open[p.line].Size))
	}
	slices.Sort(x)
	slices.Sort(y)
	least := math.Inf(1)
	for shift := range sizeShiftMax + 1 {
		for _, xy := range [][2][]float64{{x[shift:], y[:len(y)-shift]}, {x[:len(x)-shift], y[shift:]}} {
			if fit, rest, fits := theilSen(xy[0], xy[1]); fits && rest < least {
				best, least, ok = fit, rest, true
			}
		}
	}
	return best, ok
}

// theilSen fits a line by the medians of slopes and of offsets, which a few wrong pairs do not move, and
// says how far off the middle one of the points is.
func theilSen(x, y []float64) (fit sizeFit, rest float64, ok bool) {
	var slopes, offsets, rests []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	if len(slopes) < len(x) {
		return fit, 0, false
	}
	fit.slope = middle(slopes)
	for i := range x {
		offsets = append(offsets, y[i]-fit.slope*x[i])
	}
	fit.offset = middle(offsets)
	for i := range x {
		rests = append(rests, fit.off(int(x[i]), int64(y[i])))
	}
	return fit, middle(rests), fit.slope > 0
}

// middle returns the median.
func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// off says by which factor a line's size differs from what the agents sent, as a logarithm: 0 is the
// same.
func (f sizeFit) off(promptTokens int, size int64) float64 {
	return math.Abs(math.Log(float64(size) / max(1, f.offset+f.slope*float64(promptTokens))))
}

// pairBySize matches anew: of the lines that were started when an attempt was sent, it gets the one
// whose size is nearest to its own, the best match of all first. The matches give a better fit, and that
// the final ones.
func (l *routerLines) pairBySize(ev *harness.Evidence, order []int, fit sizeFit) {
	near := l.near(ev, order)
	var x, y []float64
	for _, p := range nearest(ev, near, fit) {
		x, y = append(x, float64(ev.Calls[p.call].PromptTokens)), append(y, float64(ev.Router.Open[p.line].Size))
	}
	n := min(len(x), sizeFitMax)
	if better, _, ok := theilSen(x[:n], y[:n]); ok {
		fit = better
	}
	clear(l.matched)
	for _, i := range order {
		l.of[i] = without(&ev.Calls[i], ev.Router)
	}
	for _, p := range nearest(ev, near, fit) {
		l.of[p.call] = lineStarted
		l.matched[ev.Router.Open[p.line].ID] = true
	}
	l.bySize = true
}

// near lists the attempts with the lines that were started when they were sent.
func (l *routerLines) near(ev *harness.Evidence, order []int) []linePair {
	open := ev.Router.Open
	var near []linePair
	for _, i := range order {
		c := &ev.Calls[i]
		from, _ := slices.BinarySearchFunc(open, c.Sent, func(q harness.RouterRequest, t sim.Instant) int { return cmp.Compare(q.Since.Add(logSlack), t) })
		for j := from; j < len(open) && j < from+sizeNearMax && open[j].Since <= c.Sent.Add(logSlack); j++ {
			near = append(near, linePair{i, j})
		}
	}
	return near
}

// nearest picks pairs, those whose sizes agree best first, each attempt and each line once.
func nearest(ev *harness.Evidence, near []linePair, fit sizeFit) []linePair {
	type candidate struct {
		linePair
		off float64
	}
	var all []candidate
	for _, p := range near {
		if off := fit.off(ev.Calls[p.call].PromptTokens, ev.Router.Open[p.line].Size); off <= math.Log(sizeOff) {
			all = append(all, candidate{p, off})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.off, b.off) })
	calls, lines := make([]bool, len(ev.Calls)), make([]bool, len(ev.Router.Open))
	var picked []linePair
	for _, c := range all {
		if !calls[c.call] && !lines[c.line] {
			calls[c.call], lines[c.line] = true, true
			picked = append(picked, c.linePair)
		}
	}
	return picked
}
