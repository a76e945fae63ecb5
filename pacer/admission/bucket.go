package admission

import (
	"math"

	"example.com/wedge/harness/sim"
)

// thousandths of a token are what buckets count in, as gRPC does: ten times a tenth must be one.
type thousandths int64

func toThousandths(tokens float64) thousandths { return thousandths(math.Round(1000 * tokens)) }
func (n thousandths) tokens() float64          { return float64(n) / 1000 }

// bucket is [BudgetAWS] and [BudgetBrooker]: tokens that retries take and successes bring. Time has
// no part in it.
type bucket struct {
	most, left                    thousandths
	transient, timeout, throttled thousandths // costs of a retry
	first, other                  thousandths // what a success adds: of a first attempt, of another
	refund                        bool        // another adds its cost instead
}

func newBucket(c BudgetConfig) *bucket {
	if c.Rule == BudgetBrooker {
		one, most, share := toThousandths(1), toThousandths(c.MaxTokens), toThousandths(c.TokenRatio)
		return &bucket{most: most, left: most, transient: one, timeout: one, throttled: one, first: share, other: share}
	}
	most := toThousandths(c.MaxCapacity)
	return &bucket{
		most: most, left: most, transient: toThousandths(c.RetryCost),
		timeout: toThousandths(c.TimeoutRetryCost), throttled: toThousandths(c.ThrottlingRetryCost),
		first: toThousandths(c.NoRetryIncrement), refund: true,
	}
}

func (b *bucket) ended(_ sim.Instant, r Result) {
	switch {
	case !r.OK || r.Canceled:
	case r.Kind == First:
		b.add(b.first)
	case b.refund:
		b.add(toThousandths(r.Cost))
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
	if b.left < cost {
		return 0, false
	}
	b.left -= cost
	return cost.tokens(), true
}

func (b *bucket) giveBack(_ sim.Instant, cost float64) { b.add(toThousandths(cost)) }
func (b *bucket) add(n thousandths)                    { b.left = min(b.most, b.left+n) }
func (b *bucket) level(sim.Instant) float64            { return b.left.tokens() }
func (b *bucket) sent(sim.Instant, Kind)               {}
func (b *bucket) closed()                              {}

// half is [BudgetGRPC]: retries are free while failures leave more than half of the tokens.
type half struct {
	most, left, ratio thousandths
}

func newHalf(c BudgetConfig) *half {
	most := toThousandths(c.MaxTokens)
	return &half{most: most, left: most, ratio: toThousandths(c.TokenRatio)}
}

func (h *half) ended(_ sim.Instant, r Result) {
	switch {
	case r.Canceled:
	case r.OK:
		h.left = min(h.most, h.left+h.ratio)
	default:
		h.left = max(0, h.left-toThousandths(1))
	}
}

func (h *half) take(sim.Instant, Cause, int) (float64, bool) { return 0, 2*h.left > h.most }
func (h *half) level(sim.Instant) float64                    { return max(0, (2*h.left-h.most).tokens()/2) }
func (h *half) giveBack(sim.Instant, float64)                {}
func (h *half) sent(sim.Instant, Kind)                       {}
func (h *half) closed()                                      {}
