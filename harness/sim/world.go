package sim

import (
	"context"
	"time"
)

// World is a place where processes run and wait. It is implemented by [*Wall] and [*Virtual] only.
//
// All methods may be called from several processes at once. Functions that wait take a context
// first, return its cause when it is cancelled, and leave no trace then. Contexts given to a virtual
// world must descend from the one that its Run or Spawn handed out, or never be cancelled: a foreign
// cancellable context could end a wait behind the kernel's back, and is refused with a panic.
//
// A process must not recover a panic that it did not raise: a virtual world unwinds the processes
// that are left at the end of a run by panicking in their waits.
type World interface {
	// Now returns the current instant.
	Now() Instant

	// Virtual says whether this is a virtual world, in which Now moves only while everybody waits.
	Virtual() bool

	// Run runs main as the first process and returns when it has returned. All other processes are
	// then stopped: on the wall their waits return [ErrStopped], in a virtual world they are unwound,
	// which runs their deferred functions. The error is a *PanicError if a process or the function of
	// a timer panicked, a *DeadlockError if nothing could ever happen again, a *LivelockError if time
	// stood still for too many steps, the cause of ctx if that was cancelled, else nil. Only virtual
	// worlds notice deadlocks and livelocks. A process that leaves by runtime.Goexit, as t.FailNow
	// does, ends the run, and the goroutine that called Run. A world runs once.
	Run(ctx context.Context, main func(ctx context.Context)) error

	// Spawn starts a process. Its body gets a context that descends from ctx and knows the process.
	// Spawn may be called with or without the monitor held, and before Run, but then Run must follow.
	// Once the world stops, it returns a process that has ended and never ran.
	Spawn(ctx context.Context, name string, body func(ctx context.Context)) *Process

	// Sleep waits for d of the run's own clock. Zero and negative d return at once. The monitor must
	// not be held.
	Sleep(ctx context.Context, d time.Duration) error

	// WithCancel returns a context that the returned function cancels with a cause (nil means
	// context.Canceled), and that must be called in the end, lest its parent remember it for ever. Read
	// the cause with [Cause]. Both functions may be called with or without the monitor held.
	WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc)

	// AfterFunc calls f with the monitor held once d has passed. f must not wait.
	AfterFunc(d time.Duration, f func()) *Timer

	// Lock and Unlock enter and leave the monitor. It is not reentrant. What would hang on the wall
	// because of it panics in a virtual world: locking it twice, and waiting with it held.
	Lock()
	Unlock()

	// Stream returns the random stream of an entity for a purpose.
	Stream(entity, purpose string) Stream

	// Choose makes a free choice among n alternatives, 0 ≤ result < n, records it on the tape, or
	// takes it from there. 0 is the dullest alternative.
	Choose(label string, n int) int

	// Note mixes b into the running hash of a virtual world. It does nothing on the wall.
	Note(b []byte)

	// Processes returns every live process in the order of their start, with what it waits for.
	Processes() []ProcessState

	// Objects returns the state of every named waiting object in the order of their making. The
	// caller must not hold the monitor.
	Objects() []ObjectState

	// RefreshLabels makes every parked process put on its pprof labels, so that a goroutine dump
	// taken next shows them. See [Process.SetLabels].
	RefreshLabels()

	// park waits until wt is woken or ctx is cancelled. The monitor is held at entry and exit, and
	// free in between. It returns nil if wt was woken, even if ctx was cancelled as well.
	park(ctx context.Context, wt *waiter) error
	// wake ends the park of wt. The monitor is held.
	wake(wt *waiter)
	// waiterFor returns a waiter for the calling process.
	waiterFor(ctx context.Context) *waiter
	// register adds a named object to Objects.
	register(o object)
	// retire takes it off again.
	retire(o object)
}

// Cause returns why ctx was cancelled: its cause in either world, or nil if it was not.
func Cause(ctx context.Context) error {
	if c, sound := cancelContextOf(ctx); c != nil && sound {
		return c.cause
	}
	return context.Cause(ctx)
}

// WithTimeout returns a context that is cancelled with the given cause once d has passed on w's
// clock. The returned function releases it early, and must be called.
func WithTimeout(ctx context.Context, w World, d time.Duration, cause error) (context.Context, func()) {
	ctx, cancel := w.WithCancel(ctx)
	t := w.AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}
