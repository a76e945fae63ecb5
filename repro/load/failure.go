package load

import (
	"context"
	"errors"
	"fmt"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Kind says what a request failed of.
type Kind string

// The kinds of failure.
const (
	KindTimeout   Kind = "timeout"   // the plan's limit
	KindStatus    Kind = "status"    // an HTTP error status
	KindEvent     Kind = "event"     // an error event inside a stream that had begun well
	KindNetwork   Kind = "network"   // no connection, a reset, or an answer that broke off
	KindMalformed Kind = "malformed" // something that is no answer
)

// Failures is how many requests failed of the same thing.
type Failures struct {
	Kind Kind `json:"kind"`
	// Status is the HTTP status, or the code in an error event (0 if it had none).
	Status  int    `json:"status,omitempty"`
	Count   int    `json:"count"`
	Example string `json:"example,omitempty"` // what the first of them said
}

// Name is the kind with its status, such as "status 503".
func (f Failures) Name() string {
	if f.Status == 0 {
		return string(f.Kind)
	}
	return fmt.Sprintf("%s %d", f.Kind, f.Status)
}

// Why a request was ended on this side.
var (
	errTimeout = errors.New("load: the timeout has passed")
	errLeft    = errors.New("load: the client leaves in the middle of the answer")
	errOver    = errors.New("load: the time is up")
)

// malformedError is an answer that is none.
type malformedError struct{ text string }

func (e *malformedError) Error() string { return e.text }

// outcome is how a request ended.
type outcome uint8

const (
	answered outcome = iota
	failed
	left // as the plan wanted
	cut  // by the end of the run
)

// settle says how a request ended that got the given error in the given context.
func settle(ctx context.Context, err error) (outcome, Failures) {
	if err == nil {
		return answered, Failures{}
	}
	// Whoever ends the attempt on this side is the reason, whatever it made of the connection.
	switch cause := sim.Cause(ctx); {
	case cause == errTimeout:
		return failed, Failures{Kind: KindTimeout}
	case cause == errLeft:
		return left, Failures{}
	case cause != nil || errors.Is(err, sim.ErrStopped):
		return cut, Failures{}
	}
	var status *pacer.StatusError
	var malformed *malformedError
	switch {
	case errors.As(err, &status) && status.InStream:
		return failed, Failures{Kind: KindEvent, Status: status.Status, Example: status.Message}
	case status != nil:
		return failed, Failures{Kind: KindStatus, Status: status.Status, Example: status.Message}
	case errors.As(err, &malformed):
		return failed, Failures{Kind: KindMalformed, Example: malformed.text}
	}
	return failed, Failures{Kind: KindNetwork, Example: err.Error()}
}
