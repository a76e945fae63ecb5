// Package concurrency says how many calls may be in flight: limits that stay, and limits that learn
// from how long calls take. Each rule is that of a published library, named beside it, with the
// library's own defaults; those are scaled for calls of milliseconds, and [Config] is where to change
// them.
//
// A [Limiter] is state without a clock: it is told of instants and of samples, and says the limit.
// Nothing in it waits, draws random numbers or is safe for concurrent use.
//
// The package imports harness/sim for its instants, and the standard library.
package concurrency
