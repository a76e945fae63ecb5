package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// builder makes evidence by hand, in the words of a story: so many agents stream, so many wait. All
// lengths are ages at the instant of the capture.
type builder struct {
	ev    harness.Evidence
	agent int
}

// stallOf begins the evidence of a first capture of a stall.
func stallOf(run string, agents, slots int, at, stalled time.Duration) *builder {
	b := &builder{ev: harness.Evidence{
		Run: run, Episode: 1, Capture: 1, At: sim.Instant(at), StalledFor: stalled,
		Setup: harness.Setup{
			Agents: agents, Workers: agents, Slots: slots, Hold: "stream", StallAfter: time.Minute, AttemptsMax: 3,
			SimulatedModel: true, Servers: "in memory", SampleEvery: 5 * time.Second, HasGauges: true, HasRouterLog: true,
		},
		Router: &harness.RouterView{},
	}}
	if slots > 0 {
		b.ev.Objects = append(b.ev.Objects, sim.ObjectState{Kind: "semaphore", Name: SlotObject, Capacity: slots, Holders: []sim.Party{}, Waiters: []sim.Party{}})
	}
	return b
}

func (b *builder) ago(d time.Duration) sim.Instant { return b.ev.At - sim.Instant(d) }

func (b *builder) object(kind, name string, capacity int) *sim.ObjectState {
	for i := range b.ev.Objects {
		if b.ev.Objects[i].Name == name {
			return &b.ev.Objects[i]
		}
	}
	b.ev.Objects = append(b.ev.Objects, sim.ObjectState{Kind: kind, Name: name, Capacity: capacity, Holders: []sim.Party{}, Waiters: []sim.Party{}})
	return &b.ev.Objects[len(b.ev.Objects)-1]
}

func (b *builder) hold(o *sim.ObjectState, name, what string, since time.Duration) {
	o.InUse++
	o.Holders = append(o.Holders, sim.Party{Name: name, What: what, Since: b.ago(since)})
}

// newAgent adds an agent in a stage and its process.
func (b *builder) newAgent(stage pacer.Stage, since time.Duration) *harness.AgentState {
	b.agent++
	name := fmt.Sprintf("agent-%02d", b.agent)
	b.ev.Agents = append(b.ev.Agents, harness.AgentState{
		Name: name, Task: fmt.Sprintf("task-%02d", b.agent), Round: 2, Step: 1 + b.agent%4, Stage: stage, Since: b.ago(since),
	})
	b.ev.Processes = append(b.ev.Processes, sim.ProcessState{Name: name, WaitsFor: "sleep", Since: b.ago(since)})
	return &b.ev.Agents[len(b.ev.Agents)-1]
}

// newCall adds an agent with a call in a stage.
func (b *builder) newCall(stage pacer.Stage, since, started time.Duration) *pacer.CallState {
	a := b.newAgent(stage, since)
	a.Call = a.Name + "-c003"
	b.ev.Calls = append(b.ev.Calls, pacer.CallState{
		ID: a.Call, Agent: a.Name, Task: a.Task, Round: a.Round, Step: a.Step, Stage: stage, Since: b.ago(since), Started: b.ago(started),
	})
	c := &b.ev.Calls[len(b.ev.Calls)-1]
	c.PromptTokens = 9000 + 100*b.agent
	if stage >= pacer.StageBackoff {
		c.AttemptID, c.Attempts = c.ID+"-a1", 1
	}
	if stage >= pacer.StageHeaders {
		c.Sent = b.ago(started)
	}
	if stage >= pacer.StageFirstToken {
		c.Headers = b.ago(since)
	}
	if o := objectNamed(b.ev.Objects, SlotObject); o != nil && stage == pacer.StageSlot {
		o.Waiters = append(o.Waiters, sim.Party{Name: c.Agent, What: c.ID, Since: c.Since})
		a.Waits = "semaphore " + SlotObject
	} else if o != nil && stage >= pacer.StageConnect && stage < pacer.StageDone {
		c.HoldsSlot = true
		b.hold(o, c.Agent, c.ID, started)
	}
	return c
}

// slot adds n calls that wait for a slot.
func (b *builder) slot(n int, since time.Duration) *builder {
	for range n {
		b.newCall(pacer.StageSlot, since, since)
	}
	return b
}

// rate adds n calls that wait for the pacer's rate with a slot in hand.
func (b *builder) rate(n int, since time.Duration) *builder {
	for range n {
		c := b.newCall(pacer.StageRate, since, since)
		if o := objectNamed(b.ev.Objects, SlotObject); o != nil {
			c.HoldsSlot = true
			b.hold(o, c.Agent, c.ID, since)
		}
	}
	return b
}

// connect adds n calls that hold a slot and wait for a connection.
func (b *builder) connect(n int, since time.Duration) *builder {
	for range n {
		b.newCall(pacer.StageConnect, since, since)
	}
	return b
}

// headers adds n calls that were sent and have no answer yet; the router has them open.
func (b *builder) headers(n int, since time.Duration) *builder {
	for range n {
		b.open(b.newCall(pacer.StageHeaders, since, since))
	}
	return b
}

// stream adds n calls that began to stream some time ago and had their last token quiet ago, one
// each 50 ms before; the router has them open.
func (b *builder) stream(n int, began, quiet time.Duration) *builder {
	for range n {
		c := b.streaming(began, quiet)
		b.open(c)
	}
	return b
}

// silent adds n calls as stream does, which the router has finished with after the last token that
// arrived.
func (b *builder) silent(n int, began, quiet time.Duration) *builder {
	for range n {
		c := b.streaming(began, quiet)
		b.finished(c, b.ago(max(0, quiet-10*time.Second)))
	}
	return b
}

// finished gives a call's attempt both lines in the router's log.
func (b *builder) finished(c *pacer.CallState, at sim.Instant) {
	b.ev.Router.Started++
	b.ev.Router.Finished++
	b.ev.Router.Answered = append(b.ev.Router.Answered, harness.RouterAnswer{ID: c.AttemptID, At: at, Status: 200})
}

// headersLog turns the router's log into one whose finished lines are written with the response
// headers: a stream under way is no longer open in it.
func (b *builder) headersLog() *builder {
	r := b.ev.Router
	r.Open, r.Answered, r.Finished = nil, nil, r.Started
	for i := range b.ev.Calls {
		c := &b.ev.Calls[i]
		switch {
		case c.Stage == pacer.StageHeaders:
			r.Open = append(r.Open, harness.RouterRequest{ID: c.AttemptID, Since: c.Sent})
			r.Finished--
		case c.Stage > pacer.StageHeaders:
			r.Answered = append(r.Answered, harness.RouterAnswer{ID: c.AttemptID, At: c.Headers, Status: 200, Latency: c.Headers.Sub(c.Sent)})
		}
	}
	return b
}

// passed notes that so many requests have been answered in the run, the latest of which was sent so
// long ago.
func (b *builder) passed(n int, sent time.Duration) *builder {
	b.ev.Totals.Answered, b.ev.Totals.AnsweredSent, b.ev.Totals.PromptTokensMax = n, b.ago(sent), 9000
	return b
}

// left notes that agents have left so many requests early, all before the stall.
func (b *builder) left(n int) *builder {
	b.ev.Totals.Left, b.ev.Totals.AttemptsTimeout, b.ev.Totals.TimeoutsFirst = n, n, n
	return b
}

func (b *builder) streaming(began, quiet time.Duration) *pacer.CallState {
	c := b.newCall(pacer.StageStream, began, began+6*time.Second)
	c.Tokens = max(2, int((began-quiet)/(50*time.Millisecond)))
	c.Events, c.Bytes = c.Tokens, int64(c.Tokens*200)
	c.LastToken, c.LastByte = b.ago(quiet), b.ago(quiet)
	c.FirstToken = c.Headers
	b.ev.Totals.TokensReceived += c.Tokens
	return c
}

func (b *builder) open(c *pacer.CallState) {
	b.ev.Router.Started++
	b.ev.Router.Open = append(b.ev.Router.Open, harness.RouterRequest{ID: c.AttemptID, Since: c.Started})
}

// tool adds n agents in a tool that waits for nobody.
func (b *builder) tool(n int, name string, since time.Duration) *builder {
	for range n {
		b.newAgent(pacer.StageTool, since).Tool = name
	}
	return b
}

// returned notes that so many calls of a tool have returned, the longest after so long.
func (b *builder) returned(name string, calls int, longest time.Duration) *builder {
	b.ev.Tools = append(b.ev.Tools, harness.ToolStats{Tool: name, Finished: calls, Longest: longest})
	return b
}

// think adds n agents between calls.
func (b *builder) think(n int, since time.Duration) *builder {
	for range n {
		b.newAgent(pacer.StageThink, since)
	}
	return b
}

// leak adds n slots that are held in the name of calls that have ended.
func (b *builder) leak(n int, since time.Duration) *builder {
	o := b.object("semaphore", SlotObject, 0)
	for i := range n {
		name := fmt.Sprintf("agent-%02d", 1+i%max(1, b.agent))
		b.hold(o, name, name+"-c001", since)
	}
	return b
}

// gauges adds samples for the last minute in which the gauges stood still and the counters grew by
// so many tokens a second.
func (b *builder) gauges(prefillRate, decodeRate float64, values ...harness.Gauge) *builder {
	sent, streaming := 0, 0
	for i := range b.ev.Calls {
		if s := b.ev.Calls[i].Stage; s >= pacer.StageHeaders && s < pacer.StageDone {
			sent++
			if s > pacer.StageHeaders {
				streaming++
			}
		}
	}
	for i := 12; i >= 0; i-- {
		back := time.Duration(i) * 5 * time.Second
		s := harness.Sample{At: b.ago(back), Sent: sent, Calls: len(b.ev.Calls), Streaming: streaming}
		for _, name := range []string{
			harness.GaugeRouterInFlight, harness.GaugeRouterQueued, harness.GaugePrefillBootstrap, harness.GaugePrefillQueue,
			harness.GaugePrefillRunning, harness.GaugePrefillInflight, harness.GaugeDecodePrealloc, harness.GaugeDecodeTransfer,
			harness.GaugeDecodeQueue, harness.GaugeDecodeRunning, harness.GaugeDecodeKV,
			harness.GaugeDecodeRetracted, harness.GaugeBootstrapFailed, harness.GaugeTransferFailed, harness.GaugeEngineAborted,
			harness.GaugeRouterRetries, harness.GaugeUnhealthyWorkers, harness.GaugeOpenBreakers,
		} {
			g := harness.Gauge{Name: name}
			if name == harness.GaugeRouterInFlight && b.ev.Router != nil {
				g.Value = float64(len(b.ev.Router.Open))
			}
			for _, v := range values {
				if v.Name == name {
					g.Value = v.Value
				}
			}
			s.Gauges = append(s.Gauges, g)
		}
		s.Gauges = append(s.Gauges,
			harness.Gauge{Name: harness.GaugePrefillTokens, Value: 900000 - prefillRate*back.Seconds()},
			harness.Gauge{Name: harness.GaugeDecodeTokens, Value: 300000 - decodeRate*back.Seconds()})
		b.ev.Samples = append(b.ev.Samples, s)
	}
	return b
}

// set changes the evidence in a way that has no word of its own.
func (b *builder) set(f func(ev *harness.Evidence)) *builder {
	f(&b.ev)
	return b
}

// done returns the evidence.
func (b *builder) done() *harness.Evidence {
	if b.ev.Router != nil {
		b.ev.Router.Last = b.ago(time.Second)
	}
	t := &b.ev.Totals
	t.CallsCompleted, t.Steps, t.ToolCalls = 84, 84, 84
	t.Attempts = 84 + len(b.ev.Calls)
	return &b.ev
}

func gauge(name string, v float64) harness.Gauge { return harness.Gauge{Name: name, Value: v} }
