package waitgraph

import (
	"fmt"
	"reflect"
	"testing"
)

// draw makes a graph of lines such as "a>b" (a waits for b) and "b=c" (object b is held by c). Names in
// capitals are objects; those that begin with "*" are permits.
func draw(lines ...string) *Graph {
	g := &Graph{}
	index := map[string]int{}
	node := func(name string) int {
		if i, ok := index[name]; ok {
			return i
		}
		kind := Goroutine
		switch {
		case name[0] == '*':
			kind = Permit
		case name[0] >= 'A' && name[0] <= 'Z':
			kind = Object
		}
		index[name] = len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{ID: name, Kind: kind, Count: 1})
		return index[name]
	}
	for _, line := range lines {
		for i, c := range line {
			if c == '>' || c == '=' {
				kind := WaitsFor
				if c == '=' {
					kind = HeldBy
				}
				from := node(line[:i])
				g.Edges = append(g.Edges, Edge{From: from, To: node(line[i+1:]), Kind: kind, Confidence: 1})
			}
		}
	}
	return g
}

func (g *Graph) names(nodes []int) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, g.Nodes[n].ID)
	}
	return names
}

func TestCycles(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"none", []string{"a>A", "A=b"}, "[]"},
		{"empty", nil, "[]"},
		{"double lock", []string{"a>A", "A=a"}, "[[a A]]"},
		{"itself", []string{"a>a"}, "[[a]]"},
		{"AB-BA", []string{"a>A", "A=b", "b>B", "B=a"}, "[[a A b B]]"},
		{"the shortest of two", []string{"a>A", "A=b", "b>B", "B=c", "c>C", "C=a", "B=a"}, "[[a A b B]]"},
		{"two apart", []string{"x>X", "a>A", "A=a", "X=x"}, "[[x X] [a A]]"},
		{"with a tail", []string{"t>A", "a>A", "A=a"}, "[[A a]]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := draw(test.lines...)
			got := [][]string{}
			for _, cycle := range g.Cycles() {
				got = append(got, g.names(cycle))
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

// TestLongChain has a ring longer than a call stack should be deep, and a chain of convoys likewise.
func TestLongChain(t *testing.T) {
	const size = 50_000
	g := &Graph{}
	for i := range size {
		kind := Goroutine
		if i%2 == 1 {
			kind = Object
		}
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Kind: kind, Count: 1})
		edge := Edge{From: i, To: (i + 1) % size, Kind: WaitsFor, Confidence: 1}
		if i%2 == 1 {
			edge.Kind = HeldBy
		}
		g.Edges = append(g.Edges, edge)
	}
	if cycles := g.Cycles(); len(cycles) != 1 || len(cycles[0]) != size {
		t.Errorf("%d cycles, want one of %d nodes", len(cycles), size)
	}
	if c := g.Convoys(1); len(c) != 1 || c[0].Total != size/2 || c[0].Heads != nil {
		t.Errorf("%d convoys, want one of %d waiters without a head", len(c), size/2)
	}
}

func TestConvoys(t *testing.T) {
	// Four wait for B, whose holder h waits for A, held by the head, who waits for the network; and one
	// waits for A.
	g := draw("1>B", "2>B", "3>B", "4>B", "B=h", "h>A", "i>A", "A=head", "head>network", "z>Z", "Z=y")
	convoys := g.Convoys(2)
	if len(convoys) != 1 {
		t.Fatalf("got %d convoys, want 1: %v", len(convoys), convoys)
	}
	c := convoys[0]
	if got, want := g.names([]int{c.Object}), []string{"A"}; !reflect.DeepEqual(got, want) {
		t.Errorf("object %v, want %v", got, want)
	}
	if got, want := g.names(c.Holders), []string{"head"}; !reflect.DeepEqual(got, want) {
		t.Errorf("holders %v, want %v", got, want)
	}
	if got, want := g.names(c.Heads), []string{"network"}; !reflect.DeepEqual(got, want) {
		t.Errorf("heads %v, want %v", got, want)
	}
	const want = "2 wait for A behind head; at the head: network; 4 more behind them, at B"
	if got := g.Sentence(&c); got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
	if c.Waiting != 2 || c.Total != 6 || len(c.Behind) != 1 || c.Behind[0].Waiting != 4 {
		t.Errorf("%d waiting, %d in all, behind it %v", c.Waiting, c.Total, c.Behind)
	}
}

func TestRetained(t *testing.T) {
	g := draw("a>S", "S=b", "S=*one", "S=*two")
	var got []string
	for _, r := range g.Retained() {
		got = append(got, g.names([]int{r.Object, r.Permit})...)
	}
	if want := []string{"S", "*one", "S", "*two"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
