package admission

import "example.com/wedge/harness/sim"

// bucket is [BudgetAWS] and [BudgetBrooker]: tokens that retries take and successes bring. Time has
// no part in it.
type bucket struct {
	capacity, tokens              float64
	transient, timeout, throttled float64 // costs of a retry
	first, other                  float64 // what a success adds, by kind
	refund                        bool    // a retry that succeeds adds its cost
}

func newBucket(c BudgetConfig) *bucket {
	if c.Rule == BudgetBrooker {
		return &bucket{
			capacity: c.MaxTokens, tokens: c.MaxTokens, transient: 1, timeout: 1, throttled: 1,
			first: c.TokenRatio, other: c.TokenRatio,
		}
	}
	return &bucket{
		capacity: c.MaxCapacity, tokens: c.MaxCapacity,
		transient: c.RetryCost, timeout: c.TimeoutRetryCost, throttled: c.ThrottlingRetryCost,
		first: c.NoRetryIncrement, refund: true,
	}
}

func (b *bucket) ended(_ sim.Instant, r Result) {
	switch {
	case !r.OK || r.Canceled:
	case r.Kind == First:
		b.add(b.first)
	case b.refund:
		b.add(r.Cost)
	default:
		b.add(b.other)
	}
}

func (b *bucket) take(_ sim.Instant, cause Cause, _ int) (float64, bool) {
	cost := b.transient
	switch cause {
	case CauseTimeout:
		cost = b.timeout
	case CauseThrottled:
		cost = b.throttled
	}
	if b.tokens < cost {
		return 0, false
	}
	b.tokens -= cost
	return cost, true
}

func (b *bucket) giveBack(_ sim.Instant, cost float64) { b.add(cost) }
func (b *bucket) add(tokens float64)                   { b.tokens = min(b.capacity, b.tokens+tokens) }
func (b *bucket) level(sim.Instant) float64            { return b.tokens }
func (b *bucket) sent(sim.Instant, Kind)               {}
func (b *bucket) closed()                              {}

// half is [BudgetGRPC]: retries are free while failures leave more than half of the tokens.
type half struct {
	most, tokens, ratio float64
}

func newGRPC(c BudgetConfig) *half {
	return &half{most: c.MaxTokens, tokens: c.MaxTokens, ratio: c.TokenRatio}
}

func (h *half) ended(_ sim.Instant, r Result) {
	switch {
	case r.Canceled:
	case r.OK:
		h.tokens = min(h.most, h.tokens+h.ratio)
	default:
		h.tokens = max(0, h.tokens-1)
	}
}

func (h *half) take(sim.Instant, Cause, int) (float64, bool) { return 0, h.tokens > h.most/2 }
func (h *half) level(sim.Instant) float64                    { return max(0, h.tokens-h.most/2) }
func (h *half) giveBack(sim.Instant, float64)                {}
func (h *half) sent(sim.Instant, Kind)                       {}
func (h *half) closed()                                      {}
