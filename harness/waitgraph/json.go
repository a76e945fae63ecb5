package waitgraph

import (
	"encoding/json"
	"io"
)

// Schema names the form of what [Graph.WriteJSON] writes.
const Schema = "wedge.waitgraph/1"

// File is a graph as it is written: all nodes and edges, and what was found in them. Nodes are named by
// their index.
type File struct {
	Schema   string     `json:"schema"`
	Nodes    []Node     `json:"nodes"`
	Edges    []Edge     `json:"edges"`
	Cycles   [][]int    `json:"cycles"`   // see Graph.Cycles
	Convoys  []Convoy   `json:"convoys"`  // of two waiters and more, see Graph.Convoys
	Retained []Retained `json:"retained"` // see Graph.Retained
}

// convoyMin is the number of waiters that make a convoy.
const convoyMin = 2

// File returns the graph with what is found in it. Lists are never nil.
func (g *Graph) File() File {
	return File{
		Schema: Schema, Nodes: append([]Node{}, g.Nodes...), Edges: append([]Edge{}, g.Edges...),
		Cycles: append([][]int{}, g.Cycles()...), Convoys: append([]Convoy{}, g.Convoys(convoyMin)...),
		Retained: append([]Retained{}, g.Retained()...),
	}
}

// WriteJSON writes the whole graph as a [File], indented.
func (g *Graph) WriteJSON(w io.Writer) error {
	text, err := json.MarshalIndent(g.File(), "", "\t")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
