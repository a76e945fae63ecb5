package live

import (
	"example.com/wedge/harness"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
)

// Bounds of texts that come from elsewhere: a name, and an explanation.
const (
	textBytesMax = 400
	whyBytesMax  = 1500
)

// The stages of a call; those before are agents' own.
const (
	firstOfCall = pacer.StageSlot
	lastOfCall  = pacer.StageStream
)

// fill puts a run's progress into the snapshot.
func (s *Snapshot) fill(p *harness.Progress) {
	t := &p.Totals
	s.AtS = p.At.Seconds()
	s.Agents = Agents{
		AtWork: p.Agents, Begun: p.Tasks, Done: t.AgentsDone, Failed: t.AgentsFailed, Steps: t.Steps,
		ByStage: make([]Count, 0, pacer.StageCount-1),
	}
	for stage := range pacer.StageDone {
		s.Agents.ByStage = append(s.Agents.ByStage, Count{stage.String(), p.AgentsByStage[stage]})
	}
	s.Calls = Calls{
		InFlight: p.Calls, Sent: p.Sent, Completed: t.CallsCompleted, Failed: t.CallsFailed, Attempts: t.Attempts,
		Retries: t.Backoffs, Timeouts: t.AttemptsTimeout, Refused: t.AttemptsStatus,
	}
	for stage := firstOfCall; stage <= lastOfCall; stage++ {
		s.Calls.ByStage = append(s.Calls.ByStage, Count{stage.String(), p.ByStage[stage]})
	}
	s.Tokens = Tokens{Received: t.TokensReceived, Wasted: t.TokensWasted}
	s.fillPacer(p)
	s.fillGauges(p)
	if o := &p.Oldest; o.ID != "" {
		s.Oldest = &Oldest{
			ID: cut(o.ID), Agent: cut(o.Agent), Stage: o.Stage.String(),
			AgeS: p.At.Sub(o.Started).Seconds(), StageS: p.At.Sub(o.Since).Seconds(),
		}
	}
	s.IdleS = p.StalledFor.Seconds()
	s.fillStall(p)
	for i := range s.Facts {
		s.Facts[i].Name, s.Facts[i].Value = cut(s.Facts[i].Name), cut(s.Facts[i].Value)
	}
	if s.Facts == nil {
		s.Facts = []Fact{}
	}
}

func (s *Snapshot) fillPacer(p *harness.Progress) {
	o := &p.Pacer
	s.Slots = Slots{Max: o.SlotsMax, InUse: o.SlotsInUse, Waiting: p.ByStage[pacer.StageSlot]}
	s.Rates = []Rate{}
	waiting := p.ByStage[pacer.StageRate]
	if o.RequestsPerS > 0 {
		s.Rates = append(s.Rates, Rate{"requests", o.RequestsPerS, o.RequestsLeft, waiting})
	}
	if o.TokensPerS > 0 {
		s.Rates = append(s.Rates, Rate{"tokens", o.TokensPerS, o.TokensLeft, waiting})
	}
}

func (s *Snapshot) fillGauges(p *harness.Progress) {
	s.Gauges = make([]Gauge, len(p.Gauges))
	for i, g := range p.Gauges {
		s.Gauges[i] = Gauge{cut(g.Name), g.Value}
	}
	s.GaugesErr = cut(p.GaugesErr)
	if p.GaugesAt > 0 || len(p.Gauges) > 0 {
		s.GaugesAgeS = p.At.Sub(p.GaugesAt).Seconds()
	}
}

func (s *Snapshot) fillStall(p *harness.Progress) {
	g := &p.LastStall
	if s.Stalls = g.Episode; g.Episode == 0 {
		return
	}
	end := g.EndedAt
	if g.Open() {
		end = p.At
	}
	s.Stall = &Stall{
		Episode: g.Episode, Open: g.Open(), StartedS: g.StartedAt.Seconds(), DetectedS: g.DetectedAt.Seconds(),
		LastedS: end.Sub(g.StartedAt).Seconds(), EndedBy: cut(g.EndedBy),
	}
	if v, ok := g.Verdict.(diagnose.Verdict); ok {
		s.Stall.Outcome, s.Stall.Layer, s.Stall.Why = string(v.Outcome), string(v.Layer), cutAt(v.Summary, whyBytesMax)
		if v.Cause != diagnose.CauseNone {
			s.Stall.Cause = string(v.Cause)
		}
	}
}

// cut bounds a name.
func cut(text string) string { return cutAt(text, textBytesMax) }

// cutAt bounds a text, at the end of a character.
func cutAt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := 0
	for i := range text {
		if i > most-len("…") {
			break
		}
		end = i
	}
	return text[:end] + "…"
}
