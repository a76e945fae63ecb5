package pacer

import (
	"context"
	"fmt"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
)

// CallError is the error of a call that was given up.
type CallError struct {
	ID       string // of the call
	Attempts int    // made
	Err      error  // what the last attempt died of
	// Stop says why there was no further attempt. Empty: the call's or an attempt's time was over before
	// another one could be decided on.
	Stop Stop
}

func (e *CallError) Error() string {
	attempts := "1 attempt"
	if e.Attempts != 1 {
		attempts = fmt.Sprintf("%d attempts", e.Attempts)
	}
	return fmt.Sprintf("pacer: call %s failed after %s: %v", e.ID, attempts, e.Err)
}

// Unwrap returns what the last attempt died of.
func (e *CallError) Unwrap() error { return e.Err }

// call is one Chat under way. Its process alone changes it, with the monitor held where others look:
// at state, stream and what stands below "attempt under way". When it is over, it is used for another
// one. The request is handed down beside it, since it is large and need not be kept.
type call struct {
	p    *Pacer
	proc *sim.Process // may be nil: a goroutine that the world did not start
	id   Identity

	state        CallState
	older, newer *call
	listed       bool

	permit   permit // of the call's own slot
	inflight int    // calls with a slot when it was taken, itself included
	sampled  bool   // the line has been told of the attempt under way
	held     *hold  // of the agent; nil: none
	previous time.Duration
	joined   int         // attempts that joined others
	over     *LimitError // the cause of the call's context once its time is over; nil: it has no limit

	// For the policy's controls.
	sent  bool    // an attempt has been
	paid  float64 // to the budget, for the next attempt
	pass  pass    // of the next attempt
	asked *asked  // of a budget that is asked after the wait; nil: nothing

	kept     kept        // of the answer, from attempts that failed
	deadline sim.Instant // of what the call is for; Never: none

	own    try   // the attempt that the call's own process plays
	shown  *try  // the one that state is about; nil: none so far
	winner *try  // the one that has the answer; nil: none so far
	race   *race // under way; nil: attempts are made one at a time
	raced  bool  // there has been one, so that others may know of the call
}

func (p *Pacer) newCall(ctx context.Context, id Identity) *call {
	c := p.unused()
	c.proc, c.id = sim.ProcessOf(ctx), id
	c.own.proc, c.own.armed = c.proc, sim.Never
	if p.policy.PropagateDeadline {
		c.deadline = deadlineOf(ctx)
	}
	s := &c.state
	s.Agent, s.Task, s.Round, s.Step, s.Started = id.Agent, id.Task, id.Round, id.Step, p.w.Now()
	s.ID, s.AttemptID = p.number(id)
	if p.config.Hold == HoldAgent {
		c.held = p.holdOf(ctx, id.Agent)
	}
	return c
}

// run makes attempts until one has the answer or the call has failed.
func (c *call) run(ctx context.Context, req *openai.ChatCompletionRequest) error {
	total := c.p.policy.CallTotal
	if total == 0 {
		return c.attempts(ctx, req)
	}
	c.over = &LimitError{Limit: LimitCallTotal, After: total}
	ctx, release := sim.WithTimeout(ctx, c.p.w, total, c.over)
	defer release()
	err := c.attempts(ctx, req)
	if c.isOver(err) { // while it waited
		err = c.givenUp(err, "")
	}
	return err
}

// isOver says whether err is the end of the call's own time.
func (c *call) isOver(err error) bool { return c.over != nil && err == error(c.over) }

func (c *call) attempts(ctx context.Context, req *openai.ChatCompletionRequest) error {
	for {
		next, err := c.once(ctx, req)
		if err == nil || !next.Again && !next.Cut {
			return err
		}
		if err := c.backOff(ctx, next.Delay); err != nil {
			return err
		}
		if next.Cut {
			return c.givenUp(&LimitError{Limit: LimitTotal, After: c.p.policy.Total}, StopTotal)
		}
		if err := c.askBudget(); err != nil {
			return err
		}
	}
}

// once takes what an attempt needs, and makes it.
func (c *call) once(ctx context.Context, req *openai.ChatCompletionRequest) (Decision, error) {
	if err := c.takeSlot(ctx); err != nil {
		return c.noSlot(err)
	}
	if err := c.keepRate(ctx, req); err != nil {
		return Decision{}, err
	}
	var next Decision
	err := c.admit()
	if err != nil {
		next, err = c.turnedAway(StageRate, AttemptRejected, err)
	} else if c.p.hedges {
		next, err = c.raceAttempts(ctx, c.continued(req))
	} else {
		next, err = c.attempt(ctx, c.continued(req))
	}
	if !next.Again || !c.p.config.HoldInBackoff {
		c.giveSlot()
	}
	return next, err
}

// enter moves the call into a stage. The monitor is held; relabel once it is not. The first stage
// puts the call on the list, so that nobody sees one without.
func (c *call) enter(to Stage, now sim.Instant) {
	s := &c.state
	from := s.Stage
	if c.listed {
		s.StageTime[from] += now.Sub(s.Since)
	} else {
		c.p.list(c)
	}
	s.Stage, s.Since = to, now
	if c.p.obs != nil {
		c.p.obs.StageChanged(s, from)
	}
}

// move is enter for callers that do not hold the monitor.
func (c *call) move(to Stage) {
	c.p.w.Lock()
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	c.enter(to, c.p.w.Now())
}

// relabel puts the new stage on the goroutine. The monitor is not held.
func (c *call) relabel() {
	if c.proc != nil {
		c.proc.Relabel()
	}
}

func (c *call) backOff(ctx context.Context, d time.Duration) error {
	c.previous = d
	if d <= 0 {
		return sim.Cause(ctx)
	}
	c.move(StageBackoff)
	return c.p.w.Sleep(ctx, d)
}

func (c *call) end(err error) {
	c.giveSlot()
	c.p.w.Lock()
	defer c.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	c.closeBooks()
	if !c.listed {
		return // cancelled before its first stage: nobody has heard of it
	}
	c.state.HoldsSlot = false // one that the agent keeps is no longer this call's
	tokens := 0
	if err == nil {
		tokens = c.state.Tokens + c.kept.tokens
	}
	c.enter(StageDone, c.p.w.Now())
	c.p.unlist(c)
	if c.p.obs != nil {
		c.p.obs.CallEnded(&c.state, tokens, err)
	}
}

// leave is the last thing that Chat does. If it is left by a panic, of the backend's or the one with
// which a virtual world unwinds a process that it stops, the call is taken off the books.
func (c *call) leave() {
	c.giveSlot()
	c.p.w.Lock()
	defer c.p.w.Unlock()
	if c.listed {
		c.p.unlist(c)
		return // somebody may know of it still
	}
	if c.raced {
		return
	}
	c.p.reuse(c)
}
