package metrics

import (
	"slices"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Finish closes the books and returns what was measured. It is to be called once, when the run is over and
// before it is taken down, without the monitor held. open are the calls in flight.
func (m *Meter) Finish(open []pacer.CallState) *Run {
	r := &Run{}
	undetected := m.undetected(open)
	m.w.Lock()
	now := m.w.Now()
	m.w.Unlock()
	m.servers(r, now) // which may tell of prompts
	m.w.Lock()
	defer m.w.Unlock()
	m.harm.DeadUndetected = undetected
	r.EndedAtS = now.Seconds()
	m.finishCalls(open, now)
	m.finishAgents(now)
	m.finishWork(r, now)
	m.finishAttempts(r, now)
	m.finishStalls(r, now)
	r.Harm = m.harm.finish()
	r.Recovery = m.recovery(r, now)
	r.Raw = m.raw
	r.Calls = quantiles(m.raw.CallS, m.raw.CallCensoredS)
	r.Tasks = quantiles(m.raw.TaskS, m.raw.TaskCensoredS)
	if m.sampler != nil {
		r.Series = m.sampler.finish(now)
	}
	m.closed = true
	return r
}

// finishCalls takes in the calls that are under way.
func (m *Meter) finishCalls(open []pacer.CallState, now sim.Instant) {
	for i := range open {
		s := &open[i]
		c := m.byID[s.ID]
		if c == nil || c.ended {
			continue
		}
		m.pass(c, now, s.HoldsSlot)
		if s.Stage == pacer.StageStream {
			m.streamed(c, s, now)
		}
		m.attempts.received += s.Tokens
		c.since = now
	}
	for _, c := range m.calls {
		if !c.ended {
			m.raw.CallCensoredS = append(m.raw.CallCensoredS, float32(now.Sub(c.started).Seconds()))
		}
	}
}

// finishAgents takes in the agents at work: who waits for a lock, a latch or a sub-agent is not.
func (m *Meter) finishAgents(now sim.Instant) {
	for _, a := range m.agents {
		if a.ended {
			continue
		}
		if a.state != nil && len(a.state.WaitsFor) == 0 {
			m.leave(a, now)
		}
		m.giveBack(a, now)
		if a.task == a {
			m.raw.TaskCensoredS = append(m.raw.TaskCensoredS, float32(now.Sub(a.started).Seconds()))
		}
	}
}

func (m *Meter) finishWork(r *Run, now sim.Instant) {
	t, w := &m.tasks, &r.Work
	w.TasksStarted, w.TasksCompleted, w.TasksFailed = t.started, t.completed, t.failed
	end := now
	switch {
	case t.open > 0 || t.started < m.setup.Tasks:
		r.Outcome = Never
	case t.failed > 0:
		r.Outcome, end = Failed, t.lastEnd
	default:
		r.Outcome, end = Completed, t.lastEnd
	}
	makespan := end.Sub(m.began).Seconds()
	w.MakespanS = makespan
	w.GoodputTasksPerS = over(float64(t.completed), makespan)
	w.GoodputTokensPerS = over(float64(t.tokens), makespan)
	w.ThroughputTokensPerS = over(float64(r.Waste.TokensTotal), makespan)
	w.TaskTimeMeanS = m.taskTimeMean(now)
}

// taskTimeMean is the mean time of tasks, of which those that were not completed last until the horizon.
func (m *Meter) taskTimeMean(now sim.Instant) float64 {
	horizon := max(now, m.began.Add(m.o.Horizon))
	sum := 0.0
	for _, s := range m.raw.TaskS {
		sum += float64(s)
	}
	for _, a := range m.agents {
		if a.task == a && !a.well {
			sum += horizon.Sub(a.started).Seconds()
		}
	}
	return over(sum, float64(m.tasks.started))
}

func (m *Meter) finishAttempts(r *Run, now sim.Instant) {
	a, x := &m.attempts, &r.Amplification
	x.Calls, x.Attempts = len(m.calls), a.begun
	x.PerCall = over(float64(x.Attempts), float64(x.Calls))
	x.PerAttempt = over(float64(x.ServerRequests), float64(x.Attempts))
	x.Peak = a.window.peak
	x.RetryShare = over(float64(a.again), float64(x.Attempts))

	calls := float64(len(m.calls))
	mean := func(s pacer.Stage) float64 { return over(m.stageTime[s].Seconds(), calls) }
	r.Split = Split{
		SlotS: mean(pacer.StageSlot), RateS: mean(pacer.StageRate), ConnectS: mean(pacer.StageConnect), HeadersS: mean(pacer.StageHeaders),
		FirstTokenS: mean(pacer.StageFirstToken), StreamS: mean(pacer.StageStream), BackoffS: mean(pacer.StageBackoff),
		GapMaxS: m.gapMax.Seconds(),
	}
	m.finishControl(r, now)
}

func (m *Meter) finishStalls(r *Run, now sim.Instant) {
	if m.tasks.open == 0 {
		m.idled(now)
	}
	each := make([]silence, len(m.agents))
	for i, a := range m.agents {
		each[i].from = a.end(now)
	}
	all := m.progress.stalls(m.began, now, m.agents, m.o.Silent, each)
	s := &r.Stall
	s.AllS, s.Windows, s.LongestS = all.total.Seconds(), all.windows, all.longest.Seconds()
	sum := 0.0
	for i := range each {
		sum += each[i].total.Seconds()
	}
	s.AgentMeanS = over(sum, float64(m.tasks.started))
	for _, at := range m.leaked {
		m.slotIdle += now.Sub(at)
	}
	s.SlotIdleS = m.slotIdle.Seconds()
}

// end returns when an agent has ended, which may be now.
func (a *agent) end(now sim.Instant) sim.Instant {
	if a.ended {
		return a.since
	}
	return now
}

// quantiles returns those of values and lower bounds together.
func quantiles(values, censored []float32) Quantiles {
	q := Quantiles{N: len(values) + len(censored), Censored: len(censored)}
	if q.N == 0 {
		return q
	}
	all := slices.Concat(values, censored)
	slices.Sort(all)
	at := func(percent int) float64 { return float64(all[(len(all)*percent+99)/100-1]) }
	q.P50S, q.P95S, q.P99S, q.MaxS = at(50), at(95), at(99), float64(all[len(all)-1])
	sum := 0.0
	for _, v := range all {
		sum += float64(v)
	}
	q.MeanS = sum / float64(q.N)
	return q
}
