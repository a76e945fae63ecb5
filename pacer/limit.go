package pacer

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// Limit names a time limit of a [Policy], as it stands in scenario files.
type Limit string

// The limits, in the order in which one is named if several are due at the same instant: the
// narrowest first.
const (
	LimitConnect        Limit = "connect"
	LimitResponseHeader Limit = "response_header"
	LimitFirstToken     Limit = "first_token"
	LimitIdle           Limit = "idle"
	LimitTotal          Limit = "total"
)

// LimitError is the cause of an attempt that a time limit of the policy has ended. It is a
// context.DeadlineExceeded to errors.Is.
type LimitError struct {
	Limit Limit
	After time.Duration // the limit's value
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case LimitConnect:
		return fmt.Sprintf("pacer: no connection within %v (limit connect)", e.After)
	case LimitResponseHeader:
		return fmt.Sprintf("pacer: no response header within %v (limit response_header)", e.After)
	case LimitFirstToken:
		return fmt.Sprintf("pacer: no output within %v (limit first_token)", e.After)
	case LimitIdle:
		return fmt.Sprintf("pacer: no progress for %v (limit idle)", e.After)
	}
	return fmt.Sprintf("pacer: not finished within %v (limit %s)", e.After, e.Limit)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *LimitError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout implements net.Error's idea of a timeout.
func (e *LimitError) Timeout() bool { return true }

// phase is what the limits of an attempt are measured from.
type phase struct {
	stage     Stage       // from StageConnect to StageStream; any other: no attempt is under way
	began     sim.Instant // start of the attempt
	connected sim.Instant // start of StageHeaders
	headers   sim.Instant // start of StageFirstToken
	content   sim.Instant // start of StageStream
}

// due returns the instant at which the attempt hits a limit if nothing further arrives, and which
// limit that is. Without a limit it returns sim.Never. It costs the same however much has arrived,
// so that a timer can ask it when it fires instead of being put off at every token.
func (p *Policy) due(ph phase, pr Progress) (sim.Instant, Limit) {
	d := dueLimit{at: sim.Never}
	flows := ph.stage == StageStream || pr.Tokens > 0
	switch ph.stage {
	case StageConnect:
		d.consider(LimitConnect, ph.began, p.Connect)
	case StageHeaders:
		d.consider(LimitResponseHeader, ph.connected, p.ResponseHeader)
		d.consider(LimitFirstToken, ph.connected, p.FirstToken)
	case StageFirstToken, StageStream:
		if flows || p.FirstToken == 0 {
			d.consider(LimitIdle, max(ph.headers, ph.content, p.lastSign(pr)), p.Idle)
		} else {
			d.consider(LimitFirstToken, ph.connected, p.FirstToken)
		}
	default:
		return sim.Never, ""
	}
	d.consider(LimitTotal, ph.began, p.Total)
	return d.at, d.limit
}

type dueLimit struct {
	at    sim.Instant
	limit Limit
}

func (d *dueLimit) consider(l Limit, from sim.Instant, length time.Duration) {
	if length > 0 && from.Add(length) < d.at {
		d.at, d.limit = from.Add(length), l
	}
}

// lastSign returns the instant of the latest sign of progress, by the policy's idea of one; 0 if
// there was none.
func (p *Policy) lastSign(pr Progress) sim.Instant {
	switch p.IdleBy {
	case IdleByByte:
		return pr.LastByte
	case IdleByEvent:
		return pr.LastEvent
	}
	return pr.LastToken
}

// limited says whether any limit is on.
func (p *Policy) limited() bool {
	return p.Connect > 0 || p.ResponseHeader > 0 || p.FirstToken > 0 || p.Idle > 0 || p.Total > 0
}

// lengthOf returns the value of a limit.
func (p *Policy) lengthOf(l Limit) time.Duration {
	switch l {
	case LimitConnect:
		return p.Connect
	case LimitResponseHeader:
		return p.ResponseHeader
	case LimitFirstToken:
		return p.FirstToken
	case LimitIdle:
		return p.Idle
	}
	return p.Total
}
