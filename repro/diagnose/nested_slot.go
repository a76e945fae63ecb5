package diagnose

import "fmt"

// nestedSlot: who holds a slot waits for somebody who needs one.
func nestedSlot() cause {
	return cause{
		name: CauseNestedSlot, outcome: Deadlocked, layer: LayerPacer,
		judge: judgeNestedSlot,
		because: func(r *reading) string {
			k := &r.knot
			return fmt.Sprintf("%s held by agents that wait for others who need a slot themselves (%s): a cycle that nothing outside can break. %s.",
				upper(areOfAll(k.permits, k.capacity, "slot")), r.cycleText(), count(k.stuck, "agent")+" cannot go on")
		},
		next: func(r *reading) []string {
			return []string{
				"--set pacer.hold=stream: hold a slot for a call only, never while waiting for a sub-agent",
				"give sub-agents slots of their own, or let them use their parent's",
			}
		},
	}
}

func judgeNestedSlot(r *reading, j *judgement) {
	k := &r.knot
	switch {
	case !r.pool.limited:
		j.refute("the pacer has no limit on slots")
	case k.found && k.slots && len(k.objects) == 0:
		j.support(0.98 * float64(k.permits) / float64(max(1, k.capacity)))
		j.beside = "agents that hold a slot wait for others who need one"
		j.pro("a cycle of waits: %s", r.cycleText())
		j.pro("%s held by parties that wait for the same slots themselves, so none can ever be given back", areOfAll(k.permits, k.capacity, "slot"))
		if n := len(r.pool.kept); n > 0 {
			j.con("%s by calls that have ended", does(n, "slot", "is kept", "are kept"))
		}
	case k.found:
		j.refute("there is a cycle of waits, but it is not one over slots alone: %s", r.cycleText())
	default:
		r.noNestedSlot(j)
	}
}

// noNestedSlot says that there is no deadlock over the slots, and whether one is on its way.
func (r *reading) noNestedSlot(j *judgement) {
	n := r.nestedHolders()
	if n == 0 || !r.pool.blocks() {
		j.refute("nobody who holds a slot waits for one, himself or through a sub-agent")
		return
	}
	j.open(0.5*float64(n)/float64(max(1, r.pool.inUse)), "a capture when the other holders have finished, or come to wait too")
	j.beside = fmt.Sprintf("%s held by agents that wait for sub-agents who need one too", does(n, "slot", "is", "are"))
	j.pro("%s held by agents that wait for sub-agents who wait for a slot", areOfAll(n, r.pool.inUse, "slot"))
	j.con("the other holders can go on, so this is no deadlock yet")
}

// nestedHolders counts holders of a slot that wait, through other processes, for a slot.
func (r *reading) nestedHolders() int {
	if r.pool.object == nil {
		return 0
	}
	g := &r.graph
	slots := g.objects[r.pool.at]
	n := 0
	for _, e := range g.out[slots] {
		if g.Nodes[g.Edges[e].To].Kind != NodeKept && g.leadsTo(g.Edges[e].To, slots) {
			n++
		}
	}
	return n
}

// leadsTo follows waits for other processes from a node, to see whether they end at an object.
func (g *Graph) leadsTo(from, object int) bool {
	seen := map[int]bool{from: true}
	stack := []int{from}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range g.out[n] {
			to := g.Edges[e].To
			if to == object {
				return true
			}
			if g.Edges[e].Kind == EdgeWaits && g.Nodes[to].Kind != NodeObject && !seen[to] {
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return false
}

// cycleText writes the cycle of a deadlock, such as "a waits for semaphore x, held by b, who waits
// for semaphore y, held by a".
func (r *reading) cycleText() string {
	g := &r.graph
	text := ""
	for i, n := range g.cycle {
		next := g.cycle[(i+1)%len(g.cycle)]
		switch {
		case g.Nodes[n].Kind == NodeObject:
			text += ", held by " + g.Nodes[next].Name
		case i == 0:
			text += g.Nodes[n].Name + " waits for " + g.Nodes[next].Name
		default:
			text += ", who waits for " + g.Nodes[next].Name
		}
	}
	return text
}
