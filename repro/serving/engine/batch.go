package engine

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// batch is the running batch of a rank. It makes its tokens in steps, one token of each request a
// step. Who joins during a step takes part from the next one on; who leaves during a step has taken
// part in it. So the length of a step is fixed when it begins, and between two changes of the batch
// the whole course is a closed form:
//
//	         anchor                     the end of the step that was under way at the latest change,
//	-----+-----+------+-------+-----    or the latest change itself if nothing was
//	     ^     ^ first ^ first+growth
//	  before   steps finished, at ended
//
// With B requests and C context tokens at the anchor, the first step after it takes
//
//	first = step_base + B·step_per_request + C·step_per_context_token
//
// and each further one takes growth = B·step_per_context_token longer, since the context grows by B
// tokens. So n steps take n·first + n(n-1)/2·growth, and the inverse is a square root. All lengths are
// whole nanoseconds, so that there is no rounding: see TestBatchTwin.
//
// Each leg in the batch has a stop, the number of steps after which something happens to it: its end,
// mostly. Stops are in a heap, and the agenda has one entry for all of them.
type batch struct {
	baseNs, perRequestNs, perContextTokenNs int64

	anchor  sim.Instant
	steps   int64       // finished at the anchor
	ended   sim.Instant // the latest of them: the anchor, or before it if there was a pause since
	pending int64       // 1 if it ends at the anchor: before that it is under way. 0: there is a pause
	before  sim.Instant // the end of the one before, if one is pending

	size    int   // legs in the batch
	makers  int64 // those of them that make tokens
	context int64 // tokens at step 0, if those who make tokens had always done so
	joined  int64 // sum of the steps at which the makers joined
	fresh   int64 // makers that joined at the present number of steps

	firstNs, growthNs int64 // see above

	gaps gaps

	stops heap // legs, by their stop in steps
}

// setSpeed makes steps take factor times as long as configured. The batch must be settled.
func (b *batch) setSpeed(c *DecodeConfig, factor float64) {
	scaled := func(d time.Duration) int64 {
		return int64(math.Min(math.Round(float64(d)*factor), spanLimit))
	}
	b.baseNs, b.perRequestNs, b.perContextTokenNs = scaled(c.StepBase), scaled(c.StepPerRequest), scaled(c.StepPerContextToken)
	b.retime()
}

// settle moves the anchor to the first boundary at or after now. The batch may be changed after that.
func (b *batch) settle(now sim.Instant) {
	if now <= b.anchor {
		return // the step under way is accounted for already
	}
	if b.size == 0 {
		b.anchor, b.pending = now, 0
		return
	}
	b.noteStep()
	n := b.stepsIn(now.Sub(b.anchor).Nanoseconds())
	if n > 0 {
		b.noteSteps(n)
		b.fresh = 0
		b.anchor = b.anchor.Add(b.span(n))
		b.ended = b.anchor
	}
	b.steps += n
	b.pending = 0
	if b.anchor < now {
		b.begin(b.anchor, time.Duration(b.firstNs+n*b.growthNs))
	}
	b.retime()
}

// atBoundary says whether no step is under way and no pause. The batch must be settled.
func (b *batch) atBoundary(now sim.Instant) bool { return b.anchor <= now }

// pause has the next step begin at an instant instead of now. The batch must be at a boundary.
func (b *batch) pause(now, until sim.Instant) {
	b.noteStep()
	b.anchor, b.pending = max(now, until), 0
}

// stretch begins a step now that takes longer by d, and returns its end. The batch must be at a
// boundary.
func (b *batch) stretch(now sim.Instant, d time.Duration) sim.Instant {
	b.noteStep()
	b.begin(now, time.Duration(b.firstNs))
	b.anchor = b.anchor.Add(d)
	b.ended = b.anchor
	b.retime()
	return b.anchor
}

// begin puts the anchor at the end of a step of some length.
func (b *batch) begin(at sim.Instant, takes time.Duration) {
	b.before, b.pending = b.ended, 1
	b.anchor = at.Add(takes)
	b.ended = b.anchor
	b.steps++
	b.gaps.awaited, b.fresh = b.fresh > 0, 0
}

// cut ends the pause or step under way now.
func (b *batch) cut(now sim.Instant) {
	b.anchor, b.ended = min(b.anchor, now), min(b.ended, now)
}

// retime computes the closed form anew: the anchor has moved, or the batch has changed.
func (b *batch) retime() {
	context := b.context + b.makers*b.steps
	// Faults can make steps so slow that the products exceed 64 bits: nobody sees the end of such a step.
	if float64(b.baseNs)+float64(b.size)*float64(b.perRequestNs)+float64(context)*float64(b.perContextTokenNs) >= spanLimit {
		b.firstNs, b.growthNs = spanLimit, 0
		return
	}
	b.firstNs = max(1, b.baseNs+int64(b.size)*b.perRequestNs+context*b.perContextTokenNs)
	b.growthNs = b.makers * b.perContextTokenNs
}

// join adds a leg that makes tokens, with the given context. The batch must be settled.
func (b *batch) join(l *Leg, contextTokens int) {
	l.startStep = b.steps
	b.size++
	b.makers++
	b.context += int64(contextTokens) - b.steps
	b.joined += b.steps
	b.fresh++
	b.retime()
}

// joinHung adds a leg that makes no tokens. The batch must be settled.
func (b *batch) joinHung(contextTokens int) {
	b.size++
	b.context += int64(contextTokens)
	b.retime()
}

// leave takes a leg out that makes tokens; its context is that at its joining. The batch must be
// settled.
func (b *batch) leave(l *Leg, contextTokens int) {
	l.stop.remove()
	b.size--
	b.makers--
	b.context -= int64(contextTokens) - l.startStep
	b.joined -= l.startStep
	if l.startStep == b.steps {
		b.fresh--
	}
	b.retime()
}

// leaveHung takes a leg out that makes none. The batch must be settled.
func (b *batch) leaveHung(contextTokens int) {
	b.size--
	b.context -= int64(contextTokens)
	b.retime()
}

// at returns how many steps are finished at now, and when the last of them ended.
func (b *batch) at(now sim.Instant) (steps int64, boundary sim.Instant) {
	switch {
	case now < b.anchor && b.pending == 1:
		return b.steps - 1, b.before
	case now <= b.anchor || b.size == 0:
		return b.steps, b.ended
	}
	n := b.stepsIn(now.Sub(b.anchor).Nanoseconds())
	if n == 0 {
		return b.steps, b.ended
	}
	return b.steps + n, b.anchor.Add(b.span(n))
}

// tokens returns how many tokens the makers have made since they joined.
func (b *batch) tokens(now sim.Instant) int64 {
	steps, _ := b.at(now)
	n := b.makers*steps - b.joined
	if now < b.anchor { // a step under way is not theirs who joined during it, and must not count against them
		n += b.fresh * b.pending
	}
	return n
}

// kvTokens returns how much memory the batch has taken when so many steps are finished: prompts, and
// tokens made. Those who have joined during the step under way take none yet for the token that they
// came with.
func (b *batch) kvTokens(steps int64) int64 { return b.context + b.makers*steps }

// firstOver returns the first number of steps, not before the anchor, after which the batch has more
// than so much memory taken, or a negative number if it never will. With so many steps finished the
// next one cannot begin.
func (b *batch) firstOver(kvTokens int64) int64 {
	if b.makers == 0 {
		return -1
	}
	if kvTokens < b.kvTokens(b.steps) {
		return b.steps
	}
	return (kvTokens-b.context)/b.makers + 1
}

// endOf returns when the given number of steps will be finished, if the batch does not change.
func (b *batch) endOf(steps int64) sim.Instant {
	return b.anchor.Add(b.span(max(0, steps-b.steps)))
}

// spanLimit stands for lengths beyond any run: some 146 years, in ns.
const spanLimit = math.MaxInt64 / 2

// span returns how long n steps from the anchor take.
func (b *batch) span(n int64) time.Duration {
	if n < 0 {
		return 0
	}
	// The products may exceed 64 bits; a float64 is off by far less than the distance to the limit.
	if float64(n)*float64(b.firstNs)+float64(n)*float64(n)/2*float64(b.growthNs) >= spanLimit {
		return spanLimit
	}
	return time.Duration(n*b.firstNs + n*(n-1)/2*b.growthNs)
}

// stepsIn returns how many steps from the anchor are finished after d ns: the largest n ≥ 0 with
// span(n) ≤ d.
func (b *batch) stepsIn(d int64) int64 {
	if b.growthNs == 0 {
		return d / b.firstNs
	}
	// growth/2·n² + (first - growth/2)·n = d, solved in the form that does not cancel.
	g := float64(b.growthNs)
	p := float64(b.firstNs) - g/2
	n := int64(2 * float64(d) / (p + math.Sqrt(p*p+2*g*float64(d))))
	for b.span(n) > time.Duration(d) {
		n--
	}
	for b.span(n+1) <= time.Duration(d) {
		n++
	}
	return n
}
