// Package repro reproduces hangs: a [Scenario] says in data what fleet works against which servers
// under which faults, [Run] builds the parts, runs them in virtual time or on the wall, and returns
// the verdict with its evidence.
//
// It may import everything but repro/compare and cmd. It reads files and the environment only where
// a function says so.
package repro
