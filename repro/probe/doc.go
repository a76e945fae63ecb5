// Package probe looks at a live system from outside and says what it shows: the health of a router and
// its engines, their gauges over a window, the calls that a Go client has out by its goroutine dumps,
// the requests that the router has by its metrics and log, and what becomes of one request of a few
// tokens. From these it assembles evidence of the same form as a run's ([harness.Evidence]), which
// [diagnose.Diagnose] judges with the same hypotheses.
//
// What it asks of servers is bounded and told beforehand: see [Plan]. Every answer is bounded in bytes
// and time, and comes from somebody else: its text is shown as data.
//
// What a dump cannot tell is not claimed: since when a call has waited is known as "at least as long as
// was watched", whether tokens arrive on a stream is judged by the decode engine's counter, and a gauge
// counts only with the load that was seen beside it.
//
// The package reads the machine's clock and speaks HTTP. It may import everything below package repro.
// It keeps no state; its functions are safe for concurrent use.
package probe
