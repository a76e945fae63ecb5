// Package sim is where wedge's code waits: a World supplies the time, and every sleep, slot, queue
// and join of agents, pacer and simulated servers goes through it.
//
// There are two worlds. A [Wall] world runs processes as goroutines on the machine's clock,
// optionally sped up by a scale factor. A [Virtual] world is a discrete-event kernel: processes are
// coroutines, exactly one runs at a time, and time jumps from event to event. The same code runs in
// both, since everything that waits is built once on two private primitives, park and wake.
//
// The words used here:
//
//   - an Instant is a point on the run's own clock, in nanoseconds since its start;
//   - a process is a body that a world runs, with a name and a wait that can be asked for;
//   - an event is something due at an instant: the end of a sleep, or the call of a timer's function;
//   - the monitor (Lock, Unlock) guards state that processes share: a mutex on the wall, nothing in
//     virtual time;
//   - a stream is a source of random numbers keyed by (seed, entity, purpose), so that two runs with
//     the same seed meet the same draws whatever else happens in them;
//   - the tape is the record of the scheduler's free choices, which can be replayed.
//
// The kernel's loop, without its bookkeeping:
//
//	for main has not ended {
//		if a process is runnable  { resume the first one until it parks; continue }
//		if no event is queued     { return who waits for what: nothing can ever happen }
//		take the first event by (instant, sequence); now = its instant
//		resume its process until it parks, or call its function
//	}
//	unwind every process that is left, newest first
//
// A new waiting object is a struct with a wait list, and methods that look at its state with the
// monitor held and then wait in the list or wake from it; see [Latch] for the smallest. Since a woken
// process runs later, what it was woken for must be put in its name (as [Semaphore] does) or kept for
// it (as [Queue] does), and passed on if its context has been cancelled meanwhile; or it looks again
// (as users of [Cond] do).
//
// The package imports the standard library only, and stands below all that runs in a world.
package sim
