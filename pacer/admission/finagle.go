package admission

import (
	"math"

	"example.com/wedge/harness/sim"
)

// finagle is [BudgetFinagle]. It counts in thousandths of a deposit, as the original does, and cuts
// the cost of a retry to whole ones.
type finagle struct {
	cost  int64
	floor int64
	n     buckets // a: deposits, b: withdrawals
}

const (
	deposit   = 1000    // what a call brings
	floorMost = 1 << 60 // no client gets there, and sums do not overflow
)

func newFinagle(c BudgetConfig) *finagle {
	cost := int64(deposit / c.PercentCanRetry)
	return &finagle{
		cost:  cost,
		floor: int64(math.Round(min(floorMost, c.MinRetriesPerSec*c.TTL.Seconds()*float64(cost)))),
		n:     newBuckets(c.TTL, 10),
	}
}

func (f *finagle) sent(now sim.Instant, kind Kind) {
	if kind == First {
		f.n.add(now, deposit, 0)
	}
}

func (f *finagle) take(now sim.Instant, _ Cause, _ int) (float64, bool) {
	if f.balance(now) < f.cost {
		return 0, false
	}
	f.n.add(now, 0, f.cost)
	return 1, true
}

func (f *finagle) balance(now sim.Instant) int64 {
	deposits, withdrawals := f.n.sums(now)
	return f.floor + deposits - withdrawals
}

func (f *finagle) giveBack(now sim.Instant, _ float64) { f.n.add(now, 0, -f.cost) }
func (f *finagle) level(now sim.Instant) float64 {
	return max(0, float64(f.balance(now))/float64(f.cost))
}
func (f *finagle) ended(sim.Instant, Result) {}
func (f *finagle) closed()                   {}
