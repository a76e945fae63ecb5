// Package record reads the journal of a run, events.jsonl (see harness.Journal), and puts the lines of
// each thing together: a task, a call with its stages and attempts, a tool, a step, a stall.
//
// A [Reader] is fed line by line, while the run goes on or afterwards, and keeps only what has begun and
// not ended. It tells a [Handler] of each thing once it has ended; what is open when the journal ends
// comes then, with Open set. [ReadAll] reads the journal of a bundle, in one file or in rotated ones, and
// [ReadSamples] the readings of the gauges.
//
// The reader is strict: a line that is no event, or does not fit those before it, is a [*LineError] with
// file, line and field. Two things are no errors, since a run that was killed, or a journal that is
// rotated, leaves them: a last line without its end, and a journal that begins in the middle (see
// [Summary]).
//
// The package may import harness/sim, harness/bundle and pacer.
package record
