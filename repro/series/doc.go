// Package series counts what happens in a run that may go on for days, in memory that does not grow.
//
// A [Meter] observes a pacer and agents. Every so often [Meter.Close] ends a [Window], which is one line of
// windows.jsonl, and starts the next; [Meter.Snapshot] gives the [Cumulative] counts since the start at any time.
// Windows carry their histograms, so that [Merge] makes one of several without loss, also after they have been
// written and read back. [Drift] and [Leak] judge windows and readings of a [Process], and [Values] answers what
// thresholds ask.
//
// Words mean what they mean in repro/metrics, which measures one run for comparisons: times count from when an
// agent wanted something, unless it says otherwise, and what failed or had not ended is part of a distribution with
// the time it had taken (censored), never dropped. Tokens are those that were received: what only servers know is
// not here.
//
// It runs in virtual time as well. It imports harness, pacer, agents and harness/sim, and, for quantiles in constant
// memory, hdrhistogram.
package series
