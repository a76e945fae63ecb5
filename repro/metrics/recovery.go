package metrics

import (
	"time"

	"example.com/wedge/harness/sim"
)

// What counts as back, and as lost again. A system is metastable if it stays in the bad state although the load is
// what it was before: Huang et al., "Metastable Failures in the Wild" (OSDI '22). The shares are ours.
const (
	recoveredShare = 0.9 // of the goodput before the trigger
	lostShare      = 0.5 // of what the load asks for
	loadShare      = 0.5 // of the load before: with less, a window tells nothing
)

// recoveryStep is how exactly the time of recovery is told.
const recoveryStep = time.Second

// aftermath is what is to be judged after a trigger.
type aftermath struct {
	m          *Meter
	began      sim.Instant
	from, to   sim.Instant // of the trigger
	end        sim.Instant // of the run, or of its last task
	loadEnd    sim.Instant // the last task to come began, or end
	comes      bool        // tasks began after the trigger
	open       bool        // a task was open at the end
	made       *curve      // useful tokens
	starts     *curve      // tasks that began
	busy       *curve      // seconds of open tasks
	beforePerS float64
}

// recovery looks for the time from which goodput was back for good.
func (m *Meter) recovery(r *Run, now sim.Instant) Recovery {
	from, to := m.trigger(now)
	a := &aftermath{m: m, began: m.began, from: from, to: to, end: now, open: r.Outcome == Never}
	if !a.open {
		a.end = m.tasks.lastEnd
	}
	if from == sim.Never || from >= a.end { // it came when all was over
		return Recovery{}
	}
	v := Recovery{HasTrigger: true, TriggerFromS: from.Seconds(), TriggerEndS: to.Seconds()}
	a.made = m.curve(now)
	a.beforePerS = a.made.rate(m.began, from)
	if v.BeforePerS = a.beforePerS; v.BeforePerS == 0 {
		return v
	}
	a.loads(now)
	v.LatePerS = a.made.rate(a.middle(), a.loadEnd)
	at, lost := a.search()
	switch {
	case at < sim.Never:
		v.Recovered, v.RecoveredAfterS = true, at.Sub(to).Seconds()
	case r.Outcome == Completed:
		v.Recovered, v.RecoveredAfterS = true, max(0, a.end.Sub(to).Seconds())
	default:
		v.Never = true
		if lost < sim.Never {
			v.Relapsed, v.RelapsedAfterS = true, lost.Sub(to).Seconds()
		}
	}
	return v
}

// loads takes in how many tasks there were, and until when they came.
func (a *aftermath) loads(now sim.Instant) {
	a.starts, a.busy = newCurve(a.began, now), newCurve(a.began, now)
	for _, task := range a.m.agents {
		if task.task == task {
			end := task.end(now)
			a.starts.spread(task.started, task.started, 1)
			a.busy.spread(task.started, end, end.Sub(task.started).Seconds())
		}
	}
	a.starts.sum()
	a.busy.sum()
	a.loadEnd = a.end
	if last := a.m.tasks.lastStart; last > a.to {
		a.comes, a.loadEnd = true, min(a.end, last)
	}
}

// middle is half-way between the end of the trigger and the end of the load.
func (a *aftermath) middle() sim.Instant { return a.to.Add(max(0, a.loadEnd.Sub(a.to)) / 2) }

// search returns the instant from which on goodput was back, and the first one at which it was lost again after it had
// been back; sim.Never where there is none.
func (a *aftermath) search() (back, lost sim.Instant) {
	back, lost = sim.Never, sim.Never
	for at := a.to; at < a.end; at = at.Add(recoveryStep) {
		if back == sim.Never {
			if a.back(at) {
				back = at
			}
		} else if until := at.Add(a.m.o.Hold); until <= a.loadEnd && a.below(lostShare, at, until) {
			back, lost = sim.Never, min(lost, at)
		}
	}
	if back == sim.Never || !a.comes {
		return back, lost
	}
	if late := max(back, a.middle()); a.loadEnd.Sub(late) >= a.m.o.Hold && a.below(recoveredShare, late, a.loadEnd) {
		back, lost = sim.Never, min(lost, late)
	}
	return back, lost
}

// back says whether goodput is what it was before in the window that begins then. At the end of a run a shorter
// one will do, unless a task was open.
func (a *aftermath) back(at sim.Instant) bool {
	until := min(a.end, at.Add(a.m.o.Hold))
	if d := until.Sub(at); d < a.m.o.Hold && (a.open || d < a.m.o.Window) {
		return false
	}
	return a.made.rate(at, until) >= recoveredShare*a.beforePerS
}

// below says whether goodput is less than a share of what the load asks for. The load is that before the
// trigger, or less where fewer tasks come and fewer are open.
func (a *aftermath) below(share float64, at, until sim.Instant) bool {
	load := min(1, max(
		over(a.starts.rate(at, until), a.starts.rate(a.began, a.from)),
		over(a.busy.rate(at, until), a.busy.rate(a.began, a.from))))
	return load >= loadShare && a.made.rate(at, until) < share*load*a.beforePerS
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

// curve is how much there had been by the end of each step.
type curve struct {
	began sim.Instant
	sums  []float64
}

func newCurve(began, now sim.Instant) *curve {
	return &curve{began: began, sums: make([]float64, int(now.Sub(began)/recoveryStep)+2)}
}

// curve spreads the tokens of attempts that ended well evenly over the time in which they came.
func (m *Meter) curve(now sim.Instant) *curve {
	c := newCurve(m.began, now)
	for i := range m.goodput {
		g := &m.goodput[i]
		c.spread(g.from, g.to, float64(g.tokens))
	}
	c.sum()
	return c
}

// spread adds an amount to the steps in which it came.
func (c *curve) spread(begin, end sim.Instant, amount float64) {
	from, to := begin.Sub(c.began), end.Sub(c.began)
	first, last := int(from/recoveryStep), int(to/recoveryStep)
	if first == last {
		c.sums[last+1] += amount
		return
	}
	perNs := amount / float64(to-from)
	for i := first; i <= last; i++ {
		begin, end := max(from, time.Duration(i)*recoveryStep), min(to, time.Duration(i+1)*recoveryStep)
		c.sums[i+1] += perNs * float64(end-begin)
	}
}

// sum adds up the steps, when all is there.
func (c *curve) sum() {
	for i := 1; i < len(c.sums); i++ {
		c.sums[i] += c.sums[i-1]
	}
}

// until returns how much there had been by an instant, to a step.
func (c *curve) until(at sim.Instant) float64 {
	i := int(at.Sub(c.began) / recoveryStep)
	return c.sums[min(max(i, 0), len(c.sums)-1)]
}

// rate returns the mean over a time, in a second.
func (c *curve) rate(from, to sim.Instant) float64 {
	return over(c.until(to)-c.until(from), to.Sub(from).Seconds())
}
