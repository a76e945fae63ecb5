package soak

import (
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/series"
)

// Sampler reads what this process takes. Make one with [NewSampler].
type Sampler struct{}

// NewSampler returns a sampler. openBodies tells how many response bodies are open; nil: that is not known.
func NewSampler(openBodies func() int64) *Sampler { return &Sampler{} }

// Read returns a reading at an instant of the run's clock.
func (s *Sampler) Read(now sim.Instant) series.Process { return series.Process{AtS: now.Seconds()} }
