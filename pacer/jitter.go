package pacer

import "time"

// jitterRule spreads a wait d over a range, from which a uniform draw picks.
type jitterRule struct {
	name   string
	lo, hi float64 // the range is lo·d to hi·d

	// decorrelated takes the range from the base to hi times the wait before this one instead, and
	// caps what was drawn.
	decorrelated bool
	// factor takes the range from the policy's JitterFactor on both sides of d instead.
	factor bool
}

// The rules that clients and libraries in the field use.
func jitterRules() [9]jitterRule {
	return [...]jitterRule{
		{name: "none", lo: 1, hi: 1},
		{name: "full", lo: 0, hi: 1},
		{name: "equal", lo: 0.5, hi: 1},
		{name: "decorrelated", hi: 3, decorrelated: true},
		{name: "minus25", lo: 0.75, hi: 1},      // openai-python, openai-go, anthropic's
		{name: "plus25", lo: 1, hi: 1.25},       // opencode
		{name: "plusminus20", lo: 0.8, hi: 1.2}, // gRPC, SGLang's gateway
		{name: "plusminus50", lo: 0.5, hi: 1.5}, // cenkalti/backoff
		{name: "factor", factor: true},          // any other ±
	}
}

// JitterRules returns the names of the jitter rules. A wait d becomes d (none), or a draw from 0 to
// d (full), d/2 to d (equal), 0.75 d to d (minus25), d to 1.25 d (plus25), d ± 20 % (plusminus20),
// d ± 50 % (plusminus50), d ± Policy.JitterFactor (factor), or from the base to three times the wait before it (decorrelated).
func JitterRules() []string {
	rules := jitterRules()
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

func jitterOf(name string) (jitterRule, bool) {
	for _, r := range jitterRules() {
		if r.name == name {
			return r, true
		}
	}
	return jitterRule{}, false
}

// Backoff returns the own wait before retry number n, counted from 1, given the wait before it (0
// if there was none), whether the server has throttled, and a uniform draw from [0, 1). BackoffFloor
// is not applied.
func (p *Policy) Backoff(n int, previous time.Duration, throttled bool, draw float64) time.Duration {
	base := p.BackoffBase
	if throttled && p.BackoffThrottledBase > 0 {
		base = p.BackoffThrottledBase
	}
	rule, _ := jitterOf(p.Jitter)
	if rule.factor {
		rule.lo, rule.hi = 1-p.JitterFactor, 1+p.JitterFactor
	}
	if rule.decorrelated {
		lo := float64(base)
		hi := max(lo, rule.hi*float64(max(previous, base)))
		return time.Duration(min(lo+draw*(hi-lo), float64(p.BackoffMax)))
	}
	d, most := float64(base), float64(p.BackoffMax)
	for i := 1; i < n && d < most; i++ {
		d *= p.BackoffMultiplier
	}
	d = min(d, most)
	return time.Duration(d * (rule.lo + draw*(rule.hi-rule.lo)))
}
