package harness

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/harness/waitgraph"
)

// TestDrawn: each capture's graph is drawn, those of earlier captures stay beside it, and without a
// bundle nobody asks for a graph.
func TestDrawn(t *testing.T) {
	asked := 0
	graph := func(now, before *Evidence) waitgraph.Graph {
		asked++
		if (before == nil) != (now.Capture == 1) {
			t.Errorf("capture %d with one before: %v", now.Capture, before != nil)
		}
		return waitgraph.Graph{
			Nodes: []waitgraph.Node{{ID: "a", Kind: waitgraph.Agent}, {ID: "b", Kind: waitgraph.Object}},
			Edges: []waitgraph.Edge{{From: 0, To: 1, Kind: waitgraph.WaitsFor, Confidence: 1}},
		}
	}
	dir := filepath.Join(t.TempDir(), "tiny-1")
	c := goldenTiny(dir)
	c.options.Graph = graph
	if r := c.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background()); r.WriteErr != nil {
		t.Fatal(r.WriteErr)
	}
	if asked < 3 {
		t.Errorf("asked %d times, want once for each of 2 captures and the end at least", asked)
	}
	for _, name := range []string{"stalls/01/waits.svg", "stalls/01/waits-1.svg", "end/waits.svg"} {
		if text := read(t, filepath.Join(dir, name)); !strings.HasPrefix(text, "<svg") {
			t.Errorf("%s begins with %.20q", name, text)
		}
	}
	if text := read(t, filepath.Join(dir, "stalls/01/waits.dot")); !strings.Contains(text, "n0 -> n1") {
		t.Errorf("no edge in\n%s", text)
	}
	asked = 0
	c = goldenTiny("")
	c.options.Graph = graph
	c.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	if asked != 0 {
		t.Errorf("asked %d times without a bundle", asked)
	}
}
