package requestlog

import (
	"math"
	"strconv"
	"time"
)

// An Event is what one line of a log says about a request. Its texts are valid as
// long as the line.
type Event struct {
	// Finished says that the request has ended, or that its answer has begun where
	// a log means that; otherwise it has started.
	Finished bool
	// Probe says that it is a health check or other question about the server
	// itself, not one of those that a client waits for.
	Probe bool
	// ID names the request; empty if the line does not.
	ID []byte
	// At is the time of the line; zero if it has none.
	At time.Time
	// Start is when the request began, if a line of its end has that too.
	Start time.Time
	// Status is the HTTP status of a finished one; 0 if the line does not say.
	Status int
	// Flags is what envoy adds to the status, such as DC or UT; usually empty.
	Flags []byte
	// Latency is as the line has it.
	Latency Latency
	// Size is how large the request is, in the unit of the log: tokens of the prompt
	// or bytes of the body. 0: the line does not say.
	Size int64
}

// isSize says whether a field, by its normal name, is the size of a request.
func isSize(name string) bool {
	switch name {
	case "prompttokens", "inputtokens", "numprompttokens", "promptlen", "inputlength", "contentlength", "requestbytes", "requestsize", "requestlength", "bytesreceived", "bodybytes":
		return true
	}
	return false
}

// takeSize takes the size of the request, the first that is named.
func (ev *Event) takeSize(value []byte) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n > 0 && ev.Size == 0 {
		ev.Size = n
	}
}

// failed says that a finished request was not answered as it should be.
func (ev *Event) failed() bool { return ev.Status >= 400 || ev.Status == 0 && len(ev.Flags) > 0 }

// A Unit is a unit of time; the zero value stands for a bare number.
type Unit uint8

// The units from small to large.
const (
	NoUnit Unit = iota
	Nanoseconds
	Microseconds
	Milliseconds
	Seconds
	unitNumber
)

// String returns the name, in the plural; "" for none.
func (u Unit) String() string {
	return [...]string{"", "nanoseconds", "microseconds", "milliseconds", "seconds"}[u]
}

// seconds is the length of the unit.
func (u Unit) seconds() float64 { return [...]float64{0, 1e-9, 1e-6, 1e-3, 1}[u] }

// A Latency is a length of time as a log has it.
type Latency struct {
	// Known says that the line has one.
	Known bool
	// Number is what the line has, or what it comes to in Unit.
	Number float64
	// Unit is the one that stands in the line or is the format's; NoUnit for a
	// bare number.
	Unit Unit
}

// Duration returns the length of time, taking a bare number for one in the unit
// given. ok is false if there is none, or it is negative or beyond 100 years.
func (l Latency) Duration(bare Unit) (d time.Duration, ok bool) {
	unit := l.Unit
	if unit == NoUnit {
		unit = bare
	}
	ns := math.Round(l.Number * unit.seconds() * 1e9)
	const century = 100 * 365 * 24 * time.Hour
	if !l.Known || !(ns >= 0 && ns <= float64(century)) {
		return 0, false
	}
	return time.Duration(ns), true
}
