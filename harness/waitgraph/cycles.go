package waitgraph

import "slices"

// searchesMax bounds the searches for the shortest cycle of one component. A component with more nodes
// gets the shortest of the cycles through its first ones.
const searchesMax = 64

// Cycles returns one shortest cycle for each set of nodes that all need each other, as indices into
// Nodes: each needs the next, and the last the first. A cycle starts at its lowest index, and the
// cycles are in the order of their starts.
//
// A cycle is a deadlock only if none of its nodes has another way out, as where an object has several
// holders: see [Node.Stuck].
func (g *Graph) Cycles() [][]int {
	a := g.adjacency()
	component := g.components(&a)
	members := make([][]int, len(g.Nodes))
	for n, c := range component {
		members[c] = append(members[c], n)
	}
	var cycles [][]int
	s := search{g: g, a: &a, component: component, from: make([]int, len(g.Nodes)), seen: make([]int, len(g.Nodes))}
	for _, nodes := range members {
		if cycle := s.shortest(nodes); cycle != nil {
			cycles = append(cycles, cycle)
		}
	}
	slices.SortFunc(cycles, slices.Compare)
	return cycles
}

// search looks for cycles breadth first. seen holds the number of the search that reached a node.
type search struct {
	g         *Graph
	a         *adjacency
	component []int
	from      []int // the node before, on the shortest way
	seen      []int
	searches  int
}

func (s *search) shortest(nodes []int) []int {
	var best []int
	for i, n := range nodes {
		if i == searchesMax || len(best) == 1 {
			break
		}
		if cycle := s.through(n); cycle != nil && (best == nil || len(cycle) < len(best)) {
			best = cycle
		}
	}
	if best == nil {
		return nil
	}
	first := slices.Index(best, slices.Min(best))
	return append(slices.Clone(best[first:]), best[:first]...)
}

// through returns a shortest cycle through the node.
func (s *search) through(start int) []int {
	s.searches++
	queue := []int{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range s.a.out[n] {
			to := s.g.Edges[e].To
			if to == start {
				return s.back(start, n)
			}
			if s.component[to] == s.component[start] && s.seen[to] != s.searches {
				s.seen[to], s.from[to] = s.searches, n
				queue = append(queue, to)
			}
		}
	}
	return nil
}

func (s *search) back(start, end int) []int {
	cycle := []int{end}
	for n := end; n != start; {
		n = s.from[n]
		cycle = append(cycle, n)
	}
	slices.Reverse(cycle)
	return cycle
}

// components numbers the strongly connected components and says which one each node is in. It is
// Tarjan's algorithm with a stack of its own, since chains of waiters can be longer than a call stack
// should be.
func (g *Graph) components(a *adjacency) []int {
	var (
		number    = make([]int, len(g.Nodes)) // order of discovery, from 1
		low       = make([]int, len(g.Nodes))
		component = make([]int, len(g.Nodes))
		next      = make([]int, len(g.Nodes)) // edge to follow next
		open      []int                       // nodes without a component yet
		path      []int
		found     = 0
		count     = 0
	)
	for i := range component {
		component[i] = -1
	}
	for root := range g.Nodes {
		if number[root] == 0 {
			path = append(path, root)
		}
		for len(path) > 0 {
			n := path[len(path)-1]
			if number[n] == 0 {
				found++
				number[n], low[n] = found, found
				open = append(open, n)
			}
			if next[n] < len(a.out[n]) {
				to := g.Edges[a.out[n][next[n]]].To
				next[n]++
				switch {
				case number[to] == 0:
					path = append(path, to)
				case component[to] < 0:
					low[n] = min(low[n], number[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[n])
			}
			if low[n] == number[n] {
				for {
					m := open[len(open)-1]
					open = open[:len(open)-1]
					component[m] = count
					if m == n {
						break
					}
				}
				count++
			}
		}
	}
	return component
}
