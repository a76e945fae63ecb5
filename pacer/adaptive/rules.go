package adaptive

import (
	"math"

	"example.com/wedge/harness/sim"
)

// rto is RFC 6298, sections 2.2 and 2.3.
type rto struct {
	granularity  float64
	srtt, rttvar float64
	samples      int
}

func (r *rto) add(_ sim.Instant, ns float64) {
	r.samples++
	if r.samples == 1 {
		r.srtt, r.rttvar = ns, ns/2
		return
	}
	// The order matters: the deviation is taken from the mean before this sample.
	r.rttvar = 0.75*r.rttvar + 0.25*math.Abs(r.srtt-ns)
	r.srtt = 0.875*r.srtt + 0.125*ns
}

func (r *rto) value(sim.Instant) (float64, int) {
	return r.srtt + max(r.granularity, 4*r.rttvar), r.samples
}

// moving is the Windowless Moving Percentile.
type moving struct {
	quantile, factor, step, alpha float64

	samples                  int
	estimate, mean, variance float64
}

func (m *moving) add(_ sim.Instant, ns float64) {
	m.samples++
	if m.samples == 1 {
		m.estimate, m.mean = ns, ns
		return
	}
	before := m.mean
	m.mean += m.alpha * (ns - m.mean)
	m.variance += m.alpha * ((ns-before)*(ns-m.mean) - m.variance)
	d := m.step * math.Sqrt(m.variance)
	switch {
	case ns < m.estimate:
		m.estimate -= d / m.quantile
	case ns > m.estimate:
		m.estimate += d / (1 - m.quantile)
	}
}

func (m *moving) value(sim.Instant) (float64, int) { return m.factor * m.estimate, m.samples }
