package diagnose

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/waitgraph"
	"example.com/wedge/pacer"
)

// WaitGraph is the waits-for graph of an evidence as it is drawn: that of [WaitsFor], and with it what
// agents wait for outside the harness, by the stage of their calls at both sides. before is the
// capture before, or nil.
func WaitGraph(now, before *harness.Evidence) waitgraph.Graph {
	r := newReading(now, before)
	g := waitgraph.Graph{
		Nodes: make([]waitgraph.Node, 0, len(r.graph.Nodes)+4),
		Edges: make([]waitgraph.Edge, 0, len(r.graph.Edges)+len(r.calls)),
	}
	for i := range r.graph.Nodes {
		g.Nodes = append(g.Nodes, drawnNode(&r.graph.Nodes[i]))
	}
	for i, n := range r.graph.objects {
		g.Nodes[n].Detail = objectDetail(&r.graph, now, i)
	}
	for i := range r.graph.Edges {
		e := &r.graph.Edges[i]
		kind := waitgraph.WaitsFor
		if e.Kind == EdgeHeld {
			kind = waitgraph.HeldBy
		}
		g.Edges = append(g.Edges, waitgraph.Edge{From: e.From, To: e.To, Kind: kind, What: e.What, For: e.For, Confidence: 1})
	}
	r.drawOutside(&g)
	return g
}

func drawnNode(n *Node) waitgraph.Node {
	drawn := waitgraph.Node{ID: n.Name, Label: n.Name, Kind: waitgraph.Process, Count: 1, Stuck: n.Stuck}
	switch n.Kind {
	case NodeAgent:
		drawn.Kind = waitgraph.Agent
	case NodeObject:
		drawn.Kind = waitgraph.Object
	case NodeKept:
		what, who, _ := strings.Cut(n.Name, " kept by ")
		drawn.Kind, drawn.Label, drawn.Detail = waitgraph.Permit, what, "taken by "+who+", and not worked on any more"
	}
	return drawn
}

// objectDetail says how full an object is.
func objectDetail(g *Graph, ev *harness.Evidence, i int) string {
	o := &ev.Objects[i]
	var parts []string
	switch {
	case o.Kind == "semaphore":
		parts = append(parts, fmt.Sprintf("%d of %d held", o.InUse, o.Capacity))
	case o.Kind == "queue" && o.Capacity > 0:
		parts = append(parts, fmt.Sprintf("%d queued, room for %d", o.InUse, o.Capacity))
	case o.Kind == "queue":
		parts = append(parts, fmt.Sprintf("%d queued", o.InUse))
	case o.Kind == "pipe":
		parts = append(parts, fmt.Sprintf("%d of %d bytes, unread", o.InUse, o.Capacity))
	case o.InUse == 0:
		parts = append(parts, "closed")
	}
	if n := len(o.Waiters); n > 0 {
		parts = append(parts, fmt.Sprintf("%d in line", n))
	}
	if o.GivenBackTwice > 0 {
		parts = append(parts, fmt.Sprintf("given back %d times more often than taken", o.GivenBackTwice))
	}
	if g.Nodes[g.objects[i]].Stuck && o.Kind == "semaphore" && len(o.Holders) == 0 {
		parts = append(parts, "no holder is known")
	}
	return strings.Join(parts, ", ")
}

// drawOutside adds what calls and tools wait for beyond the harness. An agent that waits for somebody in
// the graph has no such edge.
func (r *reading) drawOutside(g *waitgraph.Graph) {
	places := map[string]int{}
	outside := func(agent, label, detail, what string, quiet time.Duration) {
		from, ok := r.graph.index[agent]
		if !ok || r.graph.waits(from) {
			return
		}
		key := label + "\x00" + detail
		to, ok := places[key]
		if !ok {
			to = len(g.Nodes)
			places[key] = to
			g.Nodes = append(g.Nodes, waitgraph.Node{ID: "outside " + label + " " + detail, Label: label, Detail: detail, Kind: waitgraph.Outside, Count: 1})
		}
		g.Edges = append(g.Edges, waitgraph.Edge{From: from, To: to, Kind: waitgraph.WaitsFor, What: what, For: quiet, Confidence: 1})
	}
	for i := range r.calls {
		c := &r.calls[i]
		outside(c.Agent, callPlace(c), callDetail(c), c.ID, c.quiet)
	}
	for i := range r.idle {
		switch a := &r.idle[i]; {
		case a.owed:
			outside(a.Name, "result of sub-agents that have ended", r.handed.detailOf(a.Name), "", a.age)
		case a.Stage == pacer.StageTool:
			outside(a.Name, "tool "+a.Tool, "runs", "", a.age)
		}
	}
	for i := range r.now.Agents {
		if a := &r.now.Agents[i]; i < len(g.Nodes) && g.Nodes[i].Kind == waitgraph.Agent {
			g.Nodes[i].Detail = "in stage " + a.Stage.String()
		}
	}
}

// callPlace names the one that a call in this place waits for.
func callPlace(c *callReading) string {
	switch c.fate {
	case fateRate:
		return "rate limit"
	case fateBackoff:
		return "time before another attempt"
	case fateConnect:
		return "connection to the servers"
	case fateMoving:
		return "servers: tokens arrive"
	case fateSilent, fateExpiring, fateNeverReached:
		return "network: the servers do not have it"
	case fateWithheld:
		return "network: the servers have answered"
	}
	switch c.server {
	case ServerNotSent:
		return "the call's stage " + c.Stage.String()
	case ServerUnseen:
		return "servers"
	}
	return "servers: " + strings.ReplaceAll(c.server, "_", " ")
}

// callDetail says what the agent's side sees.
func callDetail(c *callReading) string {
	detail := "at the agents: " + strings.ReplaceAll(c.Stage.String(), "_", " ")
	if note := c.note(); note != "" {
		detail += "; " + note
	}
	return detail
}
