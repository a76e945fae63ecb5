package admission

import "example.com/wedge/harness/sim"

// Kind says which attempt of its call one is.
type Kind string

// The kinds of attempts.
const (
	First Kind = "first"
	Retry Kind = "retry"
	Hedge Kind = "hedge" // a second copy, while the first is still under way
)

// Cause says what made a retry necessary.
type Cause string

// The causes, as far as a rule tells them apart. The zero value is transient.
const (
	CauseTransient Cause = "transient" // errors of the network and of servers
	CauseTimeout   Cause = "timeout"   // a limit of time ended the attempt
	CauseThrottled Cause = "throttled" // the server asked for fewer requests, such as with 429
)

// Result is how an attempt ended.
type Result struct {
	Kind Kind
	// OK: it had what was asked for.
	OK bool
	// Canceled: it did not fail, but is not wanted any more, as the loser of a hedge. It neither
	// earns nor costs.
	Canceled bool
	// Cost is what [Budget.MayRetry] or [Budget.MayHedge] took for it. 0 for a first attempt.
	Cost float64
}

// Budget bounds retries and hedges. Use [NewBudget]; nil is no budget. It is not safe for concurrent
// use, and is shared by all calls of a client: a budget of its own for each call bounds nothing.
type Budget struct {
	c    BudgetConfig // with its defaults spelled out
	rule budgetRule
}

// budgetRule is what a rule does at each event. All are told everything; most ignore most.
type budgetRule interface {
	sent(now sim.Instant, kind Kind)
	ended(now sim.Instant, r Result)
	closed()
	// take takes what an extra attempt costs, and says what that was, or refuses.
	take(now sim.Instant, cause Cause, attempts int) (cost float64, ok bool)
	giveBack(now sim.Instant, cost float64)
	level(now sim.Instant) float64
}

// NewBudget returns a budget, or nil if the configuration, which must be valid, has none.
func NewBudget(c BudgetConfig) *Budget {
	c = c.WithDefaults()
	b := &Budget{c: c}
	switch c.Rule {
	case BudgetFinagle:
		b.rule = newFinagle(c)
	case BudgetSRE:
		b.rule = newRatio(c)
	case BudgetAWS, BudgetBrooker:
		b.rule = newBucket(c)
	case BudgetGRPC:
		b.rule = newHalf(c)
	case BudgetEnvoy, BudgetFailsafe:
		b.rule = &inflight{c: c}
	default:
		return nil
	}
	return b
}

// Sent tells that an attempt is sent.
func (b *Budget) Sent(now sim.Instant, kind Kind) {
	if b != nil {
		b.rule.sent(now, kind)
	}
}

// Ended tells that an attempt that was sent is over. It comes before [Budget.MayRetry].
func (b *Budget) Ended(now sim.Instant, r Result) {
	if b != nil {
		b.rule.ended(now, r)
	}
}

// Closed tells that a call is over whose first attempt was sent: none of its attempts is under way,
// and none will follow.
func (b *Budget) Closed(now sim.Instant) {
	if b != nil {
		b.rule.closed()
	}
}

// MayRetry says whether a call that has made so many attempts may make another, given why the last
// one failed. A yes is paid for at once, and its cost goes with the attempt, into [Result], or back.
func (b *Budget) MayRetry(now sim.Instant, cause Cause, attempts int) (cost float64, ok bool) {
	if b == nil {
		return 0, true
	}
	return b.rule.take(now, cause, attempts)
}

// MayHedge is MayRetry for a second copy of an attempt.
func (b *Budget) MayHedge(now sim.Instant, attempts int) (cost float64, ok bool) {
	return b.MayRetry(now, CauseTransient, attempts)
}

// GiveBack returns what was paid for an attempt that has not been sent after all. Nothing was paid
// for one that costs 0.
func (b *Budget) GiveBack(now sim.Instant, cost float64) {
	if b != nil && cost > 0 {
		b.rule.giveBack(now, cost)
	}
}

// Level says how much room is left in the rule's own measure: tokens for aws, brooker and grpc (there
// above the half), else retries. -1: there is no budget.
func (b *Budget) Level(now sim.Instant) float64 {
	if b == nil {
		return -1
	}
	return b.rule.level(now)
}
