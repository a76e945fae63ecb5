// Package waits says what the goroutines of a dump wait for, who could end each
// wait, and what that makes of the program: deadlocked, wedged, starved, slow,
// idle, or not to be told.
//
// A wait is self-ending (a timer ends it), peer-ending (something outside the
// program ends it: a network peer, a child process) or program-ending (only
// another goroutine ends it: a lock, a channel, a WaitGroup, a Cond). A set of
// program-ending waits that nobody outside the set can end is a deadlock; one
// peer-ending wait among those that the others wait for makes it a wedge or
// starvation, and one dump cannot tell which: Compare takes two.
//
// A dump names no holder of any lock or slot, and often not the object either.
// What is inferred carries a confidence and the reason for it. When somebody who
// could wake a waiter may exist, the answer is "unknown" or "wedged" and never
// "deadlocked": a wrong deadlock costs more than an honest unknown.
//
//	d, _ := goroutine.Parse(file)
//	a := waits.Analyze(d)
//	fmt.Println(a.Verdict.Outcome, a.Verdict.Reason)
//
// The package imports harness/goroutine and harness/waitgraph. It is not
// simulated, but needs no clock: the same dump gives the same analysis.
package waits
