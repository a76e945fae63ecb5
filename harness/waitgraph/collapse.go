package waitgraph

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// ownCyclesMax is how many cycles, and ownNodesMax how many nodes of each, are shown node by node. Where
// there are more, they are like each other or nobody could read them.
const (
	ownCyclesMax = 8
	ownNodesMax  = 16
)

// roundsMax bounds how far away two nodes may differ and still be told apart, so that long chains cost little.
const roundsMax = 16

// Collapse returns a graph for people, with at most about nodesMax nodes. Nodes are taken together that
// are like each other: the same kind, the same words but for numbers, and edges from and to like nodes. What then
// still is too much goes together by kind, the nodes first that nobody is stuck at and that stand for few.
// Cycles keep their nodes. A node that stands for others has the ID of the first one.
func (g *Graph) Collapse(nodesMax int) *Graph {
	class := g.likeness()
	small := g.merge(class)
	if len(small.Nodes) > nodesMax {
		small = small.merge(small.leftovers(nodesMax))
	}
	return small
}

// likeness returns the class of each node: the coarsest one in which the members of a class have as many
// edges of each kind to and from each other class.
func (g *Graph) likeness() []int {
	a := g.adjacency()
	own := g.shownAlone()
	keys := make([]string, len(g.Nodes))
	for n := range g.Nodes {
		node := &g.Nodes[n]
		keys[n] = fmt.Sprint(own[n], node.Kind, node.Stuck, "\x00", pattern(node.name()), "\x00", pattern(node.Detail))
	}
	class, count := classes(keys)
	for range roundsMax {
		var near []uint64
		var key []byte
		for n := range g.Nodes {
			near = near[:0]
			for _, e := range a.out[n] {
				near = append(near, uint64(class[g.Edges[e].To])<<2|kindBit(g.Edges[e].Kind))
			}
			for _, e := range a.in[n] {
				near = append(near, uint64(class[g.Edges[e].From])<<2|2|kindBit(g.Edges[e].Kind))
			}
			slices.Sort(near)
			key = binary.AppendUvarint(key[:0], uint64(class[n]))
			for _, v := range near {
				key = binary.AppendUvarint(key, v)
			}
			keys[n] = string(key)
		}
		finer, more := classes(keys)
		if more == count {
			return class
		}
		class, count = finer, more
	}
	return class
}

func kindBit(k EdgeKind) uint64 {
	if k == HeldBy {
		return 1
	}
	return 0
}

// classes numbers equal keys alike, in the order first seen.
func classes(keys []string) (class []int, count int) {
	number := make(map[string]int, len(keys))
	class = make([]int, len(keys))
	for i, key := range keys {
		c, ok := number[key]
		if !ok {
			c = len(number)
			number[key] = c
		}
		class[i] = c
	}
	return class, len(number)
}

// shownAlone numbers the nodes of the cycles that are shown node by node, from 1; the others have 0.
func (g *Graph) shownAlone() []int {
	own := make([]int, len(g.Nodes))
	shown, next := 0, 1
	for _, cycle := range g.Cycles() {
		if shown == ownCyclesMax {
			break
		}
		if len(cycle) > ownNodesMax {
			continue
		}
		shown++
		for _, n := range cycle {
			own[n] = next
			next++
		}
	}
	return own
}

// pattern replaces numbers, decimal and 0x…, by "#".
func pattern(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			b.WriteByte(s[i])
			continue
		}
		hex := strings.HasPrefix(s[i:], "0x")
		if hex {
			i++
		}
		for i+1 < len(s) && (s[i+1] >= '0' && s[i+1] <= '9' || hex && s[i+1] >= 'a' && s[i+1] <= 'f') {
			i++
		}
		b.WriteByte('#')
	}
	return b.String()
}

// general turns a pattern into words for many: numbers at the end go, others become "…".
func general(s string) string {
	if trimmed := strings.TrimRight(s, "# -_:"); trimmed != "" {
		s = trimmed
	}
	return strings.ReplaceAll(s, "#", "…")
}

// merge makes one node of each class, and one edge of all that lead from class to class.
func (g *Graph) merge(class []int) *Graph {
	small := &Graph{}
	for n, c := range class {
		node := g.Nodes[n]
		node.Count = node.count()
		if c == len(small.Nodes) {
			small.Nodes = append(small.Nodes, node)
			continue
		}
		to := &small.Nodes[c]
		to.Count += node.Count
		to.Stuck = to.Stuck && node.Stuck
		if to.name() != node.name() {
			to.Label = general(pattern(to.name()))
		}
		if to.Detail != node.Detail {
			to.Detail = general(pattern(to.Detail))
		}
	}
	type way struct {
		from, to int
		kind     EdgeKind
	}
	index := map[way]int{}
	for i := range g.Edges {
		e := g.Edges[i]
		e.From, e.To = class[e.From], class[e.To]
		if at, ok := index[way{e.From, e.To, e.Kind}]; ok {
			to := &small.Edges[at]
			to.For, to.Confidence = max(to.For, e.For), min(to.Confidence, e.Confidence)
			if to.What != e.What {
				to.What = ""
			}
			if to.Why == "" {
				to.Why = e.Why
			}
			continue
		}
		index[way{e.From, e.To, e.Kind}] = len(small.Edges)
		small.Edges = append(small.Edges, e)
	}
	return small
}

// leftovers returns classes that leave the most telling nodes alone and put the others together by kind.
func (g *Graph) leftovers(nodesMax int) []int {
	own := g.shownAlone()
	order := make([]int, len(g.Nodes))
	degree := make([]int, len(g.Nodes))
	for i := range g.Edges {
		degree[g.Edges[i].From]++
		degree[g.Edges[i].To]++
	}
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			-cmp.Compare(truth(own[a] > 0), truth(own[b] > 0)),
			-cmp.Compare(truth(g.Nodes[a].Stuck), truth(g.Nodes[b].Stuck)),
			-cmp.Compare(degree[a], degree[b]),
			-cmp.Compare(g.Nodes[a].count(), g.Nodes[b].count()),
		)
	})
	keys := make([]string, len(g.Nodes))
	for rank, n := range order {
		if rank < nodesMax-6 || own[n] > 0 { // one for each kind may come
			keys[n] = fmt.Sprint(n)
			continue
		}
		keys[n] = "other " + string(g.Nodes[n].Kind)
		g.Nodes[n].Label, g.Nodes[n].Detail = "other "+string(g.Nodes[n].Kind)+"s", "left out of the picture"
	}
	class, _ := classes(keys)
	return class
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
