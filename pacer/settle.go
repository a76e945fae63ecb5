package pacer

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

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
	now := c.p.w.Now()
	if t.lost {
		err = errLost // even if it has come to its end at this very instant
	} else if err == nil {
		t.succeeded(now)
	}
	s := &c.state
	if c.shown != t {
		v := t.view()
		s = &v
	}
	r := AttemptResult{ID: s.AttemptID, Outcome: AttemptOK, Took: now.Sub(t.phase.began), Hedge: t.hedge, Beside: c.race.goesOn(t)}
	var next Decision
	if err != nil {
		next, err = t.failed(ctx, err, &r, pr.GapMax)
	} else {
		if c.p.controls != nil {
			t.judge(now, nil)
			t.learnEnd(r.Took, pr.GapMax, nil)
		}
		if u := t.answer.usage; u != nil {
			s.Tokens = max(0, u.CompletionTokens)
		}
	}
	t.phase.stage, t.stream = StageDone, nil
	r.Tokens = s.Tokens
	t.sample(now, &r)
	if c.p.obs != nil {
		c.p.obs.AttemptEnded(s, r)
	}
	c.race.ended(t, now, next, err)
	return next, err
}

// succeeded notes that the attempt has the call's answer. The monitor is held.
func (t *try) succeeded(now sim.Instant) {
	if t.c.race != nil {
		t.arrived(HedgeOnAnswer, now)
		t.c.race.wins(t, now) // also without having been at the point at which it is decided
	}
	t.c.winner = t
}

// failed says what the attempt died of, and what follows. The monitor is held.
func (t *try) failed(ctx context.Context, err error, r *AttemptResult, gapMax time.Duration) (Decision, error) {
	c := t.c
	f, err := t.classify(ctx, err)
	now := c.p.w.Now()
	if c.p.controls != nil {
		t.judge(now, &f)
		t.learnEnd(r.Took, gapMax, &f)
	}
	f.Took, f.CallTook = r.Took, now.Sub(c.state.Started)
	if r.Beside {
		r.of(&f, err)
		return Decision{}, err
	}
	next, err := c.decide(f, err, r)
	if !t.hedge {
		c.leak(now)
	}
	r.Kept = t.keep(next.Again)
	return next, err
}

// decide decides what follows a failed attempt, and writes that into its result. The error is that of
// the call. The monitor is held.
func (c *call) decide(f Failure, err error, r *AttemptResult) (Decision, error) {
	f.Attempt, f.Previous = c.state.Attempts-c.joined, c.previous
	next := c.p.policy.Decide(f, c.drawOf(c.p.draws, 0))
	if next.Again && !c.mayRetry(c.p.w.Now(), &f) {
		next = Decision{Stop: StopBudget}
	}
	if k := c.p.controls; k != nil && k.afterwards {
		c.asked = &asked{f, err}
	}
	r.of(&f, err)
	r.Again, r.Delay, r.Stop = next.Again, next.Delay, next.Stop
	c.state.LastError = err.Error()
	if !next.Again && f.Outcome != AttemptCanceled {
		err = c.givenUp(err, next.Stop)
	}
	return next, err
}

// of fills in what an attempt died of.
func (r *AttemptResult) of(f *Failure, err error) {
	r.Outcome, r.Status, r.Limit, r.Err = f.Outcome, f.Status, string(f.Limit), err
}

// givenUp returns the error of a call whose last attempt died of err, and why there is no other one.
func (c *call) givenUp(err error, why Stop) error {
	return &CallError{ID: c.state.ID, Attempts: c.state.Attempts, Err: err, Stop: why}
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
	case t.lost:
		f.Outcome = AttemptLost
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
