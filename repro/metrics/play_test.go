package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/metrics"
)

// play tells a meter a story by hand, in virtual time.
type play struct {
	t   *testing.T
	w   *sim.Virtual
	ctx context.Context
	m   *metrics.Meter

	calls  pacer.Observer
	agents agents.Observer
	open   []*pacer.CallState
}

// quiet is the observer before the meter.
type quiet struct{}

func (quiet) AttemptEnded(*pacer.CallState, pacer.AttemptResult) {}
func (quiet) CallEnded(*pacer.CallState, int, error)             {}
func (quiet) StageChanged(*pacer.CallState, pacer.Stage)         {}

type quietAgents struct{}

func (quietAgents) AgentStarted(*agents.State)                {}
func (quietAgents) StageChanged(*agents.State)                {}
func (quietAgents) ToolCalled(*agents.State, agents.ToolCall) {}
func (quietAgents) StepDone(*agents.State)                    {}
func (quietAgents) AgentEnded(*agents.State, error)           {}

// tell runs a story and returns what was measured of it.
func tell(t *testing.T, o metrics.Options, s metrics.Setup, story func(p *play)) *metrics.Run {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	p := &play{t: t, w: sim.NewVirtual(sim.VirtualOptions{})}
	p.m = metrics.New(p.w, o, s)
	p.calls, p.agents = p.m.CallObserver(quiet{}), p.m.AgentObserver(quietAgents{})
	var r *metrics.Run
	err := p.w.Run(context.Background(), func(ctx context.Context) {
		p.ctx = ctx
		story(p)
		var open []pacer.CallState
		for _, c := range p.open {
			if c.Stage != pacer.StageDone {
				open = append(open, *c)
			}
		}
		r = p.m.Finish(open)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// at lets time pass until so many seconds.
func (p *play) at(s float64) {
	d := time.Duration(s*float64(time.Second)) - time.Duration(p.w.Now())
	if d < 0 {
		p.t.Fatalf("time goes back to %v", s)
	}
	if err := p.w.Sleep(p.ctx, d); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) held(f func()) {
	p.w.Lock()
	defer p.w.Unlock()
	f()
}

// arrive has a task be there, for an agent of that name.
func (p *play) arrive(agent string) {
	p.held(func() { p.m.TaskArrived(agent) })
}

// start has an agent begin with its task.
func (p *play) start(name string) *agents.State {
	s := &agents.State{Name: name, Task: "task of " + name, Since: p.w.Now()}
	p.held(func() { p.agents.AgentStarted(s) })
	return s
}

// stage has an agent think, or use a tool.
func (p *play) stage(s *agents.State, stage pacer.Stage, tool string) {
	s.Stage, s.Since, s.Tool = stage, p.w.Now(), tool
	p.held(func() { p.agents.StageChanged(s) })
}

// end ends an agent.
func (p *play) end(s *agents.State, err error) {
	s.Stage, s.Since = pacer.StageDone, p.w.Now()
	p.held(func() { p.agents.AgentEnded(s, err) })
}

// call begins a call, which is to be moved at once.
func (p *play) call(id, agent string) *pacer.CallState {
	c := &pacer.CallState{ID: id, Agent: agent, Started: p.w.Now(), Since: p.w.Now()}
	p.open = append(p.open, c)
	return c
}

// move has a call enter a stage.
func (p *play) move(c *pacer.CallState, to pacer.Stage) {
	from, now := c.Stage, p.w.Now()
	c.Stage, c.Since = to, now
	switch to {
	case pacer.StageConnect:
		c.Attempts++
		c.AttemptID = c.ID + "-a" + string(rune('0'+c.Attempts))
		c.Tokens, c.LastToken = 0, 0
	case pacer.StageHeaders:
		c.Sent = now
	case pacer.StageFirstToken:
		c.Headers = now
	case pacer.StageStream:
		c.FirstToken, c.LastToken = now, now
	}
	p.held(func() { p.calls.StageChanged(c, from) })
}

// send brings a call to where it waits for headers.
func (p *play) send(c *pacer.CallState) {
	p.move(c, pacer.StageConnect)
	p.move(c, pacer.StageHeaders)
}

// answer has headers and first token come at once.
func (p *play) answer(c *pacer.CallState) {
	p.move(c, pacer.StageFirstToken)
	p.move(c, pacer.StageStream)
}

// fail ends an attempt with an outcome; the last token came at last, in seconds.
func (p *play) fail(c *pacer.CallState, outcome string, limit pacer.Limit, tokens int, last float64) {
	c.Tokens = tokens
	if tokens > 0 {
		c.LastToken = sim.Instant(last * 1e9)
	}
	r := pacer.AttemptResult{ID: c.AttemptID, Outcome: outcome, Limit: string(limit), Tokens: tokens, Err: errGone}
	p.held(func() { p.calls.AttemptEnded(c, r) })
}

// done ends a call well, with tokens that have come up to now.
func (p *play) done(c *pacer.CallState, tokens int) {
	c.Tokens, c.LastToken = tokens, p.w.Now()
	p.held(func() {
		p.calls.AttemptEnded(c, pacer.AttemptResult{ID: c.AttemptID, Outcome: pacer.AttemptOK, Tokens: tokens})
	})
	p.over(c, tokens, nil)
}

// over ends a call.
func (p *play) over(c *pacer.CallState, tokens int, err error) {
	c.HoldsSlot = false
	p.move(c, pacer.StageDone)
	p.held(func() { p.calls.CallEnded(c, tokens, err) })
}

var errGone = errors.New("gone")

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
