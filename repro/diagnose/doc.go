// Package diagnose turns the evidence of a stall into a verdict: is the fleet slow, starved, wedged,
// deadlocked or storming, in which layer, by which mechanism, and what would decide between the
// explanations that are left.
//
// Everything here is a pure function of [harness.Evidence], which a run against real servers has
// too: the same evidence gives the same verdict, byte for byte. The steps are those of an engineer
// with the dumps open:
//
//  1. reconcile: which requests do both the agents and the router have, which only one of them;
//  2. waits-for graph: who waits for whom, and can anybody of them go on ([WaitsFor]);
//  3. movement: which calls got tokens lately, which queues and counters moved, under which load;
//  4. where: the server-side stage of each call, from the router's log and the gauges alone;
//  5. hypotheses: each cause (one file each) says what speaks for it, what against it, and which
//     measurement would decide; all are shown, also the refuted ones;
//  6. verdict: the best supported one, in plain words, with what to try next.
//
// A call, a leaked slot or a tool that nobody else is waited for behind is a root of the stall. A
// cause is weighed by the share of the roots that it explains, so that a pool of slots that is partly
// eaten by silent streams is called starved or wedged by what holds most of it, and the rest is said
// too.
//
// What nobody has seen is not claimed. Without gauges and a router's log, only tokens that arrive show
// that a call is alive; a tool is late only by what its calls took before; and agents that have failed
// are told, whatever holds up the others.
//
// To add a cause, write a file with a function that returns its cause value and name it in causes.
//
// The package may import harness, harness/sim, harness/waitgraph and pacer, and uses nothing of them but
// the records of what was seen. It reads no clock and keeps no state; its
// functions are safe for concurrent use.
package diagnose
