// Package diff says what changed between two evidence bundles: first the configuration, then the
// verdict, then what was measured: calls, stages, gauges, and the first event in which the two runs
// part.
//
// It reads the files that every bundle has (run.json, verdict.json, events.jsonl, samples.jsonl), in
// memory that does not grow with them. A bundle without one of them is compared by the others, and the
// report names what is missing.
//
// The package imports harness/bundle; it keeps no state.
package diff
