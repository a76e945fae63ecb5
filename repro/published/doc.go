// Package published replays results that others have published or measured on timeouts, retries and
// metastable failures, and holds what comes out against them with a stated tolerance. It is how wedge
// shows that its rules do what they do elsewhere.
//
// A metastable failure is an overload that stays after what triggered it is gone, because the overload
// itself makes more work: here, clients that resend what a server is still going to serve
// (Bronson et al., "Metastable Failures in Distributed Systems", HotOS'21).
//
// [All] lists the results, [Result.Run] replays one. The models are small: a single server with a
// queue, a Markov chain, a few slots. They have an event loop of their own, which does a million
// events in a fraction of a second; what a client decides is decided by the code of packages pacer,
// pacer/admission and pacer/queue, and a test plays some of the same rows through a real pacer.
//
// Figures are data too; whoever prints a report draws them. The package may import those
// packages, repro/serving, repro/load, repro/compare/stats and harness/sim. It waits for nothing and starts nothing: a caller that has several
// cores hands them in (see [Options]). The same seeds give the same report.
package published
