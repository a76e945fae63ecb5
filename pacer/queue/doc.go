// Package queue says who of those that wait for a slot comes next, and who is turned away instead.
// A [Queue] is state without a clock: it is told of instants, and never waits. It is not safe for
// concurrent use.
//
// The package imports harness/sim for its instants, and the standard library.
package queue
