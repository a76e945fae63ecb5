// Package demand says how much a fleet has to do as time goes on: how many agents should be at work (a
// closed loop), or how many tasks arrive in an hour (an open one). It is a pure function of time; who acts
// on it, and when, is package harness. Draws come from a stream that the caller hands in.
//
// It may import harness/sim only.
package demand
