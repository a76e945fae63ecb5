package series

import (
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Options say what a Meter is to know of a run.
type Options struct {
	// StallAfter is the watchdog's: work without a finished step for so long is a stall. 0: nothing is.
	StallAfter time.Duration
	// Stalls tells how many stalls the watchdog has raised. It is asked with the monitor held. nil: they are told by StallAfter.
	Stalls func() int
	// Slots tells how many of the pacer's slots are in use, and the limit on them (0: none). It is asked, with the monitor held,
	// when a call may have got one or given one back. nil: that is not known.
	Slots func() (used, limit int)
	// FirstWindow is the Index of the first window. 0: 1. A run that is resumed on the wall goes on counting.
	FirstWindow int
}

// Meter counts what happens in a run. It is to be the observer of the run's pacer and agents ([Meter.CallObserver],
// [Meter.AgentObserver]). An event costs the same however much has happened, and takes no memory but for what is in
// flight. All of its methods but these two are to be called with the monitor held. Make one with [NewMeter].
type Meter struct {
	w     sim.World
	o     Options
	began sim.Instant
	now   sim.Instant // of the latest event: a call that goes back to an earlier attempt tells of an earlier instant

	total   counts
	stalls  stalls
	stages  [pacer.StageCount]level // calls in flight
	flight  level
	agents  level
	slots   level
	limit   int // on slots
	gauges  gauges
	workers workers

	// Since the start of the run.
	stageS   StageSeconds // without the window under way
	timeouts limitCounts
	statuses statusCounts
	buckets  buckets

	// Of the window under way.
	index   int
	from    sim.Instant
	atStart counts
	times   [timeCount]histogram
}

// buckets are the histograms over the whole run.
type buckets struct {
	call, callFailed, ttft, interToken, slotWait, rateWait, backoff timeCounts
	task, taskFailed, tool                                          timeCounts
	input, output                                                   sizeCounts
}

// NewMeter returns a meter whose first window begins now.
func NewMeter(w sim.World, o Options) *Meter {
	m := &Meter{
		w: w, o: o, began: w.Now(), stalls: stalls{after: o.StallAfter, raised: o.Stalls},
		timeouts: newLimitCounts(), statuses: newStatusCounts(), workers: newWorkers(),
		index: max(o.FirstWindow, 1),
	}
	m.now, m.from, m.stalls.last = m.began, m.began, m.began
	for i := range m.times {
		m.times[i] = newHistogram()
	}
	for i := range m.stages {
		m.stages[i].next(m.began)
	}
	for _, l := range [...]*level{&m.flight, &m.agents, &m.slots} {
		l.next(m.began)
	}
	return m
}

// at moves the books' clock to the instant of an event, and returns it.
func (m *Meter) at(now sim.Instant) sim.Instant {
	m.now = max(m.now, now)
	return m.now
}

// askSlots takes in how many slots are in use.
func (m *Meter) askSlots(now sim.Instant) {
	if m.o.Slots == nil {
		return
	}
	used, limit := m.o.Slots()
	m.slots.set(used, now)
	m.limit = limit
}

// Gauges takes in a reading of the servers' gauges, which is copied.
func (m *Meter) Gauges(now sim.Instant, reading []harness.Gauge) {
	m.gauges.take(m.at(now), reading)
}

// TaskArrived tells that a task is there, on which an agent of that name will work when it can. Its time counts from
// now. A task that nobody has told of counts from when its agent begins.
func (m *Meter) TaskArrived(agent string) {
	m.workers.arrived[agent] = m.at(m.w.Now())
}

// CallObserver returns what a pacer is to be given as an observer.
func (m *Meter) CallObserver() pacer.Observer { return (*callBook)(m) }

// AgentObserver returns what agents are to be given as an observer.
func (m *Meter) AgentObserver() agents.Observer { return (*agentBook)(m) }
