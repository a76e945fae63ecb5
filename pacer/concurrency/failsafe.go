package concurrency

import (
	"math"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// failsafe is the adaptive limiter of failsafe-go 0.9.8: Vegas by a quantile of the round-trip times
// of a window, against their average over windows, and with a brake. The library's t-digest is exact
// for a few dozen samples; here all samples of a window are kept.
type failsafe struct {
	estimate
	c     Adaptive
	ratio float64

	next     sim.Instant // the limit is looked at after this
	recent   []float64   // round-trip times of the window, in ns
	inflight int         // the most of the window
	median   []float64   // the last few quantiles, in the order in which they came
	smooth   average
	base     average

	// One reading a window, for the brake:
	inflights, throughputs, rtts []float64
}

// Windows over which the library smooths, and which it does not let one choose.
const (
	smoothedWindows = 5
	warmUpWindows   = 10
)

func newFailsafe(c Config, at estimate) *failsafe {
	return &failsafe{
		estimate: at, c: c.Adaptive, ratio: c.BackoffRatio,
		smooth: newAverage(smoothedWindows, warmUpWindows), base: newAverage(c.Adaptive.BaselineWindow, warmUpWindows),
	}
}

func (f *failsafe) update(now sim.Instant, r reading) {
	if r.drop { // the library ignores drops: Drops says shrink
		f.set(f.value * f.ratio)
	} else {
		f.recent = append(f.recent, float64(r.rtt))
		f.inflight = max(f.inflight, r.inflight)
	}
	f.pass(now, r.full)
}

// pass ends the window if it is time.
func (f *failsafe) pass(now sim.Instant, full bool) {
	if now <= f.next || len(f.recent) < f.c.RecentSamples {
		return
	}
	slices.Sort(f.recent)
	rtt := f.smooth.add(f.filter(quantile(f.recent, f.c.RecentQuantile)))
	f.move(rtt, full)
	least := time.Duration(f.recent[0])
	f.next = now.Add(min(max(2*least, f.c.RecentMin), f.c.RecentMax))
	f.recent, f.inflight = f.recent[:0], 0
}

// filter returns the median of the last five quantiles; while there are fewer, the newest itself.
func (f *failsafe) filter(x float64) float64 {
	f.median = push(f.median, x, smoothedWindows)
	if len(f.median) < smoothedWindows {
		return x
	}
	sorted := slices.Sorted(slices.Values(f.median))
	return sorted[smoothedWindows/2]
}

// move sets the limit after a window.
func (f *failsafe) move(rtt float64, full bool) {
	inflight := float64(f.inflight)
	queue := math.Ceil(f.value * (1 - f.base.add(rtt)/rtt))
	f.inflights = push(f.inflights, inflight, f.c.CorrelationWindow)
	f.throughputs = push(f.throughputs, inflight/rtt, f.c.CorrelationWindow)
	f.rtts = push(f.rtts, rtt, f.c.CorrelationWindow)

	step := log10(math.Floor(f.value))
	to := f.value
	switch {
	case queue > 6*step || full && f.overloaded():
		to -= step
	case queue < 3*step:
		to += step
	}
	if most := inflight * f.c.InflightFactor; to > most {
		if f.value > most {
			to = f.value - step // not at once: calls in flight come and go
		} else {
			to = most
		}
	}
	f.set(to)
}

// overloaded says that more in flight has of late meant longer calls rather than more of them.
func (f *failsafe) overloaded() bool {
	throughput, cv := correlation(f.inflights, f.throughputs)
	rtt, _ := correlation(f.inflights, f.rtts)
	return throughput < 0 || (throughput < 0.3 || cv < 0.2) && rtt > 0.5
}

// push appends x, and drops the oldest value if there are more than most then.
func push(xs []float64, x float64, most int) []float64 {
	xs = append(xs, x)
	if len(xs) > most {
		xs = slices.Delete(xs, 0, 1)
	}
	return xs
}

// quantile interpolates between the two sorted values around q, each taken for the middle of its
// share (Hazen).
func quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	at := q*float64(n) - 0.5
	below := int(math.Floor(at))
	if below < 0 {
		return sorted[0]
	}
	if below >= n-1 {
		return sorted[n-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// variesMin is the coefficient of variation below which values count as constant.
const variesMin = 0.01

// correlation returns Pearson's correlation of x and y, and the coefficient of variation of y. Both are
// 0 while there are few values; the correlation is also if one of them hardly varies.
func correlation(x, y []float64) (corr, cvY float64) {
	if len(x) < warmUpWindows {
		return 0, 0
	}
	meanX, varX := moments(x)
	meanY, varY := moments(y)
	if meanX == 0 || meanY == 0 {
		return 0, 0
	}
	cvX, cvY := math.Sqrt(varX)/meanX, math.Sqrt(varY)/meanY
	if cvX < variesMin || cvY < variesMin {
		return 0, cvY
	}
	sum := 0.0
	for i := range x {
		sum += (x[i] - meanX) * (y[i] - meanY)
	}
	return sum / float64(len(x)) / math.Sqrt(varX*varY), cvY
}

func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(xs))
}
