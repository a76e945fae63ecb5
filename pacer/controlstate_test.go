package pacer_test

import (
	"context"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/admission"
	"example.com/wedge/pacer/concurrency"
)

// TestControls asks how the controls stand, before and after five calls that fail.
func TestControls(t *testing.T) {
	refused := func(*pacer.Attempt) script { return script{connect: s, refuse: &pacer.StatusError{Status: 500}} }
	with := func(change func(c *pacer.Config, p *pacer.Policy)) (pacer.Config, pacer.Policy) {
		c, p := pacer.DefaultConfig(), quick()
		c.Slots, p.MaxAttempts = 4, 1
		change(&c, &p)
		return c, p
	}
	for _, row := range []struct {
		name          string
		change        func(c *pacer.Config, p *pacer.Policy)
		before, after pacer.ControlState // without SlotSeconds
	}{
		{"nothing", func(*pacer.Config, *pacer.Policy) {}, pacer.ControlState{Budget: -1, Breaker: admission.Closed, Slots: 4}, pacer.ControlState{Budget: -1, Breaker: admission.Closed, Slots: 4}},
		{"breaker", func(_ *pacer.Config, p *pacer.Policy) {
			p.Breaker = admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 5, Delay: 30 * s}
		}, pacer.ControlState{Budget: -1, Breaker: admission.Closed, Slots: 4}, pacer.ControlState{Budget: -1, Breaker: admission.HalfOpen, BreakerOpen: 30 * s, HalfOpen: 70 * s, Slots: 4}},
		{"budget", func(_ *pacer.Config, p *pacer.Policy) {
			p.MaxAttempts, p.BackoffBase, p.RetryBudget = 2, 0, admission.BudgetConfig{Rule: admission.BudgetBrooker, MaxTokens: 3}
		}, pacer.ControlState{Budget: 3, Breaker: admission.Closed, Slots: 4}, pacer.ControlState{Breaker: admission.Closed, Slots: 4}},
		{"limit", func(c *pacer.Config, _ *pacer.Policy) {
			c.Limit = concurrency.Config{Rule: concurrency.AIMD, Initial: 4, Min: 1, Max: 8, BackoffRatio: 0.5}
		}, pacer.ControlState{Budget: -1, Breaker: admission.Closed, Slots: 4}, pacer.ControlState{Budget: -1, Breaker: admission.Closed, Slots: 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
				c, policy := with(row.change)
				p, err := pacer.New(w, c, policy, &backend{w: w, play: refused}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				look := func() pacer.ControlState {
					w.Lock()
					defer w.Unlock()
					return p.ControlsLocked()
				}
				if got := look(); got != row.before {
					t.Errorf("before: %+v, want %+v", got, row.before)
				}
				for i := range 5 {
					_, _ = p.Chat(ctx, identity("agent", i+1), request())
				}
				_ = w.Sleep(ctx, 100*s)
				got := look()
				if mean := got.SlotSeconds / w.Now().Sub(0).Seconds(); mean < float64(row.after.Slots) || mean > 4 {
					t.Errorf("mean of the limit %v", mean)
				}
				got.SlotSeconds, got.HalfOpen = 0, got.HalfOpen.Round(time.Second)
				if got != row.after {
					t.Errorf("after: %+v, want %+v", got, row.after)
				}
			})
		})
	}
}
