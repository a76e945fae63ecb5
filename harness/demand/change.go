package demand

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// Never is the instant of a change that does not come.
const Never = time.Duration(math.MaxInt64)

// How often a level that moves all the time is looked at.
const (
	lookMin  = time.Second
	lookMax  = time.Minute
	perCycle = 1440 // looks in a cycle, if it is short: a minute of a day
	perRamp  = 100  // looks in a stage
)

// NextChange returns the next instant after t at which the level should be looked at again: it jumps there,
// begins or ceases to move, or it moves and some time has passed. It is [Never] if the level stays as it is
// for ever.
func (c *Config) NextChange(t time.Duration) time.Duration {
	next := c.nextBreak(t)
	every := Never
	if over := c.ramp(t); over > 0 {
		every = min(lookMax, over/perRamp)
	}
	if c.Daily.On() {
		every = min(every, lookMax, c.Daily.period()/perCycle)
	}
	if every < Never {
		next = min(next, t+max(every, lookMin))
	}
	return next
}

// nextBreak returns the next instant after t at which the level is not smooth, or Never.
func (c *Config) nextBreak(t time.Duration) time.Duration {
	next, end := Never, time.Duration(0)
	for i := range c.Stages {
		if end += c.Stages[i].Over; end > t {
			next = end
			break
		}
	}
	for i := range c.Spikes {
		next = min(next, c.Spikes[i].next(t))
	}
	return next
}

// next returns the next instant after t at which the spike begins or ends, or Never.
func (s *Spike) next(t time.Duration) time.Duration {
	first := s.first()
	if t < first {
		return first
	}
	round := time.Duration(0) // when the one that began last began
	if s.Every > 0 {
		round = (t - first) / s.Every * s.Every
	}
	switch begin := first + round; {
	case t < begin+s.Lasts:
		return begin + s.Lasts
	case s.Every > 0:
		return begin + s.Every
	}
	return Never
}

// ramp returns the length of the stage under way at t if the level moves in it, else 0.
func (c *Config) ramp(t time.Duration) time.Duration {
	level := c.base()
	for i := range c.Stages {
		s := &c.Stages[i]
		if t < s.Over {
			if s.Step || s.To == level {
				return 0
			}
			return s.Over
		}
		t -= s.Over
		level = s.To
	}
	return 0
}

// blockMax bounds the stretch of time for which one bound of the level is used.
const blockMax = time.Hour

// NextArrival returns when the next task after t arrives, drawn from an open loop, or [Never]. The
// arrivals are a Poisson process whose rate follows the level.
//
// It is drawn by thinning: candidates come at a rate that the level does not exceed, and each is taken
// with the share that the level is of that. Where the bound changes the draw begins anew, which makes no
// difference to a process without memory.
func (c *Config) NextArrival(t time.Duration, draw *sim.Stream) time.Duration {
	for t < lengthMax*10 {
		end := min(c.nextBreak(t), t+blockMax)
		bound := max(c.stagesAt(t), c.stagesAt(end-1)) * c.spikesAt(t) / 3600 // a second
		if bound <= 0 {
			if next := c.nextBreak(t); next == Never {
				return Never
			}
			t = end
			continue
		}
		for t < end {
			gap := -math.Log1p(-draw.Float64()) / bound * float64(time.Second)
			if gap >= float64(end-t) {
				t = end
				break
			}
			t += time.Duration(gap)
			if draw.Float64()*bound*3600 < c.Level(t) {
				return t
			}
		}
	}
	return Never
}

// spikesAt returns by how much the spikes multiply the level at t.
func (c *Config) spikesAt(t time.Duration) float64 {
	times := 1.0
	for i := range c.Spikes {
		if c.Spikes[i].on(t) {
			times *= c.Spikes[i].Times
		}
	}
	return times
}
