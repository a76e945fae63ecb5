package waits

import (
	"fmt"
	"slices"

	"example.com/wedge/harness/waitgraph"
)

// Of each object the graph names so many waiters; more are one node together.
const graphWaitersMax = 12

// Graph is who waits for whom: the objects with their waiters and holders.
// Confidence on an edge is 1 for what the text says and less for what was inferred.
func (a *Analysis) Graph() waitgraph.Graph {
	if a.graph == nil {
		return waitgraph.Graph{}
	}
	return a.graph()
}

// A drawing is a graph being built.
type drawing struct {
	z     *analyzer
	graph waitgraph.Graph
	index map[string]int
	stuck map[int64]bool
}

func (z *analyzer) graph() waitgraph.Graph {
	d := drawing{z: z, index: map[string]int{}, stuck: map[int64]bool{}}
	for _, id := range z.a.Stuck {
		d.stuck[id] = true
	}
	for o := range z.a.Objects {
		d.addObject(o)
	}
	d.addOutside()
	return d.graph
}

func (d *drawing) node(n waitgraph.Node) int {
	if i, ok := d.index[n.ID]; ok {
		return i
	}
	i := len(d.graph.Nodes)
	d.index[n.ID] = i
	d.graph.Nodes = append(d.graph.Nodes, n)
	return i
}

// addObject draws an object with its waiters; those of one group beyond the
// first few are one node.
func (d *drawing) addObject(o int) {
	object := &d.z.a.Objects[o]
	node := waitgraph.Node{ID: object.Name, Kind: waitgraph.Object, Label: object.Name, Count: 1}
	node.Stuck = len(object.Waiters) > 0 && d.stuck[object.Waiters[0]]
	to := d.node(node)
	named := len(object.Waiters)
	if named > graphWaitersMax {
		named = graphWaitersMax / 2
	}
	if named > 0 && object.Waiters[0] == 0 {
		named = 0 // of a profile, which has no numbers
	}
	for _, id := range object.Waiters[:named] {
		d.graph.Edges = append(d.graph.Edges, waitgraph.Edge{From: d.goroutine(id), To: to, Kind: waitgraph.WaitsFor, Confidence: certainty(object)})
	}
	if rest := object.Waiters[named:]; len(rest) > 0 {
		more := waitgraph.Node{ID: "more waiters of " + object.Name, Kind: waitgraph.Goroutine, Count: len(rest), Stuck: d.stuck[rest[0]]}
		more.Label = fmt.Sprintf("%d more", len(rest))
		d.graph.Edges = append(d.graph.Edges, waitgraph.Edge{From: d.node(more), To: to, Kind: waitgraph.WaitsFor, Confidence: certainty(object)})
	}
	for _, h := range object.Holders {
		if h.Goroutine == 0 {
			continue
		}
		d.graph.Edges = append(d.graph.Edges, waitgraph.Edge{From: to, To: d.goroutine(h.Goroutine), Kind: waitgraph.HeldBy, Confidence: h.Confidence, Why: h.Why})
	}
}

// certainty is how sure it is that waiters wait for one object: without an
// address they are taken together by the place.
func certainty(o *Object) float64 {
	if o.Address == 0 {
		return byElimination
	}
	return 1
}

func (d *drawing) goroutine(id int64) int {
	n := waitgraph.Node{ID: fmt.Sprintf("goroutine %d", id), Kind: waitgraph.Goroutine, Count: 1, Stuck: d.stuck[id]}
	if i, ok := d.z.find(id); ok {
		n.Detail = d.z.where(i)
		n.Count = int(d.z.facts[i].count)
	}
	return d.node(n)
}

// addOutside draws what holders wait for beyond the program.
func (d *drawing) addOutside() {
	for _, n := range slices.Clone(d.graph.Nodes) {
		var id int64
		if _, err := fmt.Sscanf(n.ID, "goroutine %d", &id); err != nil || n.Kind != waitgraph.Goroutine {
			continue
		}
		i, ok := d.z.find(id)
		if !ok || d.z.class(i) != PeerEnding && d.z.class(i) != SelfEnding {
			continue
		}
		s := d.z.shape(i)
		to := d.node(waitgraph.Node{ID: "outside: " + s.waits, Kind: waitgraph.Outside, Label: s.waits, Count: 1})
		d.graph.Edges = append(d.graph.Edges, waitgraph.Edge{From: d.index[n.ID], To: to, Kind: waitgraph.WaitsFor, Confidence: 1})
	}
}
