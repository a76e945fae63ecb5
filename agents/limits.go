package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// Limits are how long an agent may take, with its calls, their retries and waits, and its tools. What is
// over its limit ends the task. Sub-agents have none of their own: they end with their parent. The zero
// value is off, and so is each limit of 0.
type Limits struct {
	Round time.Duration // a round; of a task from a trace, all of it
	Task  time.Duration // the whole task
}

// LimitError is the end of a task that took too long. It is a deadline that was exceeded, as
// [context.DeadlineExceeded] is.
type LimitError struct {
	Limit string        // "round" or "task"
	After time.Duration // its length
}

// The limits, as LimitError names them.
const (
	LimitRound = "round"
	LimitTask  = "task"
)

// Error implements error.
func (e *LimitError) Error() string { return fmt.Sprintf("%s limit (%v) exceeded", e.Limit, e.After) }

// Is implements the interface that errors.Is looks for.
func (e *LimitError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout says that it is one, as net.Error has it.
func (e *LimitError) Timeout() bool { return true }

// Limit sets the agent's limits. It is to be called before Run.
func (a *Agent) Limit(l Limits) { a.limits = l }

// within does a part of the task that has a limit of its own, if that is not 0.
func (a *Agent) within(ctx context.Context, limit string, length time.Duration, do func(ctx context.Context) error) error {
	if length == 0 {
		return do(ctx)
	}
	inner, release := sim.WithTimeout(ctx, a.w, length, &LimitError{Limit: limit, After: length})
	defer release()
	err := do(inner)
	var over *LimitError
	if err != nil && errors.As(sim.Cause(inner), &over) {
		return over // whatever was under way then
	}
	return err
}
