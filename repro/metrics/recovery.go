package metrics

import (
	"time"

	"example.com/wedge/harness/sim"
)

// recoveredShare is the share of the goodput before the trigger that is a recovery.
const recoveredShare = 0.9

// recoveryStep is how exactly the time of recovery is told.
const recoveryStep = time.Second

// recovery looks for the time from which goodput was back.
func (m *Meter) recovery(r *Run, now sim.Instant) Recovery {
	from, to := m.trigger(now)
	if from == sim.Never {
		return Recovery{}
	}
	v := Recovery{HasTrigger: true, TriggerFromS: from.Seconds(), TriggerEndS: to.Seconds()}
	end := now
	if r.Outcome != Never {
		end = m.tasks.lastEnd
	}
	if from >= end { // it came when all was over
		return Recovery{}
	}
	made := m.curve(now)
	v.BeforePerS = over(made.until(from), from.Sub(m.began).Seconds())
	if v.BeforePerS == 0 {
		return v
	}
	v.LatePerS = m.late(made, to, end)
	for at := to; at < end; at = at.Add(recoveryStep) {
		until := min(end, at.Add(m.o.Hold))
		if until.Sub(at) < m.o.Hold && (r.Outcome == Never || until.Sub(at) < m.o.Window) {
			break
		}
		if over(made.until(until)-made.until(at), until.Sub(at).Seconds()) >= recoveredShare*v.BeforePerS {
			v.Recovered, v.RecoveredAfterS = true, at.Sub(to).Seconds()
			return v
		}
	}
	if r.Outcome == Completed {
		v.Recovered, v.RecoveredAfterS = true, max(0, end.Sub(to).Seconds())
		return v
	}
	v.Never = true
	return v
}

// late is the goodput in the second half of the time after the trigger in which load comes.
func (m *Meter) late(made *curve, to, end sim.Instant) float64 {
	if last := m.tasks.lastStart; last > to {
		end = min(end, last)
	}
	if end <= to {
		return 0
	}
	from := to.Add(end.Sub(to) / 2)
	return over(made.until(end)-made.until(from), end.Sub(from).Seconds())
}

// trigger returns the start of the first trigger and the end of the last, or sim.Never if there is none
// that begins within the run.
func (m *Meter) trigger(now sim.Instant) (from, to sim.Instant) {
	from = sim.Never
	for _, t := range m.o.Triggers {
		if t.From >= now {
			continue
		}
		from = min(from, t.From)
		if t.To == 0 || t.To > now {
			t.To = now
		}
		to = max(to, t.To)
	}
	return from, to
}

// curve is how many useful tokens had been made by the end of each step.
type curve struct {
	began sim.Instant
	sums  []float64
}

// curve spreads the tokens of attempts that ended well evenly over the time in which they came.
func (m *Meter) curve(now sim.Instant) *curve {
	c := &curve{began: m.began, sums: make([]float64, int(now.Sub(m.began)/recoveryStep)+2)}
	for i := range m.goodput {
		c.spread(&m.goodput[i])
	}
	for i := 1; i < len(c.sums); i++ {
		c.sums[i] += c.sums[i-1]
	}
	return c
}

// spread adds tokens to the steps in which they came.
func (c *curve) spread(g *made) {
	from, to := g.from.Sub(c.began), g.to.Sub(c.began)
	first, last := int(from/recoveryStep), int(to/recoveryStep)
	if first == last {
		c.sums[last+1] += float64(g.tokens)
		return
	}
	perNs := float64(g.tokens) / float64(to-from)
	for i := first; i <= last; i++ {
		begin, end := max(from, time.Duration(i)*recoveryStep), min(to, time.Duration(i+1)*recoveryStep)
		c.sums[i+1] += perNs * float64(end-begin)
	}
}

// until returns how many had been made by an instant, to a step.
func (c *curve) until(at sim.Instant) float64 {
	i := int(at.Sub(c.began) / recoveryStep)
	return c.sums[min(max(i, 0), len(c.sums)-1)]
}
