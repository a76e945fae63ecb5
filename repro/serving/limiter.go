package serving

import (
	"net/http"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// limiter is the router's bucket of tokens and the queue before it. Without a limit, everybody passes.
type limiter struct {
	s          *Stack
	tokens     float64
	filledAt   sim.Instant
	head, tail *request // those that wait
	waiting    int
	timer      engine.Entry // the next token or the next timeout, whichever is first
}

func (l *limiter) start(s *Stack) {
	l.s = s
	l.tokens = float64(s.cfg.Router.Limit.ConcurrentMax)
	l.timer.Do = doFunc(l.serve)
}

func (l *limiter) config() *LimitConfig { return &l.s.cfg.Router.Limit }

// perSecond is how fast time fills the bucket.
func (l *limiter) perSecond() float64 {
	if c := l.config(); c.PerSecond > 0 {
		return c.PerSecond
	}
	return float64(l.config().ConcurrentMax)
}

// fill puts the tokens into the bucket that time has brought.
func (l *limiter) fill() {
	now := l.s.now()
	l.tokens = min(float64(l.config().ConcurrentMax), l.tokens+l.perSecond()*now.Sub(l.filledAt).Seconds())
	l.filledAt = now
}

// admit lets r pass, or wait, or turns it away.
func (l *limiter) admit(r *request) {
	s := l.s
	if l.config().ConcurrentMax == 0 {
		s.admitted(r)
		return
	}
	l.fill()
	switch {
	case l.waiting == 0 && l.tokens >= 1:
		l.pass(r)
	case l.waiting >= l.config().QueueMax:
		s.counts.rateRejected++
		s.refuse(r, &Refusal{Status: http.StatusTooManyRequests, Empty: true})
	default:
		r.enter(phaseLimit)
		l.push(r)
		l.arm()
	}
}

func (l *limiter) pass(r *request) {
	l.tokens--
	r.token = true
	l.s.counts.rateAllowed++
	l.s.admitted(r)
}

// giveBack puts the token of a request back that has been answered. Who waits for it gets it at the
// same instant, but not within this call, in which others may be in the midst of a change.
func (l *limiter) giveBack() {
	l.fill()
	l.tokens = min(float64(l.config().ConcurrentMax), l.tokens+1)
	l.arm()
}

// serve lets those pass for whom there are tokens, and turns those away who have waited too long.
func (l *limiter) serve() {
	limit := l.config().QueueTimeout
	for l.head != nil {
		l.fill()
		r := l.head
		switch {
		case limit > 0 && l.s.now() >= r.since.Add(limit):
			l.s.counts.rateRejected++
			l.s.refuse(r, &Refusal{Status: http.StatusRequestTimeout, Empty: true})
		case l.tokens >= almostOne:
			l.forget(r)
			r.phase = phaseDelay
			l.pass(r)
		default:
			l.arm()
			return
		}
	}
}

// almostOne is a token, but for what rounding an instant to a nanosecond may take off it.
const almostOne = 1 - 1e-6

// arm sets the timer for what happens next in the queue.
func (l *limiter) arm() {
	at := sim.Never
	if r := l.head; r != nil {
		if limit := l.config().QueueTimeout; limit > 0 {
			at = r.since.Add(limit)
		}
		full := l.filledAt
		if l.tokens < almostOne {
			full = full.Add(seconds((1 - l.tokens) / l.perSecond()))
		}
		at = min(at, full)
	}
	l.s.engines.Schedule(at, &l.timer)
}

func (l *limiter) push(r *request) {
	if l.tail != nil {
		l.tail.behind = r
	} else {
		l.head = r
	}
	l.tail = r
	l.waiting++
}

// forget takes r out of the queue.
func (l *limiter) forget(r *request) {
	var before *request
	for q := l.head; q != r; q = q.behind {
		if q == nil {
			return
		}
		before = q
	}
	if before != nil {
		before.behind = r.behind
	} else {
		l.head = r.behind
	}
	if l.tail == r {
		l.tail = before
	}
	r.behind = nil
	l.waiting--
}
