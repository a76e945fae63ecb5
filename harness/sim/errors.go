package sim

import (
	"errors"
	"fmt"
	"strings"
)

// ErrStopped is the cause of every wait that ends because its world has stopped.
var ErrStopped = errors.New("sim: the world has stopped")

// traceError is what a run fails with when its trace cannot be written.
func traceError(err error) error { return fmt.Errorf("sim: writing the trace: %w", err) }

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
	Objects []ObjectState  // the named objects, in the order of their making
}

func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sim: at %v nothing is runnable and nothing is queued; %d wait:", e.At, len(e.Waiting))
	some(&b, e.Waiting, "\n\t", func(p ProcessState) string {
		return fmt.Sprintf("%s waits for %s since %v", p.Name, p.WaitsFor, p.Since)
	})
	for _, o := range e.Objects {
		if len(o.Holders) == 0 || len(o.Waiters) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n\t%s %s: %d of %d held, by", o.Kind, o.Name, o.InUse, o.Capacity)
		some(&b, o.Holders, " ", func(h Party) string {
			return strings.TrimSpace(h.Name+" "+h.What) + " since " + h.Since.String()
		})
	}
	return b.String()
}

// some writes the first few of all, each after a separator, and how many are left out.
func some[T any](b *strings.Builder, all []T, separator string, text func(T) string) {
	const shown = 20
	for i, one := range all {
		if i == shown {
			fmt.Fprintf(b, "%sand %d more", separator, len(all)-shown)
			return
		}
		b.WriteString(separator + text(one))
	}
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
