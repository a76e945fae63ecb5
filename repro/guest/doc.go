// Package guest runs somebody's own harness, in any language, against the simulated servers of a
// scenario, and watches it from the servers' side: what requests it sends, how each is answered and how it ends.
// When nothing gets on for a while, that is a stall, and a goroutine dump of a Go program can be had.
//
// What is seen at the HTTP front becomes the evidence of package harness, as if the front's table were
// the agents' own: each request is a call, and those that the client sends again are attempts of one
// call (they have the same body). A call stands for an agent too, since no server knows whose requests
// belong together. Servers' gauges are scraped over HTTP, and the router's log is read, as of real ones.
//
// What no server can know, the evidence does not have: how many calls wait within the harness, its
// slots, its time limits.
//
// The package may import everything below package repro, and repro itself. It runs on the machine's
// clock only.
package guest
