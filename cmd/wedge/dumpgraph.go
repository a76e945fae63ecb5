package main

import (
	"fmt"
	"slices"

	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/harness/waitgraph"
)

// graphOfDump is who waits for whom in a dump: goroutines for objects, objects by whom they are held,
// and other waits for what lies outside.
func graphOfDump(a *waits.Analysis) waitgraph.Graph {
	if !hasIDs(a) {
		return graphOfGroups(a)
	}
	g := dumpGraph{index: map[int64]int{}, group: map[int64]*waits.Group{}}
	for i := range a.Groups {
		for _, id := range a.Groups[i].IDs {
			g.group[id] = &a.Groups[i]
		}
	}
	g.stuck = slices.Sorted(slices.Values(a.Stuck))
	for i := range a.Objects {
		o := &a.Objects[i]
		at := len(g.Nodes)
		g.Nodes = append(g.Nodes, waitgraph.Node{ID: o.Name, Kind: waitgraph.Object, Count: 1, Detail: waitWords(len(o.Waiters))})
		waits := 0
		for _, id := range o.Waiters {
			if g.isStuck(id) {
				waits++
			}
			edge := waitgraph.Edge{From: g.node(id), To: at, Kind: waitgraph.WaitsFor, Confidence: 1}
			if o.Address == 0 {
				edge.Confidence, edge.Why = byPlace, "the text has no address, so that all that wait at one place are taken together"
			}
			g.Edges = append(g.Edges, edge)
		}
		g.Nodes[at].Stuck = waits > 0 && waits == len(o.Waiters)
		for _, h := range o.Holders {
			g.Edges = append(g.Edges, waitgraph.Edge{From: at, To: g.node(h.Goroutine), Kind: waitgraph.HeldBy, Confidence: h.Confidence, Why: h.Why})
		}
	}
	g.outside(a)
	return g.Graph
}

func waitWords(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return thousands(n) + " wait"
}

// byPlace is how sure it is that all that wait at one place wait for one object.
const byPlace = 0.5

type dumpGraph struct {
	waitgraph.Graph
	index map[int64]int // node of each goroutine
	group map[int64]*waits.Group
	stuck []int64 // in order
}

func (g *dumpGraph) isStuck(id int64) bool {
	_, found := slices.BinarySearch(g.stuck, id)
	return found
}

func (g *dumpGraph) node(id int64) int {
	n, ok := g.index[id]
	if !ok {
		n = len(g.Nodes)
		g.index[id] = n
		node := waitgraph.Node{ID: fmt.Sprintf("goroutine %d", id), Kind: waitgraph.Goroutine, Count: 1, Stuck: g.isStuck(id)}
		if grp := g.group[id]; grp != nil {
			node.Detail = grp.State + " in " + grp.Place
		}
		g.Nodes = append(g.Nodes, node)
	}
	return n
}

// outside adds what goroutines wait for that is no object, as far as they are in the graph already or
// could be of interest.
func (g *dumpGraph) outside(a *waits.Analysis) {
	waiting := make([]bool, len(g.Nodes))
	for i := range g.Edges {
		if g.Edges[i].Kind == waitgraph.WaitsFor {
			waiting[g.Edges[i].From] = true
		}
	}
	places := map[string]int{}
	for i := range a.Groups {
		grp := &a.Groups[i]
		if grp.Class != waits.PeerEnding && grp.Class != waits.SelfEnding {
			continue
		}
		for _, id := range grp.IDs {
			if n, ok := g.index[id]; ok && waiting[n] || !ok && grp.Stage == "" {
				continue
			}
			to, ok := places[grp.Waits]
			if !ok {
				to = len(g.Nodes)
				places[grp.Waits] = to
				g.Nodes = append(g.Nodes, waitgraph.Node{ID: "outside: " + grp.Waits, Label: grp.Waits, Kind: waitgraph.Outside, Count: 1})
				waiting = append(waiting, false)
			}
			from := g.node(id)
			if from == len(waiting) {
				waiting = append(waiting, true)
			}
			g.Edges = append(g.Edges, waitgraph.Edge{From: from, To: to, Kind: waitgraph.WaitsFor, For: grp.WaitMin, Confidence: 1})
		}
	}
}

// graphOfGroups is the graph of a text that does not name goroutines: each group, and what it waits for.
func graphOfGroups(a *waits.Analysis) waitgraph.Graph {
	var g waitgraph.Graph
	for i := range a.Groups {
		grp := &a.Groups[i]
		kind := waitgraph.Outside
		switch grp.Class {
		case waits.ProgramEnding:
			kind = waitgraph.Object
		case waits.PeerEnding, waits.SelfEnding:
		default:
			continue
		}
		to := len(g.Nodes)
		g.Nodes = append(g.Nodes,
			waitgraph.Node{ID: fmt.Sprintf("wait %d", i+1), Label: grp.Waits, Kind: kind, Count: 1},
			waitgraph.Node{ID: fmt.Sprintf("stack %d", i+1), Label: "goroutine", Detail: grp.Place, Kind: waitgraph.Goroutine, Count: grp.Count()})
		g.Edges = append(g.Edges, waitgraph.Edge{From: to + 1, To: to, Kind: waitgraph.WaitsFor, Confidence: byPlace, Why: "the text does not say which ones wait for the same"})
	}
	return g
}
