package engine

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// gaps remembers how long the steps of a batch were apart. It has the longest times from the end of one
// step to that of the next, as far as anybody can still ask for them: of two, the earlier one only if it
// was longer. So they are in the order of their steps, and the longest since a step is the first after it.
// Of steps that were the first for a leg it has the ends.
type gaps struct {
	longest []gap
	firsts  []stepEnd
	awaited bool // the step under way is the first for a leg
}

// gap is the time before the end of a step since that of the one before.
type gap struct {
	step   int64
	length time.Duration
}

type stepEnd struct {
	step int64
	at   sim.Instant
}

func (g *gaps) add(step int64, length time.Duration) {
	n := len(g.longest)
	for n > 0 && g.longest[n-1].length <= length {
		n--
	}
	g.longest = append(g.longest[:n], gap{step, length})
}

// since returns the longest one after a step; 0: there is none.
func (g *gaps) since(step int64) time.Duration {
	i, _ := slices.BinarySearchFunc(g.longest, step+1, func(a gap, step int64) int { return cmp.Compare(a.step, step) })
	if i == len(g.longest) {
		return 0
	}
	return g.longest[i].length
}

// gapsKept is how many entries there may be for each leg before those are dropped that nobody can ask for
// any more.
const gapsKept = 8

// trim drops what none of the legs in the batch can ask for, which are in the order of their joining.
func (g *gaps) trim(running *fifo) {
	if most := gapsKept * (running.n + 1); len(g.firsts) < most && len(g.longest) < most {
		return
	}
	kept := g.firsts[:0]
	l := running.head
	for _, e := range g.firsts {
		for l != nil && l.startStep+1 < e.step {
			l = l.behind
		}
		if l != nil && l.startStep+1 == e.step {
			kept = append(kept, e)
		}
	}
	g.firsts = kept
	if running.head == nil {
		g.longest = g.longest[:0]
		return
	}
	i := 0
	for i < len(g.longest) && g.longest[i].step <= running.head.startStep+1 {
		i++
	}
	g.longest = append(g.longest[:0], g.longest[i:]...)
}

// noteStep notes the step that was under way, which has ended.
func (b *batch) noteStep() {
	if b.pending == 0 {
		return
	}
	b.gaps.add(b.steps, b.ended.Sub(b.before))
	if b.gaps.awaited {
		b.gaps.awaited = false
		b.gaps.firsts = append(b.gaps.firsts, stepEnd{b.steps, b.ended})
	}
}

// noteSteps notes n steps from the anchor on, of which the last is the longest but perhaps for a pause
// before the first.
func (b *batch) noteSteps(n int64) {
	b.gaps.add(b.steps+1, b.anchor.Sub(b.ended)+time.Duration(b.firstNs))
	if n > 1 {
		b.gaps.add(b.steps+n, time.Duration(b.firstNs+(n-1)*b.growthNs))
	}
	if b.fresh > 0 {
		b.gaps.firsts = append(b.gaps.firsts, stepEnd{b.steps + 1, b.anchor.Add(time.Duration(b.firstNs))})
	}
}

// gapSince returns the longest time between the ends of two steps, of those after a step that have ended by now.
func (b *batch) gapSince(step int64, now sim.Instant) time.Duration {
	longest := b.gaps.since(step)
	if b.pending == 1 && now >= b.anchor && b.steps > step {
		longest = max(longest, b.ended.Sub(b.before))
	}
	if now <= b.anchor || b.size == 0 {
		return longest
	}
	n := b.stepsIn(now.Sub(b.anchor).Nanoseconds())
	if n > 0 && b.steps+1 > step {
		longest = max(longest, b.anchor.Sub(b.ended)+time.Duration(b.firstNs))
	}
	if n > 1 && b.steps+n > step {
		longest = max(longest, time.Duration(b.firstNs+(n-1)*b.growthNs))
	}
	return longest
}

// endOfFirst returns the end of a step that is the first for a leg and has ended.
func (b *batch) endOfFirst(step int64) sim.Instant {
	switch {
	case step > b.steps:
		return b.anchor.Add(time.Duration(b.firstNs))
	case step == b.steps && b.pending == 1:
		return b.ended
	}
	i, _ := slices.BinarySearchFunc(b.gaps.firsts, step, func(e stepEnd, step int64) int { return cmp.Compare(e.step, step) })
	return b.gaps.firsts[i].at
}

// GapMax returns the longest time between two tokens of a leg so far. 0: it has not had two.
func (l *Leg) GapMax(now sim.Instant) time.Duration {
	if !l.inBatch || l.hung {
		return l.gapMax
	}
	b := &l.rank.batch
	first := l.startStep + 1
	if steps, _ := b.at(now); steps < first {
		return l.gapMax
	}
	return max(l.gapMax, b.endOfFirst(first).Sub(l.madeAt), b.gapSince(first, now))
}
