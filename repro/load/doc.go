// Package load puts servers under a load that is known, and says what they made of it: how many
// requests were answered, how fast, and what the servers' gauges read while how many requests were
// out. It is the load test of the incident (I-7) that does not mislead.
//
// A [Plan] is one measurement. In a closed loop so many clients send one request after the other; in
// an open loop requests arrive at a rate, whatever becomes of those before them, and their latencies
// count from the instant at which they were meant to start: a generator that waits for slow answers
// before it sends the next request would leave out just the latencies that hurt (coordinated
// omission). What the generator itself was late by is reported beside them.
//
// [Run] carries a plan out and returns a [Row]. The target is either simulated servers, made afresh
// for the run: in memory and in virtual time, or on the wall behind a socket; or any
// OpenAI-compatible server. Over HTTP the package has a lean client of its own: go-openai decodes
// each chunk of a stream, and would be the bottleneck before the server is. The lean one decodes an
// event when it differs from the one before in more than its text.
//
// The package imports repro/serving and its api and engine for the simulated servers, agents/workload
// for distributions, pacer and pacer/httpbackend, harness/fault and harness/sim. It waits through a
// sim.World only.
package load
