package waitgraph

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// random makes a graph of any shape: also with loops, edges beside each other, and kinds that make no
// sense together.
func random(r *rand.Rand) *Graph {
	g := &Graph{}
	kinds := []NodeKind{Goroutine, Agent, Process, Object, Permit, Outside}
	for i := range r.IntN(60) {
		g.Nodes = append(g.Nodes, Node{
			ID: fmt.Sprintf("node %d", i), Label: fmt.Sprintf("%c %d", 'a'+rune(r.IntN(4)), r.IntN(3)), Kind: kinds[r.IntN(len(kinds))],
			Count: r.IntN(4), Stuck: r.IntN(3) == 0, Detail: "detail of it"[:r.IntN(12)],
		})
	}
	if len(g.Nodes) == 0 {
		return g
	}
	for range r.IntN(3 * len(g.Nodes)) {
		kind := WaitsFor
		if r.IntN(2) == 0 {
			kind = HeldBy
		}
		g.Edges = append(g.Edges, Edge{
			From: r.IntN(len(g.Nodes)), To: r.IntN(len(g.Nodes)), Kind: kind,
			For: time.Duration(r.IntN(3)) * time.Minute, Confidence: float64(r.IntN(2)) / 2,
		})
	}
	return g
}

// TestRandom: whatever the graph, pictures can be drawn, cards do not stand on each other, cycles are
// cycles, nobody is lost when like ones are taken together, and a cycle stays one.
func TestRandom(t *testing.T) {
	for seed := range uint64(150) {
		g := random(rand.New(rand.NewPCG(seed, 1)))
		small := g.Collapse(drawnMax)
		checkCycles(t, seed, g)
		checkCounts(t, seed, g, small)
		if len(g.Cycles()) > 0 && len(small.Cycles()) == 0 {
			t.Errorf("seed %d: the cycle got lost", seed)
		}
		checkBoxes(t, seed, small)
		var first, second bytes.Buffer
		if g.WriteSVG(&first, "x") != nil || g.WriteSVG(&second, "x") != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("seed %d: two pictures of one graph", seed)
		}
		if err := g.WriteDOT(&first, "x"); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := g.WriteJSON(&first); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func checkCycles(t *testing.T, seed uint64, g *Graph) {
	t.Helper()
	edge := map[[2]int]bool{}
	for i := range g.Edges {
		edge[[2]int{g.Edges[i].From, g.Edges[i].To}] = true
	}
	for _, cycle := range g.Cycles() {
		for i, n := range cycle {
			if !edge[[2]int{n, cycle[(i+1)%len(cycle)]}] {
				t.Errorf("seed %d: %v is no cycle", seed, cycle)
			}
		}
	}
}

func checkCounts(t *testing.T, seed uint64, g, small *Graph) {
	t.Helper()
	before, after := 0, 0
	for i := range g.Nodes {
		before += g.Nodes[i].count()
	}
	for i := range small.Nodes {
		after += small.Nodes[i].count()
	}
	if before != after {
		t.Errorf("seed %d: %d taken together are %d", seed, before, after)
	}
}

func checkBoxes(t *testing.T, seed uint64, g *Graph) {
	t.Helper()
	heights := make([]int, len(g.Nodes))
	for i := range heights {
		heights[i] = cardHeight(&g.Nodes[i])
	}
	l := lay(g, heights)
	for i, a := range l.boxes {
		for k, b := range l.boxes[:i] {
			if a.meets(b) {
				t.Errorf("seed %d: cards %d and %d stand on each other", seed, i, k)
			}
		}
	}
}
