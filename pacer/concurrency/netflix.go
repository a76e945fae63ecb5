package concurrency

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// The rules of Netflix' concurrency-limits, as of 0.5.

// aimd adds one, and multiplies with less than one after a drop or a round-trip time above timeout. It
// grows only while at least half of it is in use.
type aimd struct {
	estimate
	ratio   float64
	timeout time.Duration
}

func (a *aimd) update(_ sim.Instant, r reading) {
	switch {
	case r.drop || r.rtt > a.timeout:
		a.set(math.Floor(a.value * a.ratio))
	case 2*float64(r.inflight) >= a.value:
		a.set(a.value + 1)
	}
}

// vegas estimates how many of those in flight wait in a queue, by the shortest round-trip time seen,
// and moves the limit so that they are some, but few.
type vegas struct {
	estimate
	smoothing  float64
	multiplier float64

	base   time.Duration // 0: not measured yet
	jitter float64       // of the next measurement of it, in [0.5, 1)
	since  int           // samples since the last one
}

func newVegas(c Config, at estimate, draw float64) *vegas {
	return &vegas{estimate: at, smoothing: c.Smoothing, multiplier: float64(c.ProbeMultiplier), jitter: 0.5 + draw/2}
}

func (v *vegas) update(_ sim.Instant, r reading) {
	v.since++
	if v.jitter*v.multiplier*v.value <= float64(v.since) {
		v.jitter, v.since, v.base = 0.5+r.draw/2, 0, r.rtt
		return
	}
	if v.base == 0 || r.rtt < v.base {
		v.base = r.rtt
		return
	}
	step := log10(v.value)
	queue := math.Ceil(v.value * (1 - float64(v.base)/float64(r.rtt)))
	to := v.value
	switch {
	case r.drop:
		to -= step
	case 2*float64(r.inflight) < v.value:
		return // not in use: neither up nor down
	case queue <= step:
		to += 6 * step
	case queue < 3*step:
		to += step
	case queue > 6*step:
		to -= step
	default:
		return
	}
	to = max(v.least, min(v.most, to))
	v.set((1-v.smoothing)*v.value + v.smoothing*to)
}

// log10 is the decimal logarithm of a limit, rounded down and at least 1.
func log10(limit float64) float64 { return max(1, math.Floor(math.Log10(limit))) }

// gradient multiplies the limit with how much longer than at best a call takes, and adds some room
// for a queue. Now and then it starts from low to measure the best anew.
type gradient struct {
	estimate
	ratio, smoothing, tolerance float64
	room                        float64 // the least
	interval                    int

	base  time.Duration // 0: not measured yet
	until int           // samples before it is measured anew
}

func newGradient(c Config, at estimate, draw float64) *gradient {
	g := &gradient{
		estimate: at, ratio: c.BackoffRatio, smoothing: c.Smoothing, tolerance: c.Tolerance,
		room: float64(c.QueueSize), interval: c.ProbeInterval,
	}
	g.until = g.countdown(draw)
	return g
}

func (g *gradient) countdown(draw float64) int { return g.interval + int(draw*float64(g.interval)) }

func (g *gradient) update(_ sim.Instant, r reading) {
	room := max(g.room, math.Floor(math.Sqrt(math.Floor(g.value))))
	if g.until <= 0 {
		g.until, g.base = g.countdown(r.draw), 0
		g.set(room)
		return
	}
	g.until--
	if g.base == 0 || r.rtt < g.base {
		g.base = r.rtt
	}
	slope := max(0.5, min(1, g.tolerance*float64(g.base)/float64(r.rtt)))
	to := g.value*slope + room
	switch {
	case r.drop:
		to = g.value * g.ratio
	case float64(r.inflight) < g.value/2:
		return // not in use: neither up nor down
	}
	if to < g.value {
		to = max(g.least, g.value*(1-g.smoothing)+g.smoothing*to)
	}
	g.set(max(room, to))
}

// gradient2 compares a round-trip time with the average over many, instead of the best.
type gradient2 struct {
	estimate
	ratio, smoothing, tolerance, room float64
	long                              average
}

// longWarmUp is over how many samples the long average is a plain mean.
const longWarmUp = 10

func newGradient2(c Config, at estimate) *gradient2 {
	return &gradient2{
		estimate: at, ratio: c.BackoffRatio, smoothing: c.Smoothing, tolerance: c.Tolerance,
		room: float64(c.QueueSize), long: newAverage(c.LongWindow, longWarmUp),
	}
}

func (g *gradient2) update(_ sim.Instant, r reading) {
	if r.drop { // the library has no such case: Drops says shrink
		g.set(g.value * g.ratio)
		return
	}
	short := float64(r.rtt)
	long := g.long.add(short)
	if long/short > 2 {
		g.long.value *= 0.95 // load is over: come down to what is normal faster than the average does
	}
	if float64(r.inflight) < g.value/2 {
		return // not in use: neither up nor down
	}
	slope := max(0.5, min(1, g.tolerance*long/short))
	g.set(g.value*(1-g.smoothing) + g.smoothing*(g.value*slope+g.room))
}

// average is an exponentially weighted mean that is a plain one during its first samples.
type average struct {
	warmUp int
	weight float64 // of a new sample
	n      int
	sum    float64
	value  float64
}

func newAverage(age, warmUp int) average {
	return average{warmUp: warmUp, weight: 2 / (float64(age) + 1)}
}

func (a *average) add(x float64) float64 {
	if a.n < a.warmUp {
		a.n++
		a.sum += x
		a.value = a.sum / float64(a.n)
	} else {
		a.value = a.value*(1-a.weight) + x*a.weight
	}
	return a.value
}
