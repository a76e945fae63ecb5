package published

import (
	"time"

	"example.com/wedge/harness/sim"
)

func fullJitter(n int, _ time.Duration, draw float64) time.Duration {
	d := time.Second
	for i := 1; i < n && d < time.Minute; i++ {
		d *= 2
	}
	return time.Duration(draw * float64(min(d, time.Minute)))
}

type shareBudget struct{ tokens float64 }

func tenPercent() budgetRule { return &shareBudget{tokens: 10} }

func (b *shareBudget) Sent(_ sim.Instant, resend bool) {
	if !resend {
		b.tokens = min(10, b.tokens+.1)
	}
}

func (b *shareBudget) MayResend(sim.Instant) bool {
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
