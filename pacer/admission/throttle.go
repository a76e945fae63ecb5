package admission

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// Throttle turns away attempts that would probably fail. Use [NewThrottle]; nil turns nothing away.
// It is not safe for concurrent use, and is shared by all calls of a client.
type Throttle struct {
	c ThrottleConfig // with its defaults spelled out
	n buckets        // a: attempts, b: those that went well
}

// NewThrottle returns a throttle, or nil if the configuration, which must be valid, has none.
func NewThrottle(c ThrottleConfig) *Throttle {
	c = c.WithDefaults()
	t := &Throttle{c: c}
	switch c.Rule {
	case ThrottleSRE:
		t.n = newBuckets(c.Window, 10)
	case ThrottleEnvoy:
		const most = 3600 // of an hour; a longer window has longer buckets
		t.n = newBuckets(c.SamplingWindow, int(min(most, max(1, c.SamplingWindow/time.Second))))
	case ThrottleFailsafe:
		t.n = newBuckets(c.ThresholdingPeriod, 20)
	case ThrottleKratos:
		t.n = newBuckets(c.Window, 10)
	default:
		return nil
	}
	return t
}

// Reject says whether an attempt is turned away, with a uniform draw from [0, 1). It counts the
// attempt if the rule counts at this moment. One that was turned away has no end.
func (t *Throttle) Reject(now sim.Instant, draw float64) bool {
	if t == nil {
		return false
	}
	rejected := draw < t.Probability(now)
	switch {
	case t.c.Rule == ThrottleSRE && (rejected || !t.c.CountAtEnd),
		t.c.Rule == ThrottleKratos && rejected:
		t.n.add(now, 1, 0)
	}
	return rejected
}

// Ended tells that an attempt that was let through is over, and whether it went well.
func (t *Throttle) Ended(now sim.Instant, ok bool) {
	if t == nil {
		return
	}
	attempts, good := int64(1), int64(0)
	if t.c.Rule == ThrottleSRE && !t.c.CountAtEnd {
		attempts = 0 // counted when it was sent
	}
	if ok {
		good = 1
	}
	t.n.add(now, attempts, good)
}

// Probability returns how likely an attempt is turned away now.
func (t *Throttle) Probability(now sim.Instant) float64 {
	if t == nil {
		return 0
	}
	if t.c.Rule != ThrottleFailsafe {
		t.n.expire(now)
	}
	n, ok := float64(t.n.sum.a), float64(t.n.sum.b)
	var p float64
	switch t.c.Rule {
	case ThrottleSRE:
		p = excess(n, t.c.K*ok)
	case ThrottleEnvoy:
		if n/t.c.SamplingWindow.Seconds() < t.c.RPSThreshold {
			return 0
		}
		p = min(math.Pow(excess(n, ok/(t.c.SRThreshold/100)), 1/t.c.Aggression), t.c.MaxRejectionProbability/100)
	case ThrottleFailsafe:
		if n < float64(t.c.ExecutionThreshold) {
			return 0
		}
		p = min(excess(n, ok/t.c.SuccessRateThreshold), t.c.MaxRejectionRate)
	default:
		if n < float64(t.c.Request) {
			return 0
		}
		p = excess(n, ok/t.c.Success)
	}
	return p
}

// excess is the share of n attempts that are more than allowed. The added one makes the first attempt
// pass, and lets some through however bad it is, so that an end is noticed.
func excess(n, allowed float64) float64 { return max(0, n-allowed) / (n + 1) }
