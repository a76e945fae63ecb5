package series

import "example.com/wedge/harness/sim"

// level is a number that changes, averaged over a window.
type level struct {
	value int
	max   int
	since sim.Instant
	sum   float64 // value times nanoseconds, from the window's start up to since
}

// set changes the number at an instant, which must not lie before that of the latest change.
func (l *level) set(value int, now sim.Instant) {
	l.sum += float64(l.value) * float64(now.Sub(l.since))
	l.value, l.since = value, now
	l.max = max(l.max, value)
}

// seconds returns the number times seconds, from the window's start up to now.
func (l *level) seconds(now sim.Instant) float64 {
	return (l.sum + float64(l.value)*float64(now.Sub(l.since))) / 1e9
}

// level returns what it was from an instant, the window's start, to another, which is now.
func (l *level) level(from, now sim.Instant) Level {
	out := Level{Mean: float64(l.value), Max: l.max, Last: l.value}
	if now > from {
		out.Mean = l.seconds(now) / now.Sub(from).Seconds()
	}
	return out
}

// next starts a window.
func (l *level) next(now sim.Instant) {
	l.sum, l.since, l.max = 0, now, l.value
}
