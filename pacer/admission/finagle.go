package admission

import (
	"math"

	"example.com/wedge/harness/sim"
)

// finagle is [BudgetFinagle]. It counts in millionths of a retry, since sums of fractions would not
// come back to 0.
type finagle struct {
	deposit int64
	floor   int64
	n       buckets // a: deposits, b: withdrawals
}

const millionth = 1_000_000 // of a retry

func newFinagle(c BudgetConfig) *finagle {
	return &finagle{
		deposit: int64(math.Round(c.PercentCanRetry * millionth)),
		floor:   int64(math.Round(c.MinRetriesPerSec * c.TTL.Seconds() * millionth)),
		n:       newBuckets(c.TTL, 10),
	}
}

func (f *finagle) sent(now sim.Instant, kind Kind) {
	if kind == First {
		f.n.add(now, f.deposit, 0)
	}
}

func (f *finagle) take(now sim.Instant, _ Cause, _ int) (float64, bool) {
	if f.balance(now) < millionth {
		return 0, false
	}
	f.n.add(now, 0, millionth)
	return 1, true
}

func (f *finagle) balance(now sim.Instant) int64 {
	deposits, withdrawals := f.n.sums(now)
	return f.floor + deposits - withdrawals
}

func (f *finagle) giveBack(now sim.Instant, _ float64) { f.n.add(now, 0, -millionth) }
func (f *finagle) level(now sim.Instant) float64       { return float64(f.balance(now)) / millionth }
func (f *finagle) ended(sim.Instant, Result)           {}
func (f *finagle) closed()                             {}
