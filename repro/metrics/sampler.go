package metrics

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// sampler notes values at fixed instants, for plots.
type sampler struct {
	m     *Meter
	s     Series
	timer *sim.Timer
	spans [][]Span // by agent

	attempts  int // begun since the latest instant
	callsSeen int // begun until then
}

func newSampler(m *Meter) *sampler {
	p := &sampler{m: m}
	p.s.EveryS = m.o.Every.Seconds()
	p.timer = m.w.AfterFunc(m.o.Every, p.tick)
	return p
}

// tick notes the values of now. The monitor is held.
func (p *sampler) tick() {
	if p.m.closed {
		return
	}
	p.note()
	p.timer.Reset(p.m.o.Every)
}

func (p *sampler) note() {
	m, s := p.m, &p.s
	every := float32(s.EveryS)
	s.OfferedPerS = append(s.OfferedPerS, float32(len(m.calls)-p.callsSeen)/every)
	s.AttemptsPerS = append(s.AttemptsPerS, float32(p.attempts)/every)
	p.callsSeen, p.attempts = len(m.calls), 0
	s.ClientInflight = append(s.ClientInflight, float32(m.inflight.value))
	s.PacerQueue = append(s.PacerQueue, float32(m.inStage[pacer.StageSlot]+m.inStage[pacer.StageRate]))
	s.Backoff = append(s.Backoff, float32(m.inStage[pacer.StageBackoff]))
	state := m.controls()
	s.note(&state)
	var places serving.Places
	if m.setup.Stack != nil {
		places = m.setup.Stack.PlacesLocked()
	}
	s.ServerRunning = append(s.ServerRunning, float32(places.Running))
	s.Zombies = append(s.Zombies, float32(places.Deserted))
	s.ServerQueue = append(s.ServerQueue, float32(places.Queued))
	s.SlotsZombie = append(s.SlotsZombie, float32(places.Deserted))
	s.SlotsIdle = append(s.SlotsIdle, float32(places.Idle))
	s.SlotsUseful = append(s.SlotsUseful, float32(places.Running-places.Deserted-places.Idle))
	s.SlotsQueued = append(s.SlotsQueued, float32(places.Queued))
}

// span notes what an agent did for a while.
func (p *sampler) span(a *agent, stage pacer.Stage, from, to sim.Instant) {
	if to <= from {
		return
	}
	for len(p.spans) <= a.index {
		p.spans = append(p.spans, nil)
	}
	p.spans[a.index] = append(p.spans[a.index], Span{a.name, stage.String(), from.Seconds(), to.Seconds()})
}

// finish returns the series up to now.
func (p *sampler) finish(now sim.Instant) *Series {
	p.timer.Stop()
	s := &p.s
	if float64(len(s.OfferedPerS))*s.EveryS < now.Sub(p.m.began).Seconds() {
		p.note() // a last stretch, which is shorter
	}
	s.GoodputPerS = make([]float32, len(s.OfferedPerS))
	c := p.m.curve(now)
	for i := range s.GoodputPerS {
		from := p.m.began.Add(time.Duration(i) * p.m.o.Every)
		s.GoodputPerS[i] = float32((c.until(from.Add(p.m.o.Every)) - c.until(from)) / s.EveryS)
	}
	for _, spans := range p.spans {
		s.Gantt = append(s.Gantt, spans...)
	}
	return s
}
