package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// village reads a graph from lines such as "x/2: a b < c d" (object x has 2 permits, a and b hold
// them, c and d wait) and "a -> b" (a waits for the end of b). Everybody is an agent in a tool.
func village(t *testing.T, lines ...string) *harness.Evidence {
	t.Helper()
	ev := &harness.Evidence{At: sim.Instant(time.Hour), Episode: 1, StalledFor: time.Minute}
	agent := func(name string) *harness.AgentState {
		for i := range ev.Agents {
			if ev.Agents[i].Name == name {
				return &ev.Agents[i]
			}
		}
		ev.Agents = append(ev.Agents, harness.AgentState{Name: name, Stage: pacer.StageTool})
		ev.Processes = append(ev.Processes, sim.ProcessState{Name: name})
		return &ev.Agents[len(ev.Agents)-1]
	}
	for _, line := range lines {
		if from, to, ok := strings.Cut(line, " -> "); ok {
			agent(to)
			agent(from).WaitsOn = append(agent(from).WaitsOn, to)
			continue
		}
		var o sim.ObjectState
		head, rest, _ := strings.Cut(line, ": ")
		if _, err := fmt.Sscanf(strings.Replace(head, "/", " ", 1), "%s %d", &o.Name, &o.Capacity); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		o.Kind = "semaphore"
		holders, waiters, _ := strings.Cut(rest, "<")
		for _, name := range strings.Fields(holders) {
			if name != "gone" {
				agent(name)
			}
			o.Holders = append(o.Holders, sim.Party{Name: name})
		}
		for _, name := range strings.Fields(waiters) {
			agent(name)
			o.Waiters = append(o.Waiters, sim.Party{Name: name})
		}
		o.InUse = len(o.Holders)
		ev.Objects = append(ev.Objects, o)
	}
	return ev
}

func TestStuck(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		stuck string // who cannot go on
		cycle string
	}{
		{"two locks, two orders", []string{"x/1: a < b", "y/1: b < a"}, "a b", "a > semaphore y > b > semaphore x"},
		{"those behind are stuck too", []string{"x/1: a < b c", "y/1: b < a", "z/1: c < d"}, "a b c d", "a > semaphore y > b > semaphore x"},
		{"a chain ends at somebody who works", []string{"x/1: a < b", "y/1: b < c"}, "", ""},
		{"the same lock twice", []string{"x/1: a < a"}, "a", "a > semaphore x"},
		{"three in a ring", []string{"x/1: a < c", "y/1: b < a", "z/1: c < b"}, "a b c", "a > semaphore y > b > semaphore z > c > semaphore x"},
		{"all permits by waiters: a knot", []string{"x/2: a b < a1 b1", "a -> a1", "b -> b1"}, "a a1 b b1", "a > a1 > semaphore x"},
		{"one holder works: a cycle, and no deadlock", []string{"x/2: a b < a1", "a -> a1"}, "", ""},
		{"one permit is free", []string{"x/3: a b < a1 b1", "a -> a1", "b -> b1"}, "", ""},
		{"one child works, one waits", []string{"x/1: a < a1", "a -> a1", "a -> a2"}, "a a1", "a > a1 > semaphore x"},
		{"a knot behind a lock", []string{"x/2: a b < c", "y/1: c < a b"}, "a b c", "a > semaphore y > c > semaphore x"},
		{"two that wait for each other's end", []string{"a -> b", "b -> a"}, "a b", "b > a"},
		{"a permit kept by somebody who has ended", []string{"x/1: gone < a b"}, "a b", ""},
		{"a kept permit and a live holder", []string{"x/2: gone a < b c"}, "", ""},
		{"come upon from behind", []string{"y/2: a", "x/1: b < a b1", "b -> b1"}, "a b b1", "b > b1 > semaphore x"},
		{"nobody waits", []string{"x/1: a"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := village(t, c.lines...)
			g := WaitsFor(ev)
			var stuck []string
			for _, n := range g.Nodes {
				if n.Stuck && n.Kind == NodeAgent {
					stuck = append(stuck, n.Name)
				}
			}
			slices.Sort(stuck)
			if got := strings.Join(stuck, " "); got != c.stuck {
				t.Errorf("stuck: %q, want %q", got, c.stuck)
			}
			if got := strings.Join(g.Cycle, " > "); got != c.cycle {
				t.Errorf("cycle: %q, want %q", got, c.cycle)
			}
		})
	}
}

// TestStuckTwin compares the reduction with a dumber one, which goes over everybody again and again,
// on random villages, and checks each cycle found edge by edge.
func TestStuckTwin(t *testing.T) {
	deadlocks, free := 0, 0
	for seed := range uint64(2000) {
		ev := newDice(seed).village(t)
		g := WaitsFor(ev)
		goes := slowReduction(ev)
		for _, n := range g.Nodes {
			if n.Kind == NodeAgent && n.Stuck == goes[n.Name] {
				t.Fatalf("seed %d: %s stuck %v, the twin says it can go on: %v", seed, n.Name, n.Stuck, goes[n.Name])
			}
		}
		if len(g.Cycle) == 0 {
			free++
			for _, n := range g.Nodes {
				if n.Kind == NodeAgent && n.Stuck {
					t.Fatalf("seed %d: %s is stuck, nothing is kept, and there is no cycle", seed, n.Name)
				}
			}
			continue
		}
		deadlocks++
		if strings.HasPrefix(g.Cycle[0], "semaphore") {
			t.Fatalf("seed %d: cycle %q begins with an object", seed, g.Cycle)
		}
		for i, from := range g.Cycle {
			to := g.Cycle[(i+1)%len(g.Cycle)]
			if !slices.ContainsFunc(g.Edges, func(e Edge) bool { return g.Nodes[e.From].Name == from && g.Nodes[e.To].Name == to }) {
				t.Fatalf("seed %d: cycle %q has no edge from %s to %s", seed, g.Cycle, from, to)
			}
		}
	}
	if deadlocks < 100 || free < 100 {
		t.Errorf("%d deadlocks and %d without: the villages are too tame to tell", deadlocks, free)
	}
}

// village is a random one in which each agent waits for at most one object or for some others.
func (d dice) village(t *testing.T) *harness.Evidence {
	agents, objects := d.between(2, 7), d.between(1, 4)
	name := func(i int) string { return fmt.Sprintf("a%d", i) }
	holders, waiters := make([][]string, objects), make([][]string, objects)
	capacity := make([]int, objects)
	for i := range objects {
		capacity[i] = d.between(1, 3)
		for range d.between(0, capacity[i]) {
			holders[i] = append(holders[i], name(d.IntN(agents)))
		}
	}
	var lines []string
	for i := range agents {
		switch d.IntN(4) {
		case 0:
			if to := d.IntN(agents); to != i {
				lines = append(lines, name(i)+" -> "+name(to))
			}
		case 1, 2:
			o := d.IntN(objects)
			waiters[o] = append(waiters[o], name(i))
		}
	}
	for i := range objects {
		lines = append(lines, fmt.Sprintf("o%d/%d: %s < %s", i, capacity[i], strings.Join(holders[i], " "), strings.Join(waiters[i], " ")))
	}
	return village(t, lines...)
}

// slowReduction says who can go on, by trying everybody until nothing changes.
func slowReduction(ev *harness.Evidence) map[string]bool {
	goes := map[string]bool{}
	free := func(o *sim.ObjectState) bool {
		return o.InUse < o.Capacity || slices.ContainsFunc(o.Holders, func(p sim.Party) bool { return goes[p.Name] })
	}
	for changed := true; changed; {
		changed = false
		for _, a := range ev.Agents {
			can := true
			for _, w := range a.WaitsOn {
				can = can && goes[w]
			}
			for i := range ev.Objects {
				o := &ev.Objects[i]
				if slices.ContainsFunc(o.Waiters, func(p sim.Party) bool { return p.Name == a.Name }) {
					can = can && free(o)
				}
			}
			if can && !goes[a.Name] {
				goes[a.Name], changed = true, true
			}
		}
	}
	return goes
}

// TestOldWaits: what a process waited for last time is not what it waits for now.
func TestOldWaits(t *testing.T) {
	ev := village(t, "x/1: a < b")
	ev.Agents[0].Waits = "process b" // a holds the lock b wants
	if g := WaitsFor(ev); len(g.Cycle) == 0 {
		t.Error("a in a tool waits for b: no cycle found")
	}
	ev.Agents[0].Stage = pacer.StageStream
	if g := WaitsFor(ev); len(g.Cycle) > 0 {
		t.Errorf("a is in a call now, and there is a cycle %q", g.Cycle)
	}
	ev.Agents[0].Stage, ev.Agents[0].Waits = pacer.StageTool, "process long-gone"
	if g := WaitsFor(ev); len(g.Cycle) > 0 || g.Waits() != 1 {
		t.Errorf("cycle %q and %d waits, want none and 1", g.Cycle, g.Waits())
	}
}

// TestJoinsThroughProcesses: an agent may wait for a process that is no agent.
func TestJoinsThroughProcesses(t *testing.T) {
	ev := village(t, "x/1: a < p")
	ev.Agents = ev.Agents[:1] // p is a mere process
	ev.Processes = append(ev.Processes, sim.ProcessState{Name: "q", WaitsFor: "process p"})
	ev.Agents[0].Waits = "process q"
	g := WaitsFor(ev)
	if got, want := strings.Join(g.Cycle, " > "), "a > q > p > semaphore x"; got != want {
		t.Errorf("cycle %q, want %q", got, want)
	}
}
