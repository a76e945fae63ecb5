package diagnose

import (
	"example.com/wedge/harness"
)

// reduce finds the nodes that can never go on, by the classic reduction of a graph with several
// permits to an object: whoever waits for nothing in the graph will go on and let go of what it
// holds, so whoever waits for that will go on too, and so forth. Who is left is stuck. A cycle alone
// does not make a deadlock of a semaphore with several permits: one live holder outside it is
// enough to let it move.
func (g *Graph) reduce(ev *harness.Evidence) {
	need := make([]int, len(g.Nodes)) // waits of an agent that are not yet known to end
	in := make([][]int, len(g.Nodes)) // edges to a node
	goes := make([]bool, len(g.Nodes))
	for i, e := range g.Edges {
		in[e.To] = append(in[e.To], i)
		if e.Kind == EdgeWaits {
			need[e.From]++
		}
	}
	var work []int
	free := g.freeObjects(ev)
	for n := range g.Nodes {
		switch k := g.Nodes[n].Kind; {
		case k == NodeKept:
		case k == NodeObject && !free[n]:
		case k != NodeObject && need[n] > 0:
		default:
			goes[n] = true
			work = append(work, n)
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, i := range in[n] {
			from := g.Edges[i].From
			if g.Edges[i].Kind == EdgeWaits {
				need[from]--
			}
			if !goes[from] && (g.Edges[i].Kind == EdgeHeld || need[from] == 0) {
				goes[from] = true
				work = append(work, from)
			}
		}
	}
	for n := range g.Nodes {
		g.Nodes[n].Stuck = !goes[n]
	}
	g.findCycle()
}

// freeObjects says of each node whether it is an object that lets a waiter in without anybody in the
// graph giving something back: a permit is free, or nobody is known who would have to.
func (g *Graph) freeObjects(ev *harness.Evidence) []bool {
	free := make([]bool, len(g.Nodes))
	for i, n := range g.objects {
		o := &ev.Objects[i]
		free[n] = o.Kind != "semaphore" || o.InUse < o.Capacity || len(o.Holders) == 0 || len(o.Holders) < o.InUse
	}
	return free
}

// findCycle looks for a cycle among the stuck nodes; permits that are kept end a path. Waits that
// have only just begun are not built on, since objects are not all read at the very same instant.
func (g *Graph) findCycle() {
	state := make([]searchState, len(g.Nodes))
	for n := range g.Nodes {
		if !g.Nodes[n].Stuck || g.Nodes[n].Kind == NodeKept || g.Nodes[n].Kind == NodeObject {
			continue
		}
		if start := g.onCycle(n, state); start >= 0 {
			g.cycle = g.shortest(start)
			if g.Nodes[start].Kind == NodeObject { // begin with somebody
				g.cycle = append(g.cycle[1:], start)
			}
			for _, c := range g.cycle {
				g.Cycle = append(g.Cycle, g.Nodes[c].Name)
			}
			return
		}
	}
}

// follows says whether the search for a cycle may take the edge.
func (g *Graph) follows(e int) bool {
	to := &g.Nodes[g.Edges[e].To]
	return to.Stuck && to.Kind != NodeKept && g.Edges[e].For >= waitMin
}

// searchState is how far the search for a cycle has got with a node.
type searchState uint8

const (
	unseen searchState = iota
	onPath
	exhausted
)

// onCycle walks depth first from n and returns a node on a cycle that it meets, or -1.
func (g *Graph) onCycle(n int, state []searchState) int {
	type visit struct{ node, next int }
	if state[n] != unseen {
		return -1
	}
	stack := []visit{{node: n}}
	state[n] = onPath
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(g.out[top.node]) {
			state[top.node] = exhausted
			stack = stack[:len(stack)-1]
			continue
		}
		e := g.out[top.node][top.next]
		top.next++
		if !g.follows(e) {
			continue
		}
		switch to := g.Edges[e].To; state[to] {
		case onPath:
			return to
		case unseen:
			state[to] = onPath
			stack = append(stack, visit{node: to})
		}
	}
	return -1
}

// shortest returns a shortest cycle through a node that is on one.
func (g *Graph) shortest(start int) []int {
	from := map[int]int{} // the node before, on the way out from start
	queue := []int{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range g.out[n] {
			if !g.follows(e) {
				continue
			}
			to := g.Edges[e].To
			if to == start {
				cycle := []int{n}
				for n != start {
					n = from[n]
					cycle = append([]int{n}, cycle...)
				}
				return cycle
			}
			if _, seen := from[to]; !seen {
				from[to] = n
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// knot is what a deadlock's cycle consists of. The zero value is no deadlock.
type knot struct {
	found    bool
	slots    bool     // the pacer's slots are part of it
	objects  []string // other objects along the cycle
	agents   int      // agents along the cycle
	stuck    int      // agents that cannot go on: those of the cycle and all behind them
	permits  int      // permits of the pacer's slots held by parties that are stuck themselves
	capacity int      // of the pacer's slots, if they are part of it
}

// knotOf sums up the cycle of the graph.
func (g *Graph) knotOf(ev *harness.Evidence) knot {
	k := knot{found: len(g.cycle) > 0}
	for i := range ev.Agents {
		if n, ok := g.index[ev.Agents[i].Name]; ok && g.Nodes[n].Stuck {
			k.stuck++
		}
	}
	along := make(map[int]bool, len(g.cycle))
	for _, n := range g.cycle {
		along[n] = true
		if g.Nodes[n].Kind != NodeObject {
			k.agents++
		}
	}
	for i, n := range g.objects {
		switch o := &ev.Objects[i]; {
		case !along[n]:
		case o.Name == SlotObject:
			k.slots, k.capacity = true, o.Capacity
			for _, e := range g.out[n] {
				if to := &g.Nodes[g.Edges[e].To]; to.Stuck && to.Kind != NodeKept {
					k.permits++
				}
			}
		default:
			k.objects = append(k.objects, g.Nodes[n].Name)
		}
	}
	return k
}
