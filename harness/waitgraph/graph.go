// Package waitgraph is a graph of who waits for whom: goroutines of a dump, agents of a run, what they
// hold, and how sure that is. It finds cycles and convoys, and writes the graph as JSON, DOT and SVG.
//
// Those who build one (a reader of dumps, the diagnosis of a run) decide who is in it and what an edge
// rests on; this package draws no conclusion about the program.
//
// The package imports the standard library and a layout library at most, none of wedge's packages. Its
// values are plain data: safe for concurrent reading.
package waitgraph

import "time"

// NodeKind says what a node stands for.
type NodeKind string

// The kinds of nodes.
const (
	Goroutine NodeKind = "goroutine" // one, or Count of them with the same stack
	Agent     NodeKind = "agent"
	Process   NodeKind = "process" // one that is no agent
	Object    NodeKind = "object"  // lock, channel, semaphore, queue, wait group …
	Permit    NodeKind = "permit"  // one whose holder no longer works on what it took it for
	Outside   NodeKind = "outside" // what lies beyond the program: a network peer, a child process, a timer
)

// Node is somebody or something in the graph.
type Node struct {
	ID     string   `json:"id"`               // unique in the graph, such as "goroutine 17" or "mutex 0xc000012080"
	Kind   NodeKind `json:"kind"`             //
	Label  string   `json:"label"`            // for people; ID if empty
	Detail string   `json:"detail,omitempty"` // state, stage, place in the source
	Count  int      `json:"count"`            // how many it stands for, at least 1
	// Stuck: nobody whom this node waits for can go on, as far as the graph shows.
	Stuck bool `json:"stuck"`
}

// EdgeKind says what an edge means.
type EdgeKind string

// The kinds of edges. Both point from who needs to what is needed.
const (
	WaitsFor EdgeKind = "waits_for" // from who waits to what is waited for
	HeldBy   EdgeKind = "held_by"   // from an object to who holds it, or is to signal it
)

// Edge leads from a node to one that it needs.
type Edge struct {
	From int           `json:"from"` // index into Nodes
	To   int           `json:"to"`
	Kind EdgeKind      `json:"kind"`
	What string        `json:"what,omitempty"` // such as the id of a call
	For  time.Duration `json:"for_ns"`         // how long it has stood; 0: not known
	// Confidence is 1 for what the evidence says, less for what was inferred, and Why then says from what.
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why,omitempty"`
}

// Graph is who waits for whom. The zero value is empty.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}
