package metrics

import (
	"cmp"
	"errors"
	"slices"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// harm is what limits have done to attempts. An attempt's end and what the servers know of its fate
// are told at one instant, in either order.
type harm struct {
	Harm
	ended []ending // attempts whose fate is not known yet
	fates []fated  // fates whose attempts have not ended yet
}

// ending is an attempt that the client has ended.
type ending struct {
	id    string
	limit string // empty: it was no limit
	at    sim.Instant
	sent  sim.Instant // sim.Never: it was not
}

type fated struct {
	id   string
	at   sim.Instant
	fate serving.Fate
}

// killed takes in an attempt that the client has ended.
func (h *harm) killed(m *Meter, s *pacer.CallState, r *pacer.AttemptResult, now sim.Instant) {
	e := ending{id: r.ID, limit: limitOf(r), at: now, sent: sim.Never}
	if e.limit != "" {
		h.limit(e.limit).Killed++
		h.Killed++
	}
	if s.Stage == pacer.StageHeaders || s.Stage == pacer.StageFirstToken || s.Stage == pacer.StageStream {
		e.sent = s.Sent
	}
	if m.setup.Stack == nil {
		return
	}
	h.settle(now)
	if i := slices.IndexFunc(h.fates, func(f fated) bool { return f.id == e.id }); i >= 0 {
		h.judge(&e, h.fates[i].fate)
		h.fates = slices.Delete(h.fates, i, i+1)
		return
	}
	h.ended = append(h.ended, e)
}

// limitOf names the time limit that has ended an attempt: of the policy, or of its agent, whose attempts end as
// cancelled. Empty: none has.
func limitOf(r *pacer.AttemptResult) string {
	if r.Outcome == pacer.AttemptTimeout {
		return r.Limit
	}
	var over *agents.LimitError
	if r.Outcome == pacer.AttemptCanceled && errors.As(r.Err, &over) {
		return over.Limit
	}
	return ""
}

// left takes in what would have become of a request whose client leaves.
func (h *harm) left(id string, now sim.Instant, fate serving.Fate) {
	h.settle(now)
	if i := slices.IndexFunc(h.ended, func(e ending) bool { return e.id == id }); i >= 0 {
		h.judge(&h.ended[i], fate)
		h.ended = slices.Delete(h.ended, i, i+1)
		return
	}
	h.fates = append(h.fates, fated{id, now, fate})
}

// settle judges the attempts of earlier instants of which the servers have told nothing, since they have
// never heard of them: of those that were sent, nothing would ever have come. Fates of requests that the
// client has not ended, but given up because of an error, are of no interest.
func (h *harm) settle(now sim.Instant) {
	if len(h.fates) > 0 && h.fates[0].at < now {
		h.fates = h.fates[:0]
	}
	if len(h.ended) == 0 || h.ended[0].at == now {
		return
	}
	for i := range h.ended {
		if e := &h.ended[i]; e.sent < sim.Never {
			h.judge(e, serving.Fate{Kind: serving.FateDead, Since: e.sent})
		} else if e.limit != "" {
			h.Unsent++
		}
	}
	h.ended = h.ended[:0]
}

// judge takes in what would have become of an attempt.
func (h *harm) judge(e *ending, fate serving.Fate) {
	limited := e.limit != ""
	switch {
	case fate.Kind == serving.FateDead:
		h.DetectDeadS = append(h.DetectDeadS, float32(e.at.Sub(fate.Since).Seconds()))
		if limited {
			h.DeadKilled++
		}
	case !limited && fate.Kind == serving.FateHealthy:
		h.HealthyCancelled++
	case limited && fate.Kind == serving.FateFailing:
		h.FailingKilled++
	case limited:
		h.HealthyKilled++
		h.limit(e.limit).HealthyKilled++
		if fate.Left >= 0 {
			h.HealthyLeftS = append(h.HealthyLeftS, float32(fate.Left.Seconds()))
		}
	}
}

// limit returns the line of a limit.
func (h *harm) limit(name string) *LimitHarm {
	i, found := slices.BinarySearchFunc(h.ByLimit, name, func(l LimitHarm, name string) int { return cmp.Compare(l.Limit, name) })
	if !found {
		h.ByLimit = slices.Insert(h.ByLimit, i, LimitHarm{Limit: name})
	}
	return &h.ByLimit[i]
}

// finish returns the sums.
func (h *harm) finish() Harm {
	h.settle(sim.Never)
	h.Dead = len(h.DetectDeadS) + h.DeadUndetected
	h.FalseAlarmRate = over(float64(h.HealthyKilled), float64(h.Killed))
	return h.Harm
}
