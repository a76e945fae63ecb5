// Package stats says how far the figures of a comparison can be trusted: intervals of means and of
// paired differences by resampling, tests over many policies, and times that were cut off before
// their event.
//
// The unit of analysis is the seed, not the request: all requests of one run share its luck. Every
// function is deterministic; what needs randomness takes a seed. It may import gonum only.
package stats
