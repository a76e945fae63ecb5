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
	LimitDial           Limit = "dial"
	LimitConnect        Limit = "connect"
	LimitResponseHeader Limit = "response_header"
	LimitFirstToken     Limit = "first_token"
	LimitIdle           Limit = "idle"
	LimitTotal          Limit = "total"
	LimitWork           Limit = "work"       // WorkBase and WorkPerToken
	LimitCallTotal      Limit = "call_total" // of the call with all its attempts
)

// LimitError is the cause of an attempt that a time limit of the policy has ended. It is a
// context.DeadlineExceeded to errors.Is.
type LimitError struct {
	Limit Limit
	After time.Duration // the limit's value
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case LimitDial:
		return fmt.Sprintf("pacer: no connection within %v of dialling (limit dial)", e.After)
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
	dials     bool        // a connection is being made
	dialled   sim.Instant // since when, if so
	connected sim.Instant // start of StageHeaders
	headers   sim.Instant // start of StageFirstToken
	content   sim.Instant // start of StageStream
}

// limits are the time limits of one attempt. The zero value has none.
type limits struct {
	connect, dial, responseHeader, firstToken, idle, total, work time.Duration
	idleBy                                                       IdleBy
}

// limits returns those that all attempts have.
func (p *Policy) limits() limits {
	return limits{connect: p.Connect, dial: p.Dial, responseHeader: p.ResponseHeader, firstToken: p.FirstToken, idle: p.Idle, total: p.Total, idleBy: p.IdleBy}
}

// work returns the limit for so many expected output tokens. It does not overflow.
func (p *Policy) work(tokensMax int) time.Duration {
	if p.WorkPerToken > 0 && int64(tokensMax) > int64((durationMax-p.WorkBase)/p.WorkPerToken) {
		return durationMax
	}
	return p.WorkBase + p.WorkPerToken*time.Duration(tokensMax)
}

// WorkLimit returns the limit of an attempt whose request allows so many output tokens. 0: there is none,
// since WorkBase and WorkPerToken are off, or the request has no such bound.
func (p *Policy) WorkLimit(tokensMax int) time.Duration {
	if tokensMax <= 0 || p.WorkBase == 0 && p.WorkPerToken == 0 {
		return 0
	}
	return p.work(tokensMax)
}

// due returns the instant at which the attempt hits a limit if nothing further arrives, and which
// limit that is. Without a limit it returns sim.Never. It costs the same however much has arrived,
// so that a timer can ask it when it fires instead of being put off at every token.
func (l *limits) due(ph phase, pr Progress) (sim.Instant, Limit) {
	d := dueLimit{at: sim.Never}
	flows := ph.stage == StageStream || pr.Tokens > 0
	switch ph.stage {
	case StageConnect:
		if ph.dials {
			d.consider(LimitDial, ph.dialled, l.dial)
		}
		d.consider(LimitConnect, ph.began, l.connect)
	case StageHeaders:
		d.consider(LimitResponseHeader, ph.connected, l.responseHeader)
		d.consider(LimitFirstToken, ph.connected, l.firstToken)
	case StageFirstToken, StageStream:
		if flows || l.firstToken == 0 {
			d.consider(LimitIdle, max(ph.headers, ph.content, l.lastSign(pr)), l.idle)
		} else {
			d.consider(LimitFirstToken, ph.connected, l.firstToken)
		}
	default:
		return sim.Never, ""
	}
	d.consider(LimitTotal, ph.began, l.total)
	d.consider(LimitWork, ph.began, l.work)
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
func (l *limits) lastSign(pr Progress) sim.Instant {
	switch l.idleBy {
	case IdleByByte:
		return pr.LastByte
	case IdleByEvent:
		return pr.LastEvent
	}
	return pr.LastToken
}

// limited says whether any attempt may meet a limit.
func (p *Policy) limited() bool {
	return p.Connect > 0 || p.Dial > 0 || p.ResponseHeader > 0 || p.FirstToken > 0 || p.Idle > 0 || p.Total > 0 || p.WorkBase > 0 || p.WorkPerToken > 0 || len(p.Adaptive) > 0
}

// lengthOf returns the value of a limit.
func (l *limits) lengthOf(name Limit) time.Duration {
	switch name {
	case LimitDial:
		return l.dial
	case LimitConnect:
		return l.connect
	case LimitResponseHeader:
		return l.responseHeader
	case LimitFirstToken:
		return l.firstToken
	case LimitIdle:
		return l.idle
	case LimitWork:
		return l.work
	}
	return l.total
}
