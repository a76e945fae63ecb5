// Package trace writes what a bundle holds of a run as trace.json, in the trace-event format that Perfetto
// (ui.perfetto.dev) and chrome://tracing open.
//
// There is a track for each agent: its tasks, calls, attempts and stages within each other, and its tools.
// Attempts that run beside others are apart from it, since slices of one track must not overlap. A
// process "servers" has a track for each stage of the servers with how many requests are in it, as the
// gauges told, and the router's requests, to which an arrow leads from the attempt. All gauges are there as
// counters too, totals as rates. Stalls are spans of the process "run", and a flag across all tracks where the
// watchdog spoke. All times are those of the logs, on the run's own clock, in microseconds.
//
// The file is written as the logs are read, in memory for what is under way. Where the older lines of a
// long run's logs are gone, the trace begins where they begin, and says so.
//
// The package may import harness/record, harness/requestlog, harness/bundle, harness, harness/sim and
// pacer.
package trace
