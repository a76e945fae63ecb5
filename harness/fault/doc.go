// Package fault describes what goes wrong in a run, as data: where it happens, what happens, and
// when. Whoever owns the place (a server stage, the stream, a tool, the pacer) asks the set at the
// moment in question whether one of the faults fires there.
//
// Whether a fault with a probability fires is a draw keyed by the run's seed, the fault's id and the
// key of the occasion (an attempt, a tool call), so that it does not depend on what else happened:
// two policies compared under one seed meet the same faults.
//
// The package imports harness/sim only.
package fault
