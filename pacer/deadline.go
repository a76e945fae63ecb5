package pacer

import (
	"context"
	"time"

	"example.com/wedge/harness/sim"
)

type deadlineKey struct{}

// WithDeadline tells the calls that are made with the returned context by when what they are for must
// be done, such as a round of an agent. A policy that passes deadlines on counts it in; it ends
// nothing, which is for the caller to do.
func WithDeadline(ctx context.Context, at sim.Instant) context.Context {
	return context.WithValue(ctx, deadlineKey{}, min(at, deadlineOf(ctx)))
}

// deadlineOf returns the deadline that ctx carries, or sim.Never.
func deadlineOf(ctx context.Context) sim.Instant {
	if at, ok := ctx.Value(deadlineKey{}).(sim.Instant); ok {
		return at
	}
	return sim.Never
}

// remaining returns how much time the server has for an attempt that begins now under the limits: the
// least of those that end it however well it goes, less the margin, but not less than a millisecond. 0:
// there is no such limit. The monitor is held.
func (c *call) remaining(now sim.Instant, l *limits) time.Duration {
	until := c.deadline
	if total := c.p.policy.CallTotal; total > 0 {
		until = min(until, c.state.Started.Add(total))
	}
	for _, limit := range []time.Duration{l.total, l.work} {
		if limit > 0 {
			until = min(until, now.Add(limit))
		}
	}
	if until == sim.Never {
		return 0
	}
	return max(time.Millisecond, until.Sub(now)-c.p.policy.DeadlineMargin)
}
