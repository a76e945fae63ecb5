package sim

import (
	"errors"
	"fmt"
	"strings"
)

// ErrStopped is the cause of every wait that ends because its world has stopped.
var ErrStopped = errors.New("sim: the world has stopped")

// PanicError reports that a process panicked. The stack was taken inside the process, where it still
// existed.
type PanicError struct {
	Process string // name of the process
	Value   any    // what it panicked with
	Stack   []byte // its stack, as runtime/debug.Stack prints it
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("sim: process %q panicked: %v\n%s", e.Process, e.Value, e.Stack)
}

// DeadlockError reports that no process can run and no event is queued: whoever waits would wait for
// ever.
type DeadlockError struct {
	At      Instant
	Waiting []ProcessState // in the order of their start
}

func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sim: at %v nothing is runnable and nothing is queued; %d processes wait:", e.At, len(e.Waiting))
	const shown = 20
	for i, p := range e.Waiting {
		if i == shown {
			fmt.Fprintf(&b, " and %d more", len(e.Waiting)-shown)
			break
		}
		fmt.Fprintf(&b, "\n\t%s waits for %s since %v", p.Name, p.WaitsFor, p.Since)
	}
	return b.String()
}

// LivelockError reports that a bound on the steps within one instant was hit: processes wake each
// other without end while time stands still.
type LivelockError struct {
	At    Instant
	Steps int    // steps made at this instant
	Last  string // name of the process that ran last
}

func (e *LivelockError) Error() string {
	return fmt.Sprintf("sim: %d steps at %v and time does not move on; the last process was %q", e.Steps, e.At, e.Last)
}
