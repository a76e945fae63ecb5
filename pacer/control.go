package pacer

import (
	"fmt"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// controls are what a pacer learns from its attempts, and what it decides by that. The blocks of a
// policy that are off are nil; a pacer whose blocks are all off has no controls. They are used with
// the monitor held.
type controls struct {
	budget   *admission.Budget
	throttle *admission.Throttle
	breaker  *admission.Breaker
	learnt   []learnt
	hedge    *adaptive.Estimator // of how long it takes to get as far as Hedge.On
	calls    int                 // sent, for Hedge.Share
	hedges   int
	draws    sim.Stream // of the throttle, by call and attempt

	// afterwards says that the budget is asked after the wait before a retry, and not before.
	afterwards bool
}

// learnt is a limit that is learnt.
type learnt struct {
	limit adaptive.Limit
	set   *adaptive.Set
}

// newControls returns those of a policy, or nil if it has none.
func newControls(w sim.World, p *Policy) *controls {
	if p.RetryBudget.Off() && p.Throttle.Off() && p.Breaker.Off() && len(p.Adaptive) == 0 && !p.Hedge.enabled() {
		return nil
	}
	k := &controls{
		budget:     admission.NewBudget(p.RetryBudget),
		throttle:   admission.NewThrottle(p.Throttle),
		breaker:    admission.NewBreaker(p.Breaker),
		draws:      w.Stream("pacer", "throttle"),
		afterwards: p.RetryBudget.AsksAfterBackoff(),
	}
	for _, c := range p.Adaptive {
		k.learnt = append(k.learnt, learnt{c.Limit, adaptive.NewSet(c)})
	}
	if p.Hedge.Quantile > 0 {
		k.hedge = adaptive.New(p.Hedge.estimator())
	}
	return k
}

// RejectedError is the cause of an attempt that the pacer did not send, since its policy's throttle
// or breaker said that it would fail.
type RejectedError struct {
	By string // one of ByThrottle and ByBreaker
}

// Who may reject an attempt.
const (
	ByThrottle = "throttle"
	ByBreaker  = "breaker"
)

func (e *RejectedError) Error() string { return fmt.Sprintf("pacer: not sent (%s)", e.By) }

// pass is what an attempt that may be sent owes to the controls when it is over.
type pass struct {
	kind   admission.Kind
	ticket admission.Ticket
	judged bool    // the breaker has been told
	cost   float64 // that the budget took for it
}

// admit says whether the next attempt of the call may be sent. The error, if it may not, is a
// *RejectedError. The monitor must not be held.
func (c *call) admit() error {
	k := c.p.controls
	if k == nil {
		return nil
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	now := c.p.w.Now()
	c.pass = pass{kind: admission.First, cost: c.paid}
	if c.sent {
		c.pass.kind = admission.Retry
	}
	c.paid = 0
	by := ""
	if k.throttle != nil && k.throttle.Reject(now, c.drawOf(k.draws, 1)) {
		by = ByThrottle
	} else if t, ok := k.breaker.Allow(now, c.sent); !ok {
		by = ByBreaker
	} else {
		c.pass.ticket = t
	}
	if by != "" {
		k.budget.GiveBack(now, c.pass.cost)
		return &RejectedError{By: by}
	}
	k.budget.Sent(now, c.pass.kind)
	if !c.sent {
		k.calls++
	}
	c.sent = true
	return nil
}

// turnedAway takes note of an attempt that was not sent, in the stage in which that was found, and
// decides what comes next. The error is that of the call.
func (c *call) turnedAway(stage Stage, outcome string, why error) (Decision, error) {
	if c.state.Stage != stage || !c.listed {
		c.move(stage)
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.count()
	now := c.p.w.Now()
	r := AttemptResult{ID: c.state.AttemptID}
	next, err := c.decide(Failure{Outcome: outcome, CallTook: now.Sub(c.state.Started)}, why, &r)
	if !next.Again {
		r.Kept = c.keeps(kept{})
	}
	if c.p.obs != nil {
		c.p.obs.AttemptEnded(&c.state, r)
	}
	return next, err
}

// mayRetry asks the budget for another attempt after a failed one, and pays.
func (c *call) mayRetry(now sim.Instant, f *Failure) bool {
	k := c.p.controls
	if k == nil || k.afterwards || !c.sent {
		return true
	}
	cost, ok := k.budget.MayRetry(now, cause(f), f.Attempt)
	c.paid = cost
	return ok
}

// asked is what a budget is asked about after the wait for a retry.
type asked struct {
	failure Failure
	err     error
}

// askBudget is mayRetry for budgets that are asked after the wait. The error is that of the call.
func (c *call) askBudget() error {
	if c.asked == nil || !c.sent {
		return nil
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	f := &c.asked.failure
	cost, ok := c.p.controls.budget.MayRetry(c.p.w.Now(), cause(f), f.Attempt)
	c.paid = cost
	if !ok {
		return c.givenUp(c.asked.err, StopBudget)
	}
	return nil
}

// cause is what made a retry necessary, by a budget's distinctions.
func cause(f *Failure) admission.Cause {
	switch {
	case f.Outcome == AttemptTimeout:
		return admission.CauseTimeout
	case f.throttled():
		return admission.CauseThrottled
	}
	return admission.CauseTransient
}

// closeBooks tells the controls that the call has ended. The monitor is held.
func (c *call) closeBooks() {
	k := c.p.controls
	if k == nil {
		return
	}
	now := c.p.w.Now()
	if c.paid > 0 { // for an attempt that was never made
		k.budget.GiveBack(now, c.paid)
	}
	if c.sent {
		k.budget.Closed(now)
	}
}

// judge tells the controls how an attempt ended. The monitor is held.
func (t *try) judge(now sim.Instant, f *Failure) {
	k := t.c.p.controls
	ok := f == nil || f.Outcome == AttemptStatus && !t.c.p.policy.unwell(f.Status)
	canceled := f != nil && (f.Outcome == AttemptCanceled || f.Outcome == AttemptLost || f.NotSent)
	k.budget.Ended(now, admission.Result{Kind: t.pass.kind, OK: ok, Canceled: canceled, Cost: t.pass.cost})
	if !canceled && !t.hedge { // the throttle has not been asked about one that joins
		k.throttle.Ended(now, ok)
	}
	switch {
	case t.pass.judged:
	case canceled:
		k.breaker.Canceled(t.pass.ticket)
	default:
		k.breaker.Ended(now, t.pass.ticket, ok)
	}
	t.pass.judged = true
}

// judgeFirst tells the breaker of the first output, if that is what it wants to know. The monitor is
// held.
func (t *try) judgeFirst(now sim.Instant) {
	k := t.c.p.controls
	if t.pass.judged || k.breaker.JudgeBy() != admission.JudgeByFirstToken {
		return
	}
	t.pass.judged = true
	k.breaker.Ended(now, t.pass.ticket, true)
}

// unwell says whether a status tells of a server in trouble, and not of a request that it refuses
// for good.
func (p *Policy) unwell(status int) bool {
	f := Failure{Outcome: AttemptStatus, Status: status}
	return status == 0 || status >= 500 || f.throttled() || p.retryableOutcome(&f)
}
