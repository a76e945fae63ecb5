package pacer

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// ErrNotSent is the cause of a failure that happened before anything was sent, because the backend
// cannot send such a request: another attempt would fail the same way, so none is made.
var ErrNotSent = errors.New("the request cannot be sent")

// Failure is what a decision about another attempt may know about the one that failed.
type Failure struct {
	Outcome string     // one of the Attempt constants, not AttemptOK
	Status  int        // for AttemptStatus
	Limit   Limit      // for AttemptTimeout
	Phase   RetryPhase // how far it had come; empty means RetryBeforeHeaders
	NotSent bool       // ErrNotSent

	RetryAfter     time.Duration // what the server asked for; meaningful if HasRetryAfter
	HasRetryAfter  bool
	ShouldRetry    bool // what x-should-retry says; meaningful if HasShouldRetry
	HasShouldRetry bool

	Attempt  int           // number of the attempt, counted from 1; those that joined others do not count
	Previous time.Duration // the wait before this attempt; 0 for the first one
	Took     time.Duration // since the start of the attempt
	CallTook time.Duration // since the start of the call
}

// Decision is what follows a failed attempt.
type Decision struct {
	Again bool
	Delay time.Duration // before the next attempt
	// Cut says that Total, which covers the wait as well, is over before it is: the call waits for
	// Delay, and fails then. Again is false.
	Cut bool
	// Stop says why there is no further attempt.
	Stop Stop
}

// Stop says why a failed attempt is not followed by another one. It is empty if it is.
type Stop string

// The reasons.
const (
	StopAttempts   Stop = "max_attempts"  // there have been as many as may be
	StopOutcome    Stop = "not_retryable" // another attempt would not help, or is not wanted
	StopPhase      Stop = "retry_phases"  // it had come too far
	StopRetryAfter Stop = "retry_after"   // the server asks for too long a wait
	StopTotal      Stop = "total"         // the attempt's time ends before the wait
	StopCallTotal  Stop = "call_total"    // the call's time ends before the wait
	StopBudget     Stop = "retry_budget"  // too many retries already
)

// Special says whether the reason is not plain from the attempt and the number of attempts: a rule of
// the policy, or of the pacer, that looks further.
func (s Stop) Special() bool {
	switch s {
	case StopPhase, StopTotal, StopCallTotal, StopBudget:
		return true
	}
	return false
}

// Decide says whether a failed attempt is followed by another one, and after which wait. The draw is
// uniform in [0, 1). Retry budgets have the last word, and are asked by the pacer.
func (p *Policy) Decide(f Failure, draw float64) Decision {
	if f.Attempt >= p.MaxAttempts {
		return Decision{Stop: StopAttempts}
	}
	if stop := p.retryable(&f); stop != "" {
		return Decision{Stop: stop}
	}
	delay, ok := p.delay(&f, draw)
	if !ok {
		return Decision{Stop: StopRetryAfter}
	}
	if p.TotalCoversBackoff && f.Took+delay >= p.Total {
		return Decision{Cut: true, Delay: max(0, p.Total-f.Took), Stop: StopTotal}
	}
	if p.CallTotal > 0 && f.CallTook+delay >= p.CallTotal {
		return Decision{Stop: StopCallTotal}
	}
	return Decision{Again: true, Delay: delay}
}

// delay returns the wait before the next attempt, or false if the server asks for too long a one.
func (p *Policy) delay(f *Failure, draw float64) (time.Duration, bool) {
	own := p.Backoff(f.Attempt, f.Previous, f.throttled(), draw)
	if !f.HasRetryAfter || p.RetryAfterMax == 0 || f.RetryAfter < p.RetryAfterBelow {
		return max(own, p.BackoffFloor), true
	}
	asked := f.RetryAfter
	switch {
	case p.RetryAfterRule == RetryAfterWithin:
		asked = min(max(asked, own), own+p.RetryAfterMax)
	case asked <= p.RetryAfterMax, p.RetryAfterOver == RetryAfterOwn && asked < own:
	case p.RetryAfterOver == RetryAfterStop:
		return 0, false
	case p.RetryAfterOver == RetryAfterOwn:
		return max(own, p.BackoffFloor), true
	default:
		asked = p.RetryAfterMax
	}
	asked = p.spread(asked, draw)
	if p.RetryAfterRule == RetryAfterLonger {
		asked = max(asked, own)
	}
	return max(asked, p.BackoffFloor), true
}

// throttled says whether the server has asked for fewer requests.
func (f *Failure) throttled() bool {
	return f.Outcome == AttemptStatus && f.Status == http.StatusTooManyRequests
}

// spread puts RetryAfterJitter on a wait that a server asked for. It only makes it longer: to come
// back earlier than asked for earns another refusal.
func (p *Policy) spread(d time.Duration, draw float64) time.Duration {
	return d + time.Duration(float64(d)*p.RetryAfterJitter*draw)
}

// retryable returns why a failure is none to retry, or nothing.
func (p *Policy) retryable(f *Failure) Stop {
	if !p.retryableOutcome(f) {
		return StopOutcome
	}
	if len(p.RetryPhases) > 0 {
		phase := f.Phase
		if phase == "" {
			phase = RetryBeforeHeaders
		}
		if !slices.Contains(p.RetryPhases, phase) {
			return StopPhase
		}
	}
	return ""
}

func (p *Policy) retryableOutcome(f *Failure) bool {
	switch f.Outcome {
	case AttemptTimeout:
		return p.RetryTimeouts && f.Limit != LimitCallTotal && !(p.TotalCoversBackoff && f.Limit == LimitTotal)
	case AttemptNetwork:
		return p.RetryNetwork && !f.NotSent
	case AttemptStatus:
		if p.RetryHint && f.HasShouldRetry {
			return f.ShouldRetry
		}
		status := f.Status
		if status == 0 {
			status = http.StatusInternalServerError
		}
		return slices.Contains(p.RetryOn, status)
	case AttemptRejected, AttemptShed:
		return p.RetryShed
	}
	return false // the caller has cancelled, or it was a copy that is not needed
}
