package record

import (
	"slices"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// openCall is a call under way.
type openCall struct {
	Call
	serial   int // in the order of their starts
	stage    pacer.Stage
	since    sim.Instant
	attempt  int       // of the stage
	attempts []openTry // under way, in the order of their starts
	latest   int       // highest number of an attempt that has begun
}

// openTry is an attempt under way.
type openTry struct {
	n    int
	from sim.Instant
}

func (r *Reader) stage(at sim.Instant) *fieldError {
	f := &r.line
	stage, from, err := f.stages()
	if err != nil {
		return err
	}
	id := f.texts[keyCall]
	c := r.calls[string(id)]
	switch {
	case from == pacer.StageThink:
		if c != nil {
			if !r.loose {
				return wrong(keyCall, "found the start of %s, which is under way, want one that is not", excerpt(id))
			}
			r.endCall(c, at, true)
		}
		if !f.has.has(keyAgent) || !f.has.has(keyTask) {
			return wrong(keyFrom, "found the start of a call without agent and task, want it with both")
		}
		c = r.beginCall(string(id), at)
		c.Agent, c.Task, c.Round, c.Step = f.text(keyAgent), f.text(keyTask), f.num(keyRound), f.num(keyStep)
	case c != nil:
		at = max(at, c.since)
		c.leave(at)
	default:
		if !r.loose {
			return wrong(keyCall, "found %s, which has not begun, want a call that has", excerpt(id))
		}
		c = r.cutCall(string(id))
		c.stage, c.attempt = from, f.num(keyAttempt)
		if stage == pacer.StageConnect { // which begins an attempt
			c.attempt--
		}
		c.leave(at)
	}
	if c.Agent != "" {
		r.seen(c.Agent, c.Task, c.From)
	}
	c.enter(stage, f.num(keyAttempt), at)
	if r.h.Stage != nil {
		r.h.Stage(StageEvent{At: at, Call: c.ID, Agent: c.Agent, From: from, Stage: stage, Attempt: c.attempt})
	}
	return nil
}

// stages returns the two stages of a stage line.
func (f *fields) stages() (stage, from pacer.Stage, err *fieldError) {
	if e := stage.UnmarshalText(f.texts[keyStage]); e != nil {
		return 0, 0, wrong(keyStage, "found %s, want the name of a stage", excerpt(f.texts[keyStage]))
	}
	if e := from.UnmarshalText(f.texts[keyFrom]); e != nil {
		return 0, 0, wrong(keyFrom, "found %s, want the name of a stage", excerpt(f.texts[keyFrom]))
	}
	return stage, from, nil
}

func (r *Reader) beginCall(id string, from sim.Instant) *openCall {
	r.serial++
	c := &openCall{Call: Call{ID: id, From: from}, serial: r.serial, since: from}
	r.calls[id] = c
	return c
}

// cutCall begins a call whose start is in a line that is missing.
func (r *Reader) cutCall(id string) *openCall {
	c := r.beginCall(id, r.gap)
	c.Cut, c.Agent = true, agentOf(id)
	return c
}

// leave ends the stage that the call is in.
func (c *openCall) leave(at sim.Instant) {
	if c.stage == pacer.StageThink || c.stage == pacer.StageDone {
		return
	}
	c.Spans = append(c.Spans, StageSpan{Stage: c.stage, Attempt: c.attempt, From: c.since, To: at})
}

// enter begins a stage, and with it the attempt, if that is new.
func (c *openCall) enter(stage pacer.Stage, attempt int, at sim.Instant) {
	c.stage, c.attempt, c.since = stage, attempt, at
	if sends(stage) && attempt > c.latest {
		c.latest = attempt
		c.attempts = append(c.attempts, openTry{attempt, at})
	}
}

func (r *Reader) attemptEnded(at sim.Instant) *fieldError {
	f := &r.line
	c, err := r.called()
	if err != nil {
		return err
	}
	a := Attempt{
		N: f.num(keyAttempt), ID: f.text(keyID), From: at - sim.Instant(f.nums[keyTook]), To: at, Outcome: f.text(keyOutcome),
		Limit: f.text(keyLimit), Status: f.num(keyStatus), Tokens: f.num(keyTokens), Err: f.text(keyErr),
		Again: f.flag(keyAgain), Delay: time.Duration(f.nums[keyDelay]), Stop: f.text(keyStop), Kept: f.num(keyKept),
		Hedge: f.flag(keyHedge), Beside: f.flag(keyBeside),
	}
	if a.From > at {
		return wrong(keyTook, "found a length below 0, want one of at least 0")
	}
	c.attempts = slices.DeleteFunc(c.attempts, func(t openTry) bool { return t.n == a.N })
	c.Attempts = append(c.Attempts, a)
	return nil
}

// called returns the call that a line is about.
func (r *Reader) called() (*openCall, *fieldError) {
	id := r.line.texts[keyCall]
	if c := r.calls[string(id)]; c != nil {
		return c, nil
	}
	if !r.loose {
		return nil, wrong(keyCall, "found %s, which has not begun, want a call that has", excerpt(id))
	}
	c := r.cutCall(string(id))
	r.seen(c.Agent, "", c.From)
	return c, nil
}

func (r *Reader) callEnded(at sim.Instant) *fieldError {
	f := &r.line
	c, err := r.called()
	if err != nil {
		return err
	}
	c.startedAt(at - sim.Instant(f.nums[keyTook]))
	c.OK, c.Tokens, c.Err = f.flag(keyOK), f.num(keyTokens), f.text(keyErr)
	r.endCall(c, at, false)
	return nil
}

// startedAt takes over when the call began, as its end tells. On the wall that is a moment before the first
// line about it.
func (c *openCall) startedAt(from sim.Instant) {
	switch {
	case c.Cut:
		c.From = from
	case from < c.From:
		c.From = from
		if len(c.Spans) > 0 {
			c.Spans[0].From = from
		} else {
			c.since = from
		}
	}
}

// endCall ends a call with what is open of it.
func (r *Reader) endCall(c *openCall, at sim.Instant, open bool) {
	delete(r.calls, c.ID)
	at = max(at, c.since)
	c.leave(at)
	for _, t := range c.attempts {
		c.Attempts = append(c.Attempts, Attempt{N: t.n, From: t.from, To: at, Open: true})
	}
	c.To, c.Open = at, open
	ended := c.Call
	emit(r.h.Call, &ended)
}
