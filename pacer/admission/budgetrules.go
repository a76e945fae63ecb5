package admission

import "example.com/wedge/harness/sim"

// ratio is [BudgetSRE].
type ratio struct {
	c BudgetConfig
	n buckets // a: calls, b: retries
}

func newRatio(c BudgetConfig) *ratio { return &ratio{c: c, n: newBuckets(c.Window, 10)} }

func (r *ratio) sent(now sim.Instant, kind Kind) {
	if kind == First {
		r.n.add(now, 1, 0)
	}
}

func (r *ratio) take(now sim.Instant, _ Cause, attempts int) (float64, bool) {
	if attempts >= r.c.MaxAttempts || r.level(now) < 1 {
		return 0, false
	}
	r.n.add(now, 0, 1)
	return 1, true
}

func (r *ratio) level(now sim.Instant) float64 {
	calls, retries := r.n.sums(now)
	return max(0, r.c.RetryRatio*float64(calls)-float64(retries))
}

func (r *ratio) giveBack(now sim.Instant, _ float64) { r.n.add(now, 0, -1) }
func (r *ratio) ended(sim.Instant, Result)           {}
func (r *ratio) closed()                             {}
