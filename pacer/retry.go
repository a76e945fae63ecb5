package pacer

import (
	"errors"
	"slices"
	"time"
)

// ErrNotSent is the cause of a failure that happened before anything was sent, because the backend
// cannot send such a request: another attempt would fail the same way, so none is made.
var ErrNotSent = errors.New("the request cannot be sent")

// failure is what a decision about another attempt may know about the one that failed.
type failure struct {
	outcome string // one of the Attempt constants, not AttemptOK
	status  int    // for AttemptStatus
	notSent bool   // ErrNotSent

	retryAfter    time.Duration // what the server asked for; meaningful if hasRetryAfter
	hasRetryAfter bool

	attempt  int           // number of the attempt, counted from 1
	previous time.Duration // the wait before this attempt; 0 for the first one
}

// decision is what follows a failed attempt.
type decision struct {
	again bool
	delay time.Duration // before the next attempt; 0 if there is none
}

// decide says whether a failed attempt is followed by another one, and after which wait. The draw is
// uniform in [0, 1).
func (p *Policy) decide(f failure, draw float64) decision {
	if f.attempt >= p.MaxAttempts || !p.retryable(f) {
		return decision{}
	}
	delay := p.backoff(f.attempt, f.previous, draw)
	if f.hasRetryAfter && p.RetryAfterMax > 0 {
		switch {
		case f.retryAfter <= p.RetryAfterMax:
			delay = p.spread(f.retryAfter, draw)
		case p.RetryAfterOver == RetryAfterStop:
			return decision{}
		case p.RetryAfterOver == RetryAfterClip:
			delay = p.spread(p.RetryAfterMax, draw)
		}
	}
	return decision{again: true, delay: max(delay, p.BackoffFloor)}
}

// spread puts RetryAfterJitter on a wait that a server asked for. It only makes it longer: to come
// back earlier than asked for earns another refusal.
func (p *Policy) spread(d time.Duration, draw float64) time.Duration {
	return d + time.Duration(float64(d)*p.RetryAfterJitter*draw)
}

func (p *Policy) retryable(f failure) bool {
	switch f.outcome {
	case AttemptTimeout:
		return p.RetryTimeouts
	case AttemptNetwork:
		return p.RetryNetwork && !f.notSent
	case AttemptStatus:
		status := f.status
		if status == 0 {
			status = 500
		}
		return slices.Contains(p.RetryOn, status)
	}
	return false // the caller has cancelled
}
