// Package telemetry sends what happens in a run to an OpenTelemetry receiver, by OTLP over HTTP and through the
// official SDK: spans as the journal's lines come, and metrics from what is counted.
//
// An [Exporter] is the tee of a run's journal. Its Write takes a line and returns; a goroutine of its own puts the
// lines together (package harness/record), makes spans and sends them. What waits is bounded: on the wall
// lines are dropped, and counted, rather than that the run waits; in virtual time the run waits. A receiver that does
// not answer is told of once, and the run goes on.
//
// # Spans
//
// The run is one trace: invoke_workflow, within it invoke_agent for each task (a sub-agent's within that of the agent
// it works for), within that chat for each call and execute_tool for each tool, and within a call its attempts and its
// waits for a slot, the rate or another attempt. Stalls are spans of the run. Attributes have the names of the
// semantic conventions for generative AI where there are any (gen_ai.*, error.type, server.*), and wedge.* where not.
// Instants are those of the run's clock, counted from when the run began; lengths are what they are on that clock,
// also in virtual time and with a scale.
//
// # Metrics
//
// Histograms and counters of [series.Cumulative], every ten seconds of the machine's clock and at the end.
//
// Headers, such as keys, come from OTEL_EXPORTER_OTLP_HEADERS and its like only, and are in nothing that is written.
//
// The package may import repro/series, harness/record, harness, harness/sim and pacer.
package telemetry
