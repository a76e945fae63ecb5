package pacer

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// limitsNow returns the limits of an attempt that begins now, learnt ones included, and whose request
// allows so many output tokens. 0: any number.
func (c *call) limitsNow(now sim.Instant, tokensMax int) *limits {
	p := &c.p.policy
	work := p.WorkLimit(tokensMax)
	if work == 0 && len(p.Adaptive) == 0 {
		return &c.p.limits
	}
	l := p.limits()
	l.work = work
	if c.p.controls == nil {
		return &l
	}
	for _, a := range c.p.controls.learnt {
		d := a.set.For(c.state.PromptTokens).Limit(now)
		if d == 0 {
			continue // nothing has been learnt
		}
		switch a.limit {
		case adaptive.LimitResponseHeader:
			l.responseHeader = d
		case adaptive.LimitFirstToken:
			l.firstToken = d
		case adaptive.LimitIdle:
			l.idle = d
		case adaptive.LimitTotal:
			l.total = d
		}
	}
	return &l
}

// learn takes how long a phase took for a sample of its limit. The monitor is held.
func (t *try) learn(limit adaptive.Limit, took time.Duration, censored bool) {
	now := t.c.p.w.Now()
	for _, a := range t.c.p.controls.learnt {
		if a.limit == limit {
			a.set.For(t.c.state.PromptTokens).Observe(now, took, adaptive.Outcome{Censored: censored, Retried: t.pass.kind != admission.First})
		}
	}
}

// learnEnd takes samples from the end of an attempt: of its whole length and longest silence if it
// went well, and of the limit that has ended it. The monitor is held.
func (t *try) learnEnd(took, gapMax time.Duration, f *Failure) {
	switch {
	case f == nil:
		t.learn(adaptive.LimitTotal, took, false)
		if gapMax > 0 {
			t.learn(adaptive.LimitIdle, gapMax, false)
		}
	case f.Outcome == AttemptTimeout && t.hit != nil:
		t.learn(adaptive.Limit(f.Limit), t.hit.After, true) // of other limits, nothing is learnt
	}
}
