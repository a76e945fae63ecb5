package waitgraph

import (
	"cmp"
	"slices"
)

// Convoy is an object that somebody waits for, with whoever stands at its head, and the convoys of
// those who wait: objects that they hold while they wait.
type Convoy struct {
	Object  int   `json:"object"`  // index into Nodes
	Holders []int `json:"holders"` // nodes that hold it, or are to signal it
	Waiters []int `json:"waiters"` // nodes that wait for it themselves
	// Heads are the ends of the chain that starts with the holders: nodes that wait for nobody in the
	// graph, or for something outside. Empty where the chain leads back into a cycle, and in Behind,
	// whose chains go on to the same heads.
	Heads   []int `json:"heads,omitempty"`
	Waiting int   `json:"waiting"` // how many the waiters stand for
	Total   int   `json:"total"`   // with those of the convoys behind
	// Behind are the convoys at objects that waiters hold, the largest first. An object that more than
	// one way leads to is in the first one only.
	Behind []Convoy `json:"behind,omitempty"`
}

// Convoys returns the convoys with at least min waiters, counting those behind: each one that does not
// stand behind another, the largest first and equal ones in the order of the nodes. Cycles of convoys
// are entered at the first object.
func (g *Graph) Convoys(min int) []Convoy {
	w := convoys{g: g, a: g.adjacency(), done: make([]bool, len(g.Nodes)), seen: make([]int, len(g.Nodes))}
	var all []Convoy
	collect := func(n int) {
		if c := w.at(n); c.Total >= min {
			all = append(all, c)
		}
	}
	for _, behind := range []bool{false, true} { // those in cycles have not been reached by the first round
		for n := range g.Nodes {
			if g.Nodes[n].Kind == Object && !w.done[n] && w.waiting(n) && (behind || !w.isBehind(n)) {
				collect(n)
			}
		}
	}
	largestFirst(all)
	return all
}

func largestFirst(all []Convoy) {
	slices.SortStableFunc(all, func(a, b Convoy) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Object, b.Object))
	})
}

type convoys struct {
	g    *Graph
	a    adjacency
	done []bool // objects that are in a convoy
	seen []int  // number of the search that last reached a node

	searches int
}

// at builds the convoy of an object that has waiters, and those behind it, one level after the other so
// that a long chain needs no deep stack of calls.
func (w *convoys) at(object int) Convoy {
	w.done[object] = true
	type place struct {
		convoy Convoy
		parent int
	}
	line := []place{{w.flat(object), -1}}
	for i := 0; i < len(line); i++ {
		for _, n := range line[i].convoy.Waiters {
			for _, o := range w.heldBy(n) {
				if !w.done[o] && w.waiting(o) {
					w.done[o] = true
					line = append(line, place{w.flat(o), i})
				}
			}
		}
	}
	for i := len(line) - 1; i > 0; i-- { // every place comes after its parent
		p := &line[line[i].parent].convoy
		largestFirst(line[i].convoy.Behind)
		p.Behind = append(p.Behind, line[i].convoy)
		p.Total += line[i].convoy.Total
	}
	head := &line[0].convoy
	largestFirst(head.Behind)
	head.Heads = w.heads(head.Holders)
	return *head
}

// flat is the convoy of an object without those behind it.
func (w *convoys) flat(object int) Convoy {
	c := Convoy{Object: object, Holders: []int{}, Waiters: []int{}}
	w.searches++
	for _, e := range w.a.in[object] {
		if edge := &w.g.Edges[e]; edge.Kind == WaitsFor && w.seen[edge.From] != w.searches {
			w.seen[edge.From] = w.searches
			c.Waiters = append(c.Waiters, edge.From)
			c.Waiting += w.g.Nodes[edge.From].count()
		}
	}
	w.searches++
	for _, e := range w.a.out[object] {
		if edge := &w.g.Edges[e]; edge.Kind == HeldBy && w.seen[edge.To] != w.searches {
			w.seen[edge.To] = w.searches
			c.Holders = append(c.Holders, edge.To)
		}
	}
	c.Total = c.Waiting
	return c
}

// heads follows what the nodes need to its ends.
func (w *convoys) heads(from []int) []int {
	var heads []int
	w.searches++
	queue := slices.Clone(from)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if w.seen[n] == w.searches {
			continue
		}
		w.seen[n] = w.searches
		if len(w.a.out[n]) == 0 {
			heads = append(heads, n)
		}
		for _, e := range w.a.out[n] {
			queue = append(queue, w.g.Edges[e].To)
		}
	}
	slices.Sort(heads)
	return heads
}

// heldBy returns the objects that the node holds.
func (w *convoys) heldBy(n int) []int {
	var objects []int
	for _, e := range w.a.in[n] {
		if edge := &w.g.Edges[e]; edge.Kind == HeldBy && w.g.Nodes[edge.From].Kind == Object {
			objects = append(objects, edge.From)
		}
	}
	return objects
}

func (w *convoys) waiting(object int) bool {
	return slices.ContainsFunc(w.a.in[object], func(e int) bool { return w.g.Edges[e].Kind == WaitsFor })
}

// isBehind says whether a holder of the object waits for another object.
func (w *convoys) isBehind(object int) bool {
	for _, e := range w.a.out[object] {
		for _, next := range w.a.out[w.g.Edges[e].To] {
			if edge := &w.g.Edges[next]; edge.Kind == WaitsFor && w.g.Nodes[edge.To].Kind == Object {
				return true
			}
		}
	}
	return false
}

// Retained is a part of an object that is held and that nobody works on any more.
type Retained struct {
	Object int `json:"object"` // indices into Nodes
	Permit int `json:"permit"`
}

// Retained returns the held parts of objects that no longer have a holder, in the order of the edges.
func (g *Graph) Retained() []Retained {
	var all []Retained
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Kind == HeldBy && g.Nodes[e.To].Kind == Permit {
			all = append(all, Retained{Object: e.From, Permit: e.To})
		}
	}
	return all
}
