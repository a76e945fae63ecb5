package embed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"example.com/wedge/pacer"
)

// call is a call in flight: from the wait for a slot, or from its first request, to the end of the
// answer. Its fields are guarded by the world's monitor.
type call struct {
	state      pacer.CallState
	agent      *Agent
	out        bool // an attempt is under way
	ended      bool
	prev, next *call
}

// begin returns a new call of the agent. The monitor is held.
func (a *Agent) begin() *call {
	d := a.dog
	now := d.w.Now()
	a.calls++
	c := &call{agent: a, prev: d.last}
	c.state = pacer.CallState{
		ID: fmt.Sprintf("%s-c%03d", a.state.Name, a.calls), Agent: a.state.Name, Task: a.state.Task,
		Round: a.state.Round, Step: a.state.Step, Stage: pacer.StageThink, Since: now, Started: now,
	}
	if d.last != nil {
		d.last.next = c
	} else {
		d.first = c
	}
	d.last = c
	return c
}

// stage puts the call into a stage. The monitor is held.
func (c *call) stage(to pacer.Stage) {
	s := &c.state
	if c.ended || s.Stage == to {
		return
	}
	from, now := s.Stage, c.agent.dog.w.Now()
	s.StageTime[from] += now.Sub(s.Since)
	s.Stage, s.Since = to, now
	c.agent.dog.calls.StageChanged(s, from)
}

// attempt begins an attempt, and returns its id. The monitor is held.
func (c *call) attempt(id string, promptTokens int) string {
	s := &c.state
	s.Attempts++
	if id == "" {
		id = fmt.Sprintf("%s-a%d", s.ID, s.Attempts)
	}
	s.AttemptID, s.PromptTokens = id, promptTokens
	s.Sent, s.Headers, s.FirstToken = 0, 0, 0
	s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = 0, 0, 0, 0, 0
	c.out = true
	c.stage(pacer.StageConnect)
	return id
}

// attemptEnded ends the attempt, and with it the call if it went well or holds no slot: who asked for
// a slot may try again. The monitor is held.
func (c *call) attemptEnded(r pacer.AttemptResult) {
	if !c.out || c.ended {
		return
	}
	c.out = false
	s := &c.state
	r.ID, r.Tokens = s.AttemptID, s.Tokens
	r.Took = c.agent.dog.w.Now().Sub(s.Since)
	if s.Stage > pacer.StageConnect {
		r.Took = c.agent.dog.w.Now().Sub(s.Sent)
	}
	if r.Err != nil {
		s.LastError = r.Err.Error()
	}
	again := r.Outcome != pacer.AttemptOK && r.Outcome != pacer.AttemptCanceled && c.agent.held == c
	r.Again = again
	c.agent.dog.calls.AttemptEnded(s, r)
	if again {
		c.stage(pacer.StageBackoff)
		return
	}
	c.end(r.Err)
}

// abandoned ends the call of a program that tries no more and has said nothing of it. What it holds
// stays held. The monitor is held.
func (a *Agent) abandoned() {
	if c := a.held; c != nil && !c.out {
		c.end(errAbandoned)
	}
}

// errAbandoned is the end of a call whose agent went on to something else.
var errAbandoned = errors.New("embed: the call was given up without a complete answer")

// end ends the call. The monitor is held.
func (c *call) end(err error) {
	if c.ended {
		return
	}
	a, d := c.agent, c.agent.dog
	c.stage(pacer.StageDone)
	c.ended = true
	if a.held == c {
		a.held = nil
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		d.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		d.last = c.prev
	}
	d.calls.CallEnded(&c.state, c.state.Tokens, err)
	if err == nil && !a.steps && !a.ended {
		a.step()
	}
	if a.nameless {
		a.end(err)
	}
}

// resultOf says how an attempt ended that has no complete answer.
func resultOf(ctx context.Context, err error) pacer.AttemptResult {
	r := pacer.AttemptResult{Outcome: pacer.AttemptNetwork, Err: err}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded), os.IsTimeout(err):
		r.Outcome, r.Limit = pacer.AttemptTimeout, string(pacer.LimitTotal)
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		r.Outcome = pacer.AttemptCanceled
	}
	return r
}
