package series

import (
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// The places of distributions in Meter.times and Window.Times.
const (
	atCall = iota
	atTTFT
	atInterToken
	atSlotWait
	atRateWait
	atBackoff
	atQueue
	atStep
	atTask
	atTool
	timeCount
)

var timeNames = [timeCount]Time{TimeCall, TimeTTFT, TimeInterToken, TimeSlotWait, TimeRateWait, TimeBackoff, TimeQueue, TimeStep, TimeTask, TimeTool}

// Extra is what a window is to have beside what its meter has seen.
type Extra struct {
	// Open are the calls in flight at the end of the run: they become part of the last window's distribution of calls
	// with the time they have taken, and count there as censored. nil for all windows but the last.
	Open []pacer.CallState
}

// Close ends a window and starts the next.
func (m *Meter) Close(now sim.Instant, extra Extra) Window {
	now = m.at(now)
	m.askSlots(now)
	m.stalls.look(now)
	m.takeOpen(extra.Open, now)
	c := m.total.less(&m.atStart)
	w := Window{
		Index: m.index, FromS: m.from.Seconds(), ToS: now.Seconds(),
		Tasks: c.tasks, Calls: c.calls, Attempts: c.attempts, Tokens: c.tokens, Steps: c.steps, Tools: c.tools,
		Stalls: m.stalls.window(),
		Agents: m.agents.level(m.from, now), Flight: m.flight.level(m.from, now),
		Gauges: m.gauges.window(), Times: make([]Distribution, timeCount),
	}
	for i := range m.stages {
		if p := w.StageS.at(pacer.Stage(i)); p != nil {
			*p = m.stages[i].seconds(now)
		}
	}
	if m.o.Slots != nil {
		w.Slots = &Slots{Level: m.slots.level(m.from, now), Limit: m.limit}
	}
	for i := range m.times {
		w.Times[i] = m.times[i].distribution(timeNames[i])
	}
	m.next(&w, now)
	return w
}

// next starts a window.
func (m *Meter) next(w *Window, now sim.Instant) {
	m.index++
	m.from, m.atStart = now, m.total
	m.stalls.next()
	m.stageS.add(&w.StageS)
	for i := range m.stages {
		m.stages[i].next(now)
	}
	for _, l := range [...]*level{&m.flight, &m.agents, &m.slots} {
		l.next(now)
	}
	for i := range m.times {
		m.times[i].reset()
	}
}

// add adds the seconds of a window.
func (s *StageSeconds) add(o *StageSeconds) {
	for stage := pacer.StageSlot; stage <= pacer.StageStream; stage++ {
		*s.at(stage) += o.Of(stage)
	}
}

// Snapshot returns what was counted until now. It takes some microseconds, and memory for what it returns.
func (m *Meter) Snapshot(now sim.Instant) Cumulative {
	now = m.at(now)
	m.askSlots(now)
	m.stalls.look(now)
	t, seconds, tokens := &m.total, timeBounds(), sizeBounds()
	c := Cumulative{
		AtS: now.Seconds(), FromS: m.began.Seconds(),
		Tasks: t.tasks, Calls: t.calls, Attempts: t.attempts, Tokens: t.tokens, Steps: t.steps, Tools: t.tools, ToolErrors: t.toolErrors,
		Stalls:   Stalls{Begun: m.stalls.begun, S: m.stalls.spent.Seconds(), Open: m.stalls.open},
		StageS:   m.stageS,
		Timeouts: append([]Count(nil), m.timeouts...), Statuses: m.statuses.counts(),
		Agents: m.agents.value, StalledS: m.stalls.idle(now).Seconds(),
		Gauges: m.gauges.latest(), GaugesAtS: -1,
		InputTokens: m.buckets.input.buckets(tokens), OutputTokens: m.buckets.output.buckets(tokens),
	}
	for stage := pacer.StageSlot; stage <= pacer.StageStream; stage++ {
		l := &m.stages[stage]
		*c.StageS.at(stage) += l.seconds(now)
		c.ByStage = append(c.ByStage, Count{stage.String(), l.value})
	}
	if m.gauges.read {
		c.GaugesAtS = m.gauges.at.Seconds()
	}
	if m.o.Slots != nil {
		c.Slots = &Slots{Level: m.slots.level(m.from, now), Limit: m.limit}
	}
	m.buckets.snapshot(&c, seconds)
	return c
}

func (b *buckets) snapshot(c *Cumulative, bounds []float64) {
	c.Call, c.CallFailed = b.call.buckets(bounds), b.callFailed.buckets(bounds)
	c.TTFT, c.InterToken = b.ttft.buckets(bounds), b.interToken.buckets(bounds)
	c.SlotWait, c.RateWait, c.Backoff = b.slotWait.buckets(bounds), b.rateWait.buckets(bounds), b.backoff.buckets(bounds)
	c.Task, c.TaskFailed, c.Tool = b.task.buckets(bounds), b.taskFailed.buckets(bounds), b.tool.buckets(bounds)
}
