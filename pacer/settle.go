package pacer

import (
	"context"
	"errors"
	"hash/fnv"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// settle says how the attempt ended, decides what comes next, and closes what it has open. The error
// is that of the call.
func (t *try) settle(ctx context.Context, err error) (Decision, error) {
	stream := t.stream
	next, err := t.end(ctx, err)
	if stream != nil {
		_ = stream.Close() // nothing is left that could be lost
	}
	if t.cancel != nil {
		t.cancel(context.Canceled)
		t.cancel = nil
	}
	return next, err
}

func (t *try) end(ctx context.Context, err error) (Decision, error) {
	c := t.c
	c.p.w.Lock()
	defer c.p.w.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.armed = sim.Never
	}
	pr := t.refresh()
	t.stream = nil
	now := c.p.w.Now()
	r := AttemptResult{ID: c.state.AttemptID, Outcome: AttemptOK, Took: now.Sub(t.phase.began)}
	var next Decision
	if err != nil {
		var f Failure
		f, err = t.classify(ctx, err)
		t.judge(now, &f)
		t.learnEnd(r.Took, pr.GapMax, &f)
		f.Took, f.CallTook = r.Took, now.Sub(c.state.Started)
		next, err = c.failed(f, err, &r)
		c.leak(now)
	} else {
		t.judge(now, nil)
		t.learnEnd(r.Took, pr.GapMax, nil)
		if u := t.answer.usage; u != nil {
			c.state.Tokens = max(0, u.CompletionTokens)
		}
	}
	t.phase.stage = StageDone
	r.Tokens = c.state.Tokens
	if c.p.obs != nil {
		c.p.obs.AttemptEnded(&c.state, r)
	}
	return next, err
}

// failed decides what follows a failed attempt, and writes that into its result. The error is that of
// the call. The monitor is held.
func (c *call) failed(f Failure, err error, r *AttemptResult) (Decision, error) {
	f.Attempt, f.Previous = c.state.Attempts, c.previous
	next := c.p.policy.Decide(f, c.drawOf(c.p.draws, 0))
	if next.Again && !c.mayRetry(c.p.w.Now(), &f) {
		next = Decision{Stop: StopBudget}
	}
	c.failure, c.failureErr = f, err
	r.Outcome, r.Status, r.Err = f.Outcome, f.Status, err
	r.Again, r.Delay, r.Stop = next.Again, next.Delay, next.Stop
	r.Limit = string(f.Limit)
	c.state.LastError = err.Error()
	if !next.Again && f.Outcome != AttemptCanceled {
		err = c.givenUp(err)
	}
	return next, err
}

// givenUp returns the error of a call whose last attempt died of err.
func (c *call) givenUp(err error) error {
	return &CallError{ID: c.state.ID, Attempts: c.state.Attempts, Err: err}
}

// classify says what an attempt died of. The caller's cancel comes first, whatever it made of the
// connection; an answer that is there counts as one even if a limit fired at the same instant.
func (t *try) classify(ctx context.Context, err error) (Failure, error) {
	f := Failure{Outcome: AttemptNetwork, Phase: t.retryPhase()}
	if cause := sim.Cause(ctx); cause != nil {
		f.Outcome = AttemptCanceled
		if t.c.isOver(cause) {
			f.Outcome, f.Limit = AttemptTimeout, LimitCallTotal
		}
		return f, cause
	}
	if errors.Is(err, sim.ErrStopped) {
		f.Outcome = AttemptCanceled
		return f, err
	}
	var status *StatusError
	switch {
	case errors.As(err, &status):
		f.Outcome, f.Status = AttemptStatus, status.Status
		f.RetryAfter, f.HasRetryAfter = status.RetryAfter, status.HasRetryAfter
		f.ShouldRetry, f.HasShouldRetry = status.ShouldRetry, status.HasShouldRetry
	case t.hit != nil:
		f.Outcome, f.Limit = AttemptTimeout, t.hit.Limit
		err = t.hit
	default:
		f.NotSent = errors.Is(err, ErrNotSent)
	}
	return f, err
}

// retryPhase returns how far the attempt has come.
func (t *try) retryPhase() RetryPhase {
	switch {
	case t.phase.stage == StageStream:
		return RetryMidStream
	case t.phase.stage == StageFirstToken:
		return RetryBeforeContent
	}
	return RetryBeforeHeaders
}

// drawOf returns a draw of the latest attempt, or of one after it. It depends on the call and the
// attempt only, not on what other calls have drawn.
func (c *call) drawOf(draws sim.Stream, after int) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.state.ID)) // never fails
	s := draws.At(int(h.Sum64())).At(c.state.Attempts + after)
	return s.Float64()
}

// leak forgets the slot of a failed attempt if a fault says so. The monitor is held.
func (c *call) leak(now sim.Instant) {
	if !c.p.leaky || !c.state.HoldsSlot {
		return
	}
	o := fault.Occasion{Key: c.state.AttemptID, At: now, Agent: c.state.Agent, Round: c.state.Round, ContextTokens: c.state.PromptTokens}
	if c.p.faults.Fires(fault.Pacer, fault.LeakSlot, o) != nil {
		c.forgetSlot()
	}
}
