package admission

import "example.com/wedge/harness/sim"

// inflight is [BudgetEnvoy] and [BudgetFailsafe], which look at what is under way.
type inflight struct {
	c        BudgetConfig
	calls    int // under way: the first attempt was sent, and the call is not over
	attempts int // under way
	extra    int // retries and hedges, from their permission to their end
}

func (f *inflight) sent(_ sim.Instant, kind Kind) {
	f.attempts++
	if kind == First {
		f.calls++
	}
}

func (f *inflight) ended(_ sim.Instant, r Result) {
	f.attempts--
	if r.Kind != First {
		f.extra--
	}
}

func (f *inflight) closed() { f.calls-- }

func (f *inflight) take(sim.Instant, Cause, int) (float64, bool) {
	if !f.allows() {
		return 0, false
	}
	f.extra++
	return 1, true
}

func (f *inflight) allows() bool {
	if f.c.Rule == BudgetEnvoy {
		return f.extra < f.envoyMost()
	}
	if f.extra < f.c.MinConcurrency {
		return true
	}
	// Compared before the new one is counted, as the library does: the share ends up above the rate
	// by one at most. Nothing under way is a share of 0.
	return float64(f.extra) <= f.c.MaxRate*float64(f.calls+f.extra)
}

// envoyMost is how many retries may be under way. The share of the attempts is cut to a whole number.
func (f *inflight) envoyMost() int {
	return max(f.c.MinRetryConcurrency, int(f.c.BudgetPercent/100*float64(f.attempts)))
}

func (f *inflight) giveBack(sim.Instant, float64) { f.extra-- }

func (f *inflight) level(sim.Instant) float64 {
	most := float64(f.envoyMost())
	if f.c.Rule == BudgetFailsafe {
		most = max(float64(f.c.MinConcurrency), f.c.MaxRate*float64(f.calls+f.extra))
	}
	return max(0, most-float64(f.extra))
}
