package concurrency

import (
	"cmp"
	"time"
)

// ofLibrary returns the defaults of a rule's library.
func ofLibrary(rule string) Config {
	switch rule {
	case AIMD:
		return Config{Initial: 20, Min: 20, Max: 200, Drops: Shrink, BackoffRatio: 0.9, Timeout: 5 * time.Second}
	case Vegas:
		return Config{Initial: 20, Min: 1, Max: 1000, Drops: Shrink, Smoothing: 1, ProbeMultiplier: 30}
	case Gradient:
		return Config{
			Initial: 50, Min: 1, Max: 1000, Drops: Shrink, BackoffRatio: 0.9, Smoothing: 0.2, Tolerance: 2, QueueSize: 4,
			ProbeInterval: 1000,
		}
	case Gradient2:
		return Config{
			Initial: 20, Min: 20, Max: 200, Drops: Record, BackoffRatio: 0.9, Smoothing: 0.2, Tolerance: 1.5, QueueSize: 4,
			LongWindow: 600,
		}
	case Failsafe:
		return Config{Initial: 20, Min: 1, Max: 200, Drops: Ignore, BackoffRatio: 0.9, Adaptive: Adaptive{
			RecentMin: time.Second, RecentMax: 30 * time.Second, RecentSamples: 50, RecentQuantile: 0.9,
			BaselineWindow: 10, CorrelationWindow: 50, InflightFactor: 5,
		}}
	}
	return Config{}
}

// WithDefaults returns the configuration with each 0 that stands for a default spelled out. slots
// is what a static limit without Initial is.
func (c Config) WithDefaults(slots int) Config {
	if c.Rule == Static {
		c.Initial = cmp.Or(c.Initial, slots)
		c.Min, c.Max = c.Initial, c.Initial
		return c
	}
	d := ofLibrary(c.Rule)
	c.Signal, c.Drops = cmp.Or(c.Signal, Latency), cmp.Or(c.Drops, d.Drops)
	c.Initial, c.Min, c.Max = cmp.Or(c.Initial, d.Initial), cmp.Or(c.Min, d.Min), cmp.Or(c.Max, d.Max)
	c.BackoffRatio, c.Timeout = cmp.Or(c.BackoffRatio, d.BackoffRatio), cmp.Or(c.Timeout, d.Timeout)
	c.Smoothing, c.Tolerance = cmp.Or(c.Smoothing, d.Smoothing), cmp.Or(c.Tolerance, d.Tolerance)
	c.QueueSize, c.LongWindow = cmp.Or(c.QueueSize, d.QueueSize), cmp.Or(c.LongWindow, d.LongWindow)
	c.ProbeInterval, c.ProbeMultiplier = cmp.Or(c.ProbeInterval, d.ProbeInterval), cmp.Or(c.ProbeMultiplier, d.ProbeMultiplier)
	if w := &c.Window; w.Samples > 0 {
		w.Min, w.Max = cmp.Or(w.Min, time.Second), cmp.Or(w.Max, time.Second)
	}
	a, b := &c.Adaptive, d.Adaptive
	a.RecentMin, a.RecentMax = cmp.Or(a.RecentMin, b.RecentMin), cmp.Or(a.RecentMax, b.RecentMax)
	a.RecentSamples, a.RecentQuantile = cmp.Or(a.RecentSamples, b.RecentSamples), cmp.Or(a.RecentQuantile, b.RecentQuantile)
	a.BaselineWindow, a.CorrelationWindow = cmp.Or(a.BaselineWindow, b.BaselineWindow), cmp.Or(a.CorrelationWindow, b.CorrelationWindow)
	a.InflightFactor = cmp.Or(a.InflightFactor, b.InflightFactor)
	return c
}
