package waitgraph

// adjacency lists the edges of each node, both ways, as indices into Edges.
type adjacency struct {
	out, in [][]int
}

func (g *Graph) adjacency() adjacency {
	a := adjacency{out: make([][]int, len(g.Nodes)), in: make([][]int, len(g.Nodes))}
	for i := range g.Edges {
		e := &g.Edges[i]
		a.out[e.From] = append(a.out[e.From], i)
		a.in[e.To] = append(a.in[e.To], i)
	}
	return a
}

// count is how many the node stands for.
func (n *Node) count() int { return max(1, n.Count) }

// name is what people call the node.
func (n *Node) name() string {
	if n.Label == "" {
		return n.ID
	}
	return n.Label
}
