package series_test

import (
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/series"
)

// BenchmarkEvent is the cost of an event, averaged over those of a call with its attempt, of its step and its tool: 13
// of them, in the mix of a run.
func BenchmarkEvent(b *testing.B) {
	w := sim.NewWall(sim.WallOptions{Seed: 1})
	m := series.NewMeter(w, series.Options{StallAfter: time.Minute, Slots: func() (int, int) { return 7, 16 }})
	p := player{calls: m.CallObserver(), agents: m.AgentObserver()}
	a := &agents.State{Name: "agent-01", Task: "task-01"}
	p.agents.AgentStarted(a)
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		events += p.step(a)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// BenchmarkClose is the cost of a window's end.
func BenchmarkClose(b *testing.B) {
	w := sim.NewWall(sim.WallOptions{Seed: 1})
	m := series.NewMeter(w, series.Options{StallAfter: time.Minute})
	p := player{calls: m.CallObserver(), agents: m.AgentObserver()}
	a := &agents.State{Name: "agent-01"}
	p.agents.AgentStarted(a)
	b.ReportAllocs()
	for b.Loop() {
		for range 100 {
			p.step(a)
		}
		m.Close(p.now, series.Extra{})
	}
}

// player tells a meter of calls, in time of its own.
type player struct {
	calls  pacer.Observer
	agents agents.Observer
	now    sim.Instant
	call   pacer.CallState
}

// step plays a step with one call that ends well, and returns how many events that was.
func (p *player) step(a *agents.State) int {
	c := &p.call
	*c = pacer.CallState{ID: "agent-01-c001", Agent: a.Name, Started: p.now, PromptTokens: 12_000, Attempts: 1}
	events := 0
	move := func(to pacer.Stage, after time.Duration) {
		from := c.Stage
		p.now = p.now.Add(after)
		c.StageTime[from] += after
		c.Stage, c.Since = to, p.now
		p.calls.StageChanged(c, from)
		events++
	}
	move(pacer.StageSlot, 0)
	move(pacer.StageRate, 37*time.Second)
	move(pacer.StageConnect, 0)
	c.Sent = p.now
	move(pacer.StageHeaders, time.Millisecond)
	c.Headers = p.now.Add(time.Second)
	move(pacer.StageFirstToken, time.Second)
	c.FirstToken = p.now.Add(2 * time.Second)
	move(pacer.StageStream, 2*time.Second)
	c.Tokens, c.LastToken = 1000, p.now.Add(50*time.Second)
	p.now = c.LastToken
	p.calls.AttemptEnded(c, pacer.AttemptResult{Outcome: pacer.AttemptOK, Tokens: 1000})
	move(pacer.StageDone, 0)
	p.calls.CallEnded(c, 1000, nil)
	p.agents.StageChanged(a)
	p.agents.ToolCalled(a, agents.ToolCall{Tool: "read", Took: 20 * time.Millisecond, InRange: true})
	p.agents.StageChanged(a)
	p.agents.StepDone(a)
	return events + 6
}
