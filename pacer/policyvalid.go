package pacer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/wedge/pacer/adaptive"
)

// Bounds of what is taken for meant. The least is there because a number without a unit is read as
// nanoseconds.
const (
	durationMin = time.Millisecond
	durationMax = 30 * 24 * time.Hour
	attemptsMax = 1000
)

// Validate says what is wrong with the policy in one line, or returns nil.
func (p Policy) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"connect", p.Connect}, {"dial", p.Dial}, {"response_header", p.ResponseHeader}, {"first_token", p.FirstToken},
		{"idle", p.Idle}, {"total", p.Total}, {"backoff_base", p.BackoffBase}, {"backoff_max", p.BackoffMax},
		{"backoff_floor", p.BackoffFloor}, {"retry_after_max", p.RetryAfterMax},
		{"work_base", p.WorkBase}, {"call_total", p.CallTotal}, {"round", p.Round}, {"task", p.Task},
		{"backoff_throttled_base", p.BackoffThrottledBase}, {"retry_after_below", p.RetryAfterBelow},
		{"deadline_margin", p.DeadlineMargin},
	} {
		if d.value != 0 && (d.value < durationMin || d.value > durationMax) {
			return fmt.Errorf("%s: %v, want 0 (off) or a duration from %v to %v", d.name, d.value, durationMin, durationMax)
		}
	}
	switch p.IdleBy {
	case IdleByToken, IdleByEvent, IdleByByte:
	default:
		return fmt.Errorf("idle_by: %q, want one of %s, %s, %s", p.IdleBy, IdleByToken, IdleByEvent, IdleByByte)
	}
	if err := p.validDeadlines(); err != nil {
		return err
	}
	if err := p.validRetries(); err != nil {
		return err
	}
	if err := p.validRetryAfter(); err != nil {
		return err
	}
	return p.validBlocks()
}

// validBlocks says what is wrong with the blocks that have rules of their own.
func (p Policy) validBlocks() error {
	learnt := map[adaptive.Limit]bool{}
	for i, c := range p.Adaptive {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("adaptive[%d].%w", i, err)
		}
		if learnt[c.Limit] {
			return fmt.Errorf("adaptive[%d].limit: %s for the second time, want each limit once", i, c.Limit)
		}
		learnt[c.Limit] = true
	}
	for _, b := range []struct {
		name string
		err  error
	}{
		{"retry_budget", p.RetryBudget.Validate()}, {"throttle", p.Throttle.Validate()},
		{"breaker", p.Breaker.Validate()}, {"hedge", p.Hedge.Validate()},
	} {
		if b.err != nil {
			return fmt.Errorf("%s.%w", b.name, b.err)
		}
	}
	if p.Hedge.enabled() && !p.Hedge.Tied && p.Hedge.Share == 0 && p.RetryBudget.Off() {
		return errors.New("hedge.share: 0 without a retry_budget, want a share of the calls or a budget: hedges must be bounded")
	}
	return nil
}

// validDeadlines refuses limits that contradict each other.
func (p Policy) validDeadlines() error {
	const perTokenMax = time.Hour // and no least: a token may well take microseconds
	if p.WorkPerToken < 0 || p.WorkPerToken > perTokenMax {
		return fmt.Errorf("work_per_token: %v, want 0 (off) or a duration up to %v", p.WorkPerToken, perTokenMax)
	}
	if p.TotalCoversBackoff && p.Total == 0 {
		return errors.New("total_covers_backoff: true without a total, want one: it is the limit that covers the wait")
	}
	if p.DeadlineMargin > 0 && !p.PropagateDeadline {
		return fmt.Errorf("deadline_margin: %v without propagate_deadline, want 0 or both", p.DeadlineMargin)
	}
	return nil
}

func (p Policy) validRetries() error {
	if p.MaxAttempts < 1 || p.MaxAttempts > attemptsMax {
		return fmt.Errorf("max_attempts: %d, want a number from 1 to %d", p.MaxAttempts, attemptsMax)
	}
	for i, status := range p.RetryOn {
		if status < 400 || status > 599 {
			return fmt.Errorf("retry_on[%d]: %d, want an HTTP status from 400 to 599", i, status)
		}
	}
	const multiplierMax = 100
	if !(p.BackoffMultiplier >= 1 && p.BackoffMultiplier <= multiplierMax) {
		return fmt.Errorf("backoff_multiplier: %v, want a number from 1 to %d", p.BackoffMultiplier, multiplierMax)
	}
	if p.BackoffMax < p.BackoffBase {
		return fmt.Errorf("backoff_max: %v, want at least backoff_base, which is %v", p.BackoffMax, p.BackoffBase)
	}
	if _, ok := jitterOf(p.Jitter); !ok {
		return fmt.Errorf("jitter: %q, want one of %s", p.Jitter, strings.Join(JitterRules(), ", "))
	}
	if !(p.JitterFactor >= 0 && p.JitterFactor <= 1) {
		return fmt.Errorf("jitter_factor: %v, want a number from 0 to 1", p.JitterFactor)
	}
	if p.BackoffThrottledBase > p.BackoffMax {
		return fmt.Errorf("backoff_throttled_base: %v, want at most backoff_max, which is %v", p.BackoffThrottledBase, p.BackoffMax)
	}
	for i, phase := range p.RetryPhases {
		switch phase {
		case RetryBeforeHeaders, RetryBeforeContent, RetryMidStream:
		default:
			return fmt.Errorf("retry_phases[%d]: %q, want one of %s, %s, %s", i, phase, RetryBeforeHeaders, RetryBeforeContent, RetryMidStream)
		}
	}
	switch p.Partial {
	case "", PartialRestart, PartialContinue:
	default:
		return fmt.Errorf("partial: %q, want one of %s, %s", p.Partial, PartialRestart, PartialContinue)
	}
	return nil
}

func (p Policy) validRetryAfter() error {
	switch p.RetryAfterRule {
	case "", RetryAfterReplace, RetryAfterLonger, RetryAfterWithin:
	default:
		return fmt.Errorf("retry_after_rule: %q, want one of %s, %s, %s", p.RetryAfterRule, RetryAfterReplace, RetryAfterLonger, RetryAfterWithin)
	}
	switch p.RetryAfterOver {
	case RetryAfterClip, RetryAfterOwn, RetryAfterStop:
	default:
		return fmt.Errorf("retry_after_over: %q, want one of %s, %s, %s", p.RetryAfterOver, RetryAfterClip, RetryAfterOwn, RetryAfterStop)
	}
	const jitterMax = 10
	if !(p.RetryAfterJitter >= 0 && p.RetryAfterJitter <= jitterMax) {
		return fmt.Errorf("retry_after_jitter: %v, want a number from 0 to %d", p.RetryAfterJitter, jitterMax)
	}
	return nil
}
