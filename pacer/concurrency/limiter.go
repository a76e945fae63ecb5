package concurrency

import (
	"time"

	"example.com/wedge/harness/sim"
)

// Sample is what an attempt was like that had a place among those in flight.
type Sample struct {
	// Latency is how long it took, from the start of the attempt to its end, however it ended.
	Latency time.Duration
	// FirstToken is how long it took to the first output; meaningful if Began.
	FirstToken time.Duration
	Began      bool // there was output
	Tokens     int  // of output
	// Inflight is how many were in flight when it started, itself included.
	Inflight int
	// Full says that no place is free now, itself still counted.
	Full bool
	// Dropped says that a time limit, the network or an overloaded server has ended it.
	Dropped bool
	// Canceled says that it tells nothing: the caller has left.
	Canceled bool
	// Draw is uniform in [0, 1). It spreads the instants at which some rules measure their base anew.
	Draw float64
}

// Limiter is a limit on calls in flight that is told how they ended. Make one with [New].
type Limiter struct {
	c      Config
	rule   rule
	window *window // nil: the rule sees every sample
}

// reading is what a rule gets to see of one sample, or of a window of them.
type reading struct {
	rtt      time.Duration
	inflight int
	full     bool
	drop     bool
	draw     float64
}

// rule moves a limit.
type rule interface {
	limit() float64
	update(now sim.Instant, r reading)
	// pass is told of the end of an attempt that tells nothing.
	pass(now sim.Instant, full bool)
}

// New returns a limiter under a valid configuration that is not off. slots is what a static limit
// without Initial is, and draw is uniform in [0, 1), as in [Sample].
func New(c Config, slots int, draw float64) *Limiter {
	c = c.WithDefaults(slots)
	l := &Limiter{c: c}
	at := estimate{value: float64(c.Initial), least: float64(c.Min), most: float64(c.Max)}
	switch c.Rule {
	case AIMD:
		l.rule = &aimd{estimate: at, ratio: c.BackoffRatio, timeout: c.Timeout}
	case Vegas:
		l.rule = newVegas(c, at, draw)
	case Gradient:
		l.rule = newGradient(c, at, draw)
	case Gradient2:
		l.rule = newGradient2(c, at)
	case Failsafe:
		l.rule = newFailsafe(c, at)
	default:
		l.rule = &static{estimate: at}
	}
	if c.Window.Samples > 0 {
		l.window = &window{c: c.Window}
	}
	return l
}

// Limit returns how many calls may be in flight: at least 1.
func (l *Limiter) Limit() int { return max(1, int(l.rule.limit())) }

// Signal returns what the limiter takes for a round-trip time.
func (l *Limiter) Signal() string { return l.c.Signal }

// Ended tells of an attempt that has ended, or, if the signal is [FirstToken], whose first output has
// come. Instants do not go back.
func (l *Limiter) Ended(now sim.Instant, s Sample) {
	r := reading{inflight: s.Inflight, full: s.Full, drop: s.Dropped && l.c.Drops != Record, draw: s.Draw}
	var known bool
	r.rtt, known = l.signal(s)
	if s.Canceled || !known || s.Dropped && l.c.Drops == Ignore {
		l.rule.pass(now, s.Full)
		return
	}
	if l.window != nil {
		var ready bool
		if r, ready = l.window.add(now, r); !ready {
			return
		}
	}
	l.rule.update(now, r)
}

// signal returns what stands for the round-trip time, if the sample has it. One that was cut off
// counts with what it had come to.
func (l *Limiter) signal(s Sample) (time.Duration, bool) {
	rtt, known := s.Latency, true
	switch {
	case l.c.Signal == FirstToken && s.Began:
		rtt = s.FirstToken
	case l.c.Signal == FirstToken:
		known = s.Dropped
	case l.c.Signal == PerToken:
		rtt /= time.Duration(max(1, s.Tokens))
		known = s.Dropped || s.Tokens > 0
	}
	return rtt, known && rtt > 0
}

// estimate is a limit between bounds.
type estimate struct{ value, least, most float64 }

func (e *estimate) limit() float64 { return e.value }

func (e *estimate) set(to float64) { e.value = max(e.least, min(e.most, to)) }

func (e *estimate) pass(sim.Instant, bool) {}

// static is a limit that stays.
type static struct{ estimate }

func (*static) update(sim.Instant, reading) {}

// window gathers samples for a rule, as Netflix' WindowedLimit does with its AverageSampleWindow. The
// end of a window is looked for when a sample comes, so that a window that no sample ends goes on.
type window struct {
	c       Window
	ends    sim.Instant
	samples int
	sum     time.Duration
	least   time.Duration // meaningful if there are samples
	reading reading       // without a round-trip time
}

func (w *window) add(now sim.Instant, r reading) (reading, bool) {
	if w.samples == 0 || r.rtt < w.least {
		w.least = r.rtt
	}
	w.samples++
	w.sum += r.rtt
	w.reading = reading{
		inflight: max(w.reading.inflight, r.inflight), drop: w.reading.drop || r.drop, full: r.full, draw: r.draw,
	}
	if now <= w.ends {
		return reading{}, false
	}
	out, ready := w.reading, w.samples >= w.c.Samples
	out.rtt = w.sum / time.Duration(w.samples)
	*w = window{c: w.c, ends: now.Add(min(max(2*w.least, w.c.Min), w.c.Max))}
	return out, ready
}
