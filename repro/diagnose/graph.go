package diagnose

import (
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// SlotObject is the name of the pacer's semaphore of slots.
const SlotObject = "pacer.slots"

// ConnectionObject is the name of the semaphore of connections of a client in memory. A client that
// dials has none.
const ConnectionObject = "connections"

// NodeKind says what a node of the waits-for graph stands for.
type NodeKind string

// The kinds of nodes.
const (
	NodeAgent   NodeKind = "agent"
	NodeProcess NodeKind = "process" // one that is no agent
	NodeObject  NodeKind = "object"  // a semaphore, queue or latch
	NodeKept    NodeKind = "kept"    // a permit whose holder no longer works on what it took it for
)

// Node is somebody or something in the waits-for graph.
type Node struct {
	Name string   `json:"name"` // of an object with its kind, such as "semaphore pacer.slots"
	Kind NodeKind `json:"kind"`
	// Stuck: nobody whom this node waits for can go on, as far as the graph shows. Whoever waits for
	// something outside it, such as the network, a tool or a timer, can go on.
	Stuck bool `json:"stuck"`
}

// EdgeKind says what an edge means.
type EdgeKind string

// The kinds of edges.
const (
	EdgeWaits EdgeKind = "waits_for" // from who waits to what is waited for
	EdgeHeld  EdgeKind = "held_by"   // from an object to who holds a part of it
)

// Edge leads from a node to one that it needs.
type Edge struct {
	From int           `json:"from"` // index into Nodes
	To   int           `json:"to"`
	Kind EdgeKind      `json:"kind"`
	What string        `json:"what,omitempty"` // such as the id of a call
	For  time.Duration `json:"for_ns"`         // how long it has stood
}

// Graph is who waits for whom.
type Graph struct {
	Nodes []Node   `json:"nodes"`
	Edges []Edge   `json:"edges"`
	Cycle []string `json:"cycle"` // names along the cycle of a deadlock, each needing the next and the last the first

	index   map[string]int
	out     [][]int // edges from a node
	objects []int   // node of each object of the evidence
	cycle   []int   // nodes along the cycle
}

// WaitsFor builds the waits-for graph of an evidence and finds out who is stuck.
func WaitsFor(ev *harness.Evidence) Graph {
	r := newReading(ev, nil)
	return r.graph
}

// Waits counts the edges of waiting.
func (g *Graph) Waits() int {
	n := 0
	for i := range g.Edges {
		if g.Edges[i].Kind == EdgeWaits {
			n++
		}
	}
	return n
}

// graphOf builds the graph. kept says of an object's holder whether the permit is kept: held, and no
// longer worked on.
func graphOf(ev *harness.Evidence, kept func(object, holder int) bool) Graph {
	nodes, edges := len(ev.Agents)+len(ev.Objects), 0
	for i := range ev.Objects {
		edges += len(ev.Objects[i].Holders) + len(ev.Objects[i].Waiters)
	}
	g := Graph{
		Nodes: make([]Node, 0, nodes), Edges: make([]Edge, 0, edges), Cycle: []string{},
		index: make(map[string]int, nodes), out: make([][]int, 0, nodes),
	}
	for i := range ev.Agents {
		g.node(ev.Agents[i].Name, NodeAgent)
	}
	g.objects = make([]int, len(ev.Objects))
	for i := range ev.Objects {
		g.objects[i] = g.object(ev, i, kept)
	}
	g.joinAll(ev)
	g.reduce(ev)
	return g
}

// node returns the index of a named node, made if it is new.
func (g *Graph) node(name string, kind NodeKind) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	i := len(g.Nodes)
	g.Nodes = append(g.Nodes, Node{Name: name, Kind: kind})
	g.out = append(g.out, nil)
	g.index[name] = i
	return i
}

func (g *Graph) edge(at sim.Instant, from, to int, kind EdgeKind, what string, since sim.Instant) {
	g.out[from] = append(g.out[from], len(g.Edges))
	g.Edges = append(g.Edges, Edge{From: from, To: to, Kind: kind, What: what, For: age(at, since)})
}

// object adds a waiting object with its holders and waiters.
func (g *Graph) object(ev *harness.Evidence, i int, kept func(object, holder int) bool) int {
	o := &ev.Objects[i]
	n := g.node(o.Kind+" "+o.Name, NodeObject)
	for h, p := range o.Holders {
		var to int
		if kept(i, h) {
			to = g.node("permit of "+o.Name+" kept by "+partyName(p), NodeKept)
		} else {
			to = g.node(p.Name, NodeProcess)
		}
		g.edge(ev.At, n, to, EdgeHeld, p.What, p.Since)
	}
	for _, p := range o.Waiters {
		g.edge(ev.At, g.node(p.Name, NodeProcess), n, EdgeWaits, p.What, p.Since)
	}
	return n
}

func partyName(p sim.Party) string {
	if p.What == "" || p.What == p.Name {
		return p.Name
	}
	return p.Name + " (" + p.What + ")"
}

// joinAll adds what agents wait for besides objects: the end of other processes, so of sub-agents.
// The agent's own word is taken first. What its process shows may be an old wait that it has long
// been woken from, so it counts only while the agent is between calls and the other process lives.
func (g *Graph) joinAll(ev *harness.Evidence) {
	processes := make(map[string]*sim.ProcessState, len(ev.Processes))
	for i := range ev.Processes {
		processes[ev.Processes[i].Name] = &ev.Processes[i]
	}
	for i := range ev.Agents {
		a := &ev.Agents[i]
		if a.Stage != pacer.StageTool && a.Stage != pacer.StageThink {
			continue
		}
		n := g.index[a.Name]
		if g.waits(n) {
			continue // for an object, and nobody waits for two things
		}
		for _, name := range a.WaitsOn {
			if to, ok := g.index[name]; ok && to != n && g.Nodes[to].Kind == NodeAgent {
				g.edge(ev.At, n, to, EdgeWaits, "its end", a.Since)
			}
		}
		g.join(ev.At, processes, n, a.Waits, a.Since)
	}
}

// join adds the wait for the end of a live process, if that is what the text says, and what that
// process waits for in its turn.
func (g *Graph) join(at sim.Instant, processes map[string]*sim.ProcessState, from int, waitsFor string, since sim.Instant) {
	for {
		name, ok := strings.CutPrefix(waitsFor, "process ")
		if !ok || g.waits(from) {
			return
		}
		p := processes[name]
		to, known := g.index[name]
		if !known && p == nil {
			return // it has ended: an old wait
		}
		if !known {
			to = g.node(name, NodeProcess)
		}
		if to == from {
			return
		}
		g.edge(at, from, to, EdgeWaits, "its end", since)
		if g.Nodes[to].Kind != NodeProcess || p == nil {
			return
		}
		from, waitsFor, since = to, p.WaitsFor, p.Since
	}
}

// waits says whether the node waits for another one.
func (g *Graph) waits(n int) bool {
	for _, e := range g.out[n] {
		if g.Edges[e].Kind == EdgeWaits {
			return true
		}
	}
	return false
}
