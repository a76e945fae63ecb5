package sim

import (
	"math"
	"time"
)

// Instant is a point on a run's own clock: nanoseconds since the world was made. The zero value is
// the start of the run.
type Instant int64

// Never is an instant that is after all others: a limit that is off.
const Never Instant = math.MaxInt64

// epoch is the calendar time that stands for Instant 0 in libraries that insist on a time.Time. It
// is a constant, so that virtual runs do not depend on the date they are made on.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Add returns the instant d later. It saturates at Never.
func (t Instant) Add(d time.Duration) Instant {
	if d > 0 && t > Never-Instant(d) {
		return Never
	}
	return t + Instant(d)
}

// Sub returns the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Seconds returns the time since the start of the run, in seconds.
func (t Instant) Seconds() float64 { return time.Duration(t).Seconds() }

// Time returns the instant as a calendar time counted from a fixed date (2026-01-01 UTC), for
// libraries such as golang.org/x/time/rate that take a time.Time.
func (t Instant) Time() time.Time { return epoch.Add(time.Duration(t)) }

// InstantOf is the inverse of [Instant.Time].
func InstantOf(t time.Time) Instant { return Instant(t.Sub(epoch)) }

// String returns the time since the start of the run in Go's duration form, such as "1m4.2s".
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}
