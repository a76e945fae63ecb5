// Package soak runs a scenario for a long time and says what became of it.
//
// [Run] is a run of package repro whose tasks do not end ([repro.Soak] says for how long, under what load, with which
// faults, and what must hold). Beside the run's own books a [series.Meter] sums up what happens, window by window, and a
// [Sampler] reads what wedge itself takes. At the end, and on the way, all of it becomes a [Document]: the verdict in words,
// thresholds with what was measured, stalls by cause, what drifts and what leaks. A [Monitor] shows it while it goes on.
//
// Nothing grows with the length of a soak: windows and readings are merged or thinned out beyond a number of them, stalls
// are counted by cause, logs are rotated, evidence is kept of so many stalls. Lines reach the disk within a second of
// real time, also in virtual time, and soak.json is replaced whole, so that a process that is killed leaves files that can be
// read. [Resume] goes on from them: in virtual time the run is replayed from its seed, and its lines are compared with
// those that are there; on the wall the clock, the totals and the numbers of tasks go on.
//
// The package may import all of repro but repro/compare and what stands beside it. It is no simulated code: it reads the
// machine's clock, memory and files, and has a goroutine of its own. What it does within a run it does in the run's
// processes, so that a soak in virtual time depends on its seed alone, but for what is about the process.
package soak
