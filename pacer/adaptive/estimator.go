package adaptive

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// Outcome says what kind of sample an attempt gave. The zero value is a first attempt whose phase was
// over in time.
type Outcome struct {
	// Censored: the limit ended the phase before it was over. It would have taken longer.
	Censored bool
	// Retried: the attempt was not the first of its call.
	Retried bool
}

// Estimator learns one limit. Use [New] or [NewSet]. It is not safe for concurrent use.
type Estimator struct {
	c    Config // with its zeros spelled out
	rule learner
	// doublings is how often the limit has been doubled since the last sample in time, last at
	// doubledAt.
	doublings int
	doubledAt sim.Instant
}

// learner is what a rule makes of samples, in nanoseconds.
type learner interface {
	add(now sim.Instant, ns float64)
	// value is the limit before clamping, and of how many samples it was made.
	value(now sim.Instant) (ns float64, samples int)
}

// New returns an estimator without samples. The configuration must be valid.
func New(c Config) *Estimator {
	c = c.WithDefaults()
	e := &Estimator{c: c}
	switch c.Rule {
	case RuleRTO:
		e.rule = &rto{granularity: float64(c.Granularity)}
	case RuleQuantile:
		e.rule = newWindow(c)
	default:
		e.rule = &moving{quantile: c.Quantile, factor: c.Factor, step: c.Step, alpha: 2 / (float64(c.Age) + 1)}
	}
	return e
}

// Observe takes how long a phase took until it was over, or until the limit cut it off. Phases that
// ended otherwise (a status, a reset, a cancellation by the caller) are no samples.
func (e *Estimator) Observe(now sim.Instant, took time.Duration, o Outcome) {
	if e.takes(o) {
		e.rule.add(now, float64(max(0, took)))
	}
	switch {
	case !o.Censored:
		// In TCP the limit stays doubled until a segment is answered that was not sent again.
		if e.c.Rule != RuleRTO || e.takes(o) {
			e.doublings = 0
		}
	case !e.c.NoDouble && e.doublings < doublingsMax && (e.doublings == 0 || now.Sub(e.doubledAt) >= took):
		// TCP has one timer a connection. Here many attempts share the limit and time out together:
		// the first of them doubles it, and those that began before that have had their answer.
		e.doublings++
		e.doubledAt = now
	}
}

// doublingsMax bounds the exponent: a millisecond doubled that often is more than [durationMax].
const doublingsMax = 32

// takes says whether an attempt with the outcome gives a sample.
func (e *Estimator) takes(o Outcome) bool {
	if e.c.Rule == RuleRTO {
		return !o.Censored && (!o.Retried || e.c.FromRetries)
	}
	return !o.Censored || !e.c.SuccessOnly
}

// Limit returns the limit of an attempt that starts now. 0: none, since nothing has been learnt yet
// and Initial is 0.
func (e *Estimator) Limit(now sim.Instant) time.Duration {
	ns, samples := e.rule.value(now)
	if samples < e.c.MinSamples {
		ns = float64(e.c.Initial)
		if ns == 0 {
			return 0
		}
	} else {
		ns = max(ns, float64(e.c.Min), 1) // never 0, which would mean no limit
	}
	most := durationMax
	if e.c.Max > 0 {
		most = e.c.Max
	}
	return time.Duration(min(math.Ldexp(ns, e.doublings), float64(most)))
}

// Doublings returns how often the limit is doubled at present, since attempts timed out.
func (e *Estimator) Doublings() int { return e.doublings }
