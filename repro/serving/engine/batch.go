package engine

import (
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// batch is the running batch of a decode engine. It makes its tokens in steps, one token of each
// request a step. Who joins during a step takes part from the next one on; who leaves during a step
// has taken part in it. So the length of a step is fixed when it begins, and between two changes of
// the batch the whole course is a closed form:
//
//	         anchor                     the end of the step that was under way at the latest change,
//	-----+-----+------+-------+-----    or the latest change itself if nothing was
//	     ^     ^ first ^ first+growth
//	  before   steps finished so far
//
// With B requests and C context tokens at the anchor, the first step after it takes
//
//	first = step_base + B·step_per_request + C·step_per_context_token
//
// and each further one takes growth = B·step_per_context_token longer, since the context grows by B
// tokens. So n steps take n·first + n(n-1)/2·growth, and the inverse is a square root. All lengths are
// whole nanoseconds, so that there is no rounding: see TestBatchTwin.
//
// Each request in the batch has a stop, the number of steps after which something happens to it: its
// end, mostly. Stops are in a heap, and the agenda has one entry for all of them.
type batch struct {
	base, perRequest, perContextToken int64 // ns

	anchor sim.Instant
	before sim.Instant // the boundary before the anchor, if the anchor is in the future
	steps  int64       // finished at the anchor

	size    int   // requests in the batch
	makers  int64 // those of them that make tokens
	context int64 // tokens at step 0, if those who make tokens had always done so
	joined  int64 // sum of the steps at which the makers joined
	fresh   int64 // makers that joined at the present number of steps

	first, growth int64 // ns; see above

	factor float64 // of the length of steps, at least 1
	paused bool    // what ends at the anchor is no step but a pause, which began at before

	stops heap // legs that make tokens, by their stop
}

func newBatch(c *DecodeConfig) batch {
	return batch{base: int64(c.StepBase), perRequest: int64(c.StepPerRequest), perContextToken: int64(c.StepPerContextToken), factor: 1}
}

// settle moves the anchor to the first boundary at or after now. The batch may be changed after that.
func (b *batch) settle(now sim.Instant) {
	if now <= b.anchor {
		return // the step under way is accounted for already
	}
	b.paused = false
	if b.size == 0 {
		b.anchor = now
		return
	}
	n := b.stepsIn(now.Sub(b.anchor).Nanoseconds())
	end := b.anchor.Add(b.span(n))
	steps := b.steps + n
	b.anchor = end
	if end < now {
		b.before = end
		b.anchor = end.Add(time.Duration(b.first + n*b.growth))
		steps++
	}
	if steps > b.steps {
		b.steps, b.fresh = steps, 0
	}
	b.retime()
}

// retime computes the closed form anew: the anchor has moved, or the batch has changed.
func (b *batch) retime() {
	b.growth = b.makers * b.perContextToken
	b.first = max(1, b.base+int64(b.size)*b.perRequest+(b.context+b.makers*b.steps)*b.perContextToken)
	if b.factor > 1 {
		b.growth = scaled(b.growth, b.factor)
		b.first = scaled(b.first, b.factor)
	}
}

// scaled returns n·factor, or a very long time.
func scaled(n int64, factor float64) int64 {
	if f := float64(n) * factor; f < spanLimit {
		return int64(f)
	}
	return spanLimit
}

// pause lets the batch stand still for d from now on. The batch must be settled, and at a boundary: no
// step is under way.
func (b *batch) pause(now sim.Instant, d time.Duration) {
	b.before, b.paused = now, true
	b.anchor = now.Add(d)
}

// join adds a request that makes tokens, with the given context and number of steps to its stop. The
// batch must be settled.
func (b *batch) join(l *Leg, contextTokens int, steps int64) {
	l.startStep = b.steps
	b.size++
	b.makers++
	b.context += int64(contextTokens) - b.steps
	b.joined += b.steps
	b.fresh++
	b.stops.put(b.steps+steps, &l.stop)
	b.retime()
}

// joinHung adds a request that makes no tokens. The batch must be settled.
func (b *batch) joinHung(contextTokens int) {
	b.size++
	b.context += int64(contextTokens)
	b.retime()
}

// leave takes a request out that makes tokens. The batch must be settled.
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

// leaveHung takes a request out that makes none. The batch must be settled.
func (b *batch) leaveHung(contextTokens int) {
	b.size--
	b.context -= int64(contextTokens)
	b.retime()
}

// at returns how many steps are finished at now, and when the last of them ended.
func (b *batch) at(now sim.Instant) (steps int64, boundary sim.Instant) {
	switch {
	case now < b.anchor && b.paused:
		return b.steps, b.before
	case now < b.anchor:
		return b.steps - 1, b.before
	case b.size == 0:
		return b.steps, b.anchor
	}
	n := b.stepsIn(now.Sub(b.anchor).Nanoseconds())
	return b.steps + n, b.anchor.Add(b.span(n))
}

// tokens returns how many tokens the makers have made since they joined.
func (b *batch) tokens(now sim.Instant) int64 {
	steps, _ := b.at(now)
	n := b.makers*steps - b.joined
	if now < b.anchor && !b.paused { // the step under way is not theirs, and so must not count against them
		n += b.fresh
	}
	return n
}

// contextTokens returns what the batch holds in memory by now: prompts, and tokens made.
func (b *batch) contextTokens(now sim.Instant) int64 {
	steps, _ := b.at(now)
	n := b.context + b.makers*steps
	if now < b.anchor && !b.paused {
		n += b.fresh
	}
	return n
}

// endOf returns when the given number of steps will be finished, if the batch does not change.
func (b *batch) endOf(steps int64) sim.Instant {
	return b.anchor.Add(b.span(max(0, steps-b.steps)))
}

// nextStop returns when the first stop is due, or sim.Never.
func (b *batch) nextStop() sim.Instant {
	steps, n := b.stops.first()
	if n == nil {
		return sim.Never
	}
	return b.endOf(steps)
}

// spanLimit stands for lengths beyond any run: some 146 years, in ns.
const spanLimit = math.MaxInt64 / 2

// span returns how long n steps from the anchor take.
func (b *batch) span(n int64) time.Duration {
	if n < 0 {
		return 0
	}
	// The products may exceed 64 bits; a float64 is off by far less than the distance to the limit.
	if float64(n)*float64(b.first)+float64(n)*float64(n)/2*float64(b.growth) >= spanLimit {
		return spanLimit
	}
	return time.Duration(n*b.first + n*(n-1)/2*b.growth)
}

// stepsIn returns how many steps from the anchor are finished after d ns: the largest n ≥ 0 with
// span(n) ≤ d.
func (b *batch) stepsIn(d int64) int64 {
	if b.growth == 0 {
		return d / b.first
	}
	// growth/2·n² + (first - growth/2)·n = d, solved in the form that does not cancel.
	g := float64(b.growth)
	p := float64(b.first) - g/2
	n := int64(2 * float64(d) / (p + math.Sqrt(p*p+2*g*float64(d))))
	for b.span(n) > time.Duration(d) {
		n--
	}
	for b.span(n+1) <= time.Duration(d) {
		n++
	}
	return n
}
