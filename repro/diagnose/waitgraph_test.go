package diagnose

import (
	"fmt"
	"slices"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/harness/waitgraph"
	"example.com/wedge/pacer"
)

func drawn(g *waitgraph.Graph) []string {
	var lines []string
	for i := range g.Edges {
		e := &g.Edges[i]
		lines = append(lines, fmt.Sprintf("%s %s %s", g.Nodes[e.From].Label, e.Kind, g.Nodes[e.To].Label))
	}
	return lines
}

// TestWaitGraph: what is drawn has the locks and, beyond the harness, what calls and tools wait for.
func TestWaitGraph(t *testing.T) {
	ev := village(t, "lock/1: a < b")
	ev.Objects[0].GivenBackTwice = 3
	ev.Agents[0].Stage = pacer.StageStream
	ev.Calls = []pacer.CallState{{ID: "a-c1", Agent: "a", Stage: pacer.StageStream, Tokens: 7, Sent: 1, Since: ev.At, LastToken: ev.At}}
	g := WaitGraph(ev, nil)
	want := []string{
		"semaphore lock held_by a",
		"b waits_for semaphore lock",
		"a waits_for servers: tokens arrive",
	}
	if got := drawn(&g); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := g.Nodes[2].Detail, "1 of 1 held, 1 in line, given back 3 times more often than taken"; got != want {
		t.Errorf("detail %q, want %q", got, want)
	}
}

// TestWaitGraphCycle: a deadlock has its cycle, and all of it cannot go on.
func TestWaitGraphCycle(t *testing.T) {
	g := WaitGraph(village(t, "x/1: a < b", "y/1: b < a c", "slots/1: gone < d"), nil)
	cycles := g.Cycles()
	if len(cycles) != 1 || len(cycles[0]) != 4 {
		t.Fatalf("cycles %v, want one of 4 nodes", cycles)
	}
	for _, n := range cycles[0] {
		if !g.Nodes[n].Stuck {
			t.Errorf("%s can go on", g.Nodes[n].ID)
		}
	}
	if kept := g.Retained(); len(kept) != 1 || g.Nodes[kept[0].Permit].Label != "permit of slots" {
		t.Errorf("retained %v, want the one of slots", kept)
	}
	// Somebody ends while the evidence is taken: no node is out of range.
	ev := village(t, "x/1: a < b")
	ev.Processes = append(ev.Processes, sim.ProcessState{Name: "p", WaitsFor: "process gone"})
	WaitGraph(ev, ev)
}

// TestWaitGraphHandoffs: a result that lies unread, an error that was dropped and a pipe that is full are
// drawn as what is waited for, and not as a tool that runs.
func TestWaitGraphHandoffs(t *testing.T) {
	for _, c := range []struct {
		story, label, detail string
	}{
		{"lost-wakeup", "result of sub-agents that have ended", "is there, and nobody has told the agent"},
		{"swallowed-error", "result of sub-agents that have ended", "will not come: the error was dropped"},
		{"pipe-full", "pipe output of the tools of agent-01", "65536 of 65536 bytes, unread, 1 in line"},
	} {
		g := WaitGraph(storyNamed(t, c.story).now(), nil)
		i := slices.IndexFunc(g.Edges, func(e waitgraph.Edge) bool {
			return e.Kind == waitgraph.WaitsFor && g.Nodes[e.From].Label == "agent-01"
		})
		if i < 0 {
			t.Fatalf("%s: agent-01 waits for nothing: %q", c.story, drawn(&g))
		}
		if to := &g.Nodes[g.Edges[i].To]; to.Label != c.label || to.Detail != c.detail {
			t.Errorf("%s: agent-01 waits for %q (%s), want %q (%s)", c.story, to.Label, to.Detail, c.label, c.detail)
		}
	}
}
