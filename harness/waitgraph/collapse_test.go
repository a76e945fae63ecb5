package waitgraph

import (
	"fmt"
	"reflect"
	"testing"
)

func (g *Graph) lines() []string {
	var lines []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		lines = append(lines, fmt.Sprintf("%d × %s (%s)", n.Count, n.name(), n.Detail))
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		lines = append(lines, fmt.Sprintf("%s %s %s", g.Nodes[e.From].name(), e.Kind, g.Nodes[e.To].name()))
	}
	return lines
}

// slots is a full semaphore: waiters wait, and holders wait for the network.
func slots(waiters, holders int) *Graph {
	g := &Graph{Nodes: []Node{{ID: "semaphore slots", Kind: Object, Count: 1}, {ID: "network", Kind: Outside, Count: 1}}}
	for i := range waiters {
		g.Edges = append(g.Edges, Edge{From: len(g.Nodes), To: 0, Kind: WaitsFor, Confidence: 1})
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprintf("agent-%02d", i), Kind: Agent, Count: 1, Detail: "waits for a slot"})
	}
	for i := range holders {
		n := len(g.Nodes)
		g.Edges = append(g.Edges, Edge{From: 0, To: n, Kind: HeldBy, Confidence: 1}, Edge{From: n, To: 1, Kind: WaitsFor, Confidence: 1})
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprintf("agent-%02d", waiters+i), Kind: Agent, Count: 1, Detail: fmt.Sprintf("call-%d streams", i)})
	}
	return g
}

func TestCollapse(t *testing.T) {
	got := slots(38, 2).Collapse(40).lines()
	want := []string{
		"1 × semaphore slots ()", "1 × network ()", "38 × agent (waits for a slot)", "2 × agent (call-… streams)",
		"agent waits_for semaphore slots", "semaphore slots held_by agent", "agent waits_for network",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCollapseKeepsCycles: the two of a cycle are as like as can be, and are shown as two.
func TestCollapseKeepsCycles(t *testing.T) {
	g := draw("1>A", "A=2", "2>B", "B=1", "3>A", "4>A")
	if got := len(g.Collapse(40).Nodes); got != 5 {
		t.Errorf("%d nodes, want 4 of the cycle and 1 for both others", got)
	}
}

// TestCollapseBound: nothing is like anything else, and yet the picture stays small.
func TestCollapseBound(t *testing.T) {
	g := draw("x>A", "A=x")
	for i := range 400 {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26)) + "y"
		g.Edges = append(g.Edges, Edge{From: len(g.Nodes), To: 1, Kind: WaitsFor, Confidence: 1})
		g.Nodes = append(g.Nodes, Node{ID: name, Kind: Goroutine, Count: 1})
	}
	small := g.Collapse(40)
	total := 0
	for i := range small.Nodes {
		total += small.Nodes[i].Count
	}
	if len(small.Nodes) > 40 || total != len(g.Nodes) || len(small.Cycles()) != 1 {
		t.Errorf("%d nodes for %d, want at most 40 for %d; %d cycles, want 1", len(small.Nodes), total, len(g.Nodes), len(small.Cycles()))
	}
}

func TestPattern(t *testing.T) {
	for _, test := range []struct{ in, pattern, general string }{
		{"agent-07", "agent-#", "agent"},
		{"mutex 0xc000012080", "mutex #", "mutex"},
		{"permit of slots kept by agent-3 (call-12)", "permit of slots kept by agent-# (call-#)", "permit of slots kept by agent-… (call-…)"},
		{"17", "#", "…"},
		{"", "", ""},
	} {
		if got := pattern(test.in); got != test.pattern || general(got) != test.general {
			t.Errorf("%q: pattern %q, general %q; want %q, %q", test.in, got, general(got), test.pattern, test.general)
		}
	}
}
