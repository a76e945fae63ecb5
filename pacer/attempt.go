package pacer

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// attempt makes one attempt. If it fails for good, the error is that of the call; if the decision is
// to go on, it does not matter.
func (c *call) attempt(ctx context.Context, req *openai.ChatCompletionRequest) (decision, error) {
	attemptCtx := c.begin(ctx)
	err := c.exchange(attemptCtx, req)
	stream := c.stream
	next, err := c.settle(ctx, err)
	if stream != nil {
		_ = stream.Close() // nothing is left that could be lost
	}
	if c.cancel != nil {
		c.cancel(context.Canceled)
		c.cancel = nil
	}
	if !next.again || !c.p.config.HoldInBackoff {
		c.giveSlot()
	}
	return next, err
}

// begin starts the clock of a new attempt. Its context is the caller's own if no limit can end it.
func (c *call) begin(ctx context.Context) context.Context {
	if c.p.limited {
		ctx, c.cancel = c.p.w.WithCancel(ctx)
	}
	c.answer = answer{}
	c.p.w.Lock()
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	s := &c.state
	s.Attempts++
	if s.Attempts > 1 {
		s.AttemptID = s.ID + "-a" + strconv.Itoa(s.Attempts)
	}
	s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = 0, 0, 0, 0, 0
	s.Sent, s.Headers, s.FirstToken = 0, 0, 0
	a := &Attempt{ID: s.AttemptID, Number: s.Attempts, Of: c.id}
	a.Connected = func() { c.connected(a) }
	c.under = a
	now := c.p.w.Now()
	c.phase, c.hit = phase{stage: StageConnect, began: now}, nil
	c.enter(StageConnect, now)
	c.watch(now)
	return ctx
}

// exchange sends the request and receives the answer.
func (c *call) exchange(ctx context.Context, req *openai.ChatCompletionRequest) error {
	stream, err := c.p.backend.Open(ctx, c.under, *req)
	if err != nil {
		return err
	}
	c.opened(stream)
	if c.p.config.Hold == HoldStart {
		c.giveSlot()
	}
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			return c.answer.check()
		}
		if err != nil {
			return err
		}
		output, err := c.answer.add(&chunk)
		if err != nil {
			return err
		}
		if output && c.phase.stage == StageFirstToken {
			c.flows()
		}
	}
}

// connected notes that an attempt has its connection. A backend may say so late or twice.
func (c *call) connected(a *Attempt) {
	c.p.w.Lock()
	if c.under != a || c.phase.stage != StageConnect {
		c.p.w.Unlock()
		return
	}
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	now := c.p.w.Now()
	c.phase.stage, c.phase.connected = StageHeaders, now
	c.state.Sent = now
	c.enter(StageHeaders, now)
	c.watch(now)
}

// opened notes that the response headers are in.
func (c *call) opened(stream Stream) {
	c.p.w.Lock()
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	now := c.p.w.Now()
	if c.phase.stage == StageConnect {
		c.phase.connected = now // the backend did not say
		c.state.Sent = now
	}
	c.stream = stream
	c.phase.stage, c.phase.headers = StageFirstToken, now
	c.state.Headers = now
	c.enter(StageFirstToken, now)
	c.watch(now)
}

// flows notes the first output.
func (c *call) flows() {
	c.p.w.Lock()
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	now := c.p.w.Now()
	c.phase.stage, c.phase.content = StageStream, now
	c.state.FirstToken = now
	c.refresh()
	c.enter(StageStream, now)
	c.watch(now)
}

// watch makes sure that the timer fires no later than the next limit is due. A limit that has moved
// away leaves the timer as it is: it looks again when it fires. The monitor is held.
func (c *call) watch(now sim.Instant) {
	if !c.p.limited {
		return
	}
	at, _ := c.p.policy.due(c.phase, c.refresh())
	c.arm(at, now)
}

func (c *call) arm(at, now sim.Instant) {
	if at >= c.armed {
		return
	}
	c.armed = at
	if c.timer == nil {
		c.timer = c.p.w.AfterFunc(at.Sub(now), c.look)
	} else {
		c.timer.Reset(at.Sub(now))
	}
}

// look is the timer's function: it ends the attempt if a limit is due, or sets the timer to when one
// will be. The monitor is held.
func (c *call) look() {
	now := c.p.w.Now()
	c.armed = sim.Never
	at, limit := c.p.policy.due(c.phase, c.refresh())
	if at > now {
		c.arm(at, now)
		return
	}
	c.hit = &LimitError{Limit: limit, After: c.p.policy.lengthOf(limit)}
	c.cancel(c.hit)
}

// settle says how the attempt ended, and decides what comes next. The error is that of the call.
func (c *call) settle(ctx context.Context, err error) (decision, error) {
	c.p.w.Lock()
	defer c.p.w.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.armed = sim.Never
	}
	c.refresh()
	c.stream = nil
	now := c.p.w.Now()
	r := AttemptResult{ID: c.state.AttemptID, Outcome: AttemptOK, Took: now.Sub(c.phase.began)}
	c.phase.stage = StageDone
	var next decision
	if err != nil {
		var f failure
		f, err = c.classify(ctx, err)
		next = c.p.policy.decide(f, c.draw())
		c.leak(now)
		r.Outcome, r.Status, r.Err = f.outcome, f.status, err
		r.Again, r.Delay = next.again, next.delay
		if f.outcome == AttemptTimeout {
			r.Limit = string(c.hit.Limit)
		}
		c.state.LastError = err.Error()
		if !next.again && f.outcome != AttemptCanceled {
			err = &CallError{ID: c.state.ID, Attempts: c.state.Attempts, Err: err}
		}
	} else if u := c.answer.usage; u != nil {
		c.state.Tokens = max(0, u.CompletionTokens)
	}
	r.Tokens = c.state.Tokens
	if c.p.obs != nil {
		c.p.obs.AttemptEnded(&c.state, r)
	}
	return next, err
}

// classify says what an attempt died of. The caller's cancel comes first, whatever it made of the
// connection; an answer that is there counts as one even if a limit fired at the same instant.
func (c *call) classify(ctx context.Context, err error) (failure, error) {
	f := failure{attempt: c.state.Attempts, previous: c.previous, outcome: AttemptNetwork}
	if cause := sim.Cause(ctx); cause != nil {
		f.outcome = AttemptCanceled
		return f, cause
	}
	if errors.Is(err, sim.ErrStopped) {
		f.outcome = AttemptCanceled
		return f, err
	}
	var status *StatusError
	switch {
	case errors.As(err, &status):
		f.outcome, f.status = AttemptStatus, status.Status
		f.retryAfter, f.hasRetryAfter = status.RetryAfter, status.HasRetryAfter
	case c.hit != nil:
		f.outcome = AttemptTimeout
		err = c.hit
	default:
		f.notSent = errors.Is(err, ErrNotSent)
	}
	return f, err
}

// draw returns this attempt's draw for the wait after it. It depends on the call and the attempt
// only, not on what other calls have drawn.
func (c *call) draw() float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.state.ID)) // never fails
	s := c.p.draws.At(int(h.Sum64())).At(c.state.Attempts)
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
