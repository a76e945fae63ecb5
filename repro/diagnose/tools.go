package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/wedge/pacer"
)

// toolRun is what is to be thought of a tool that an agent waits in. The zero value is no tool, or one
// that itself waits for somebody.
type toolRun uint8

const (
	noTool    toolRun = iota
	toolYoung         // not out for long
	toolSlow          // out for long, but not much longer than before, or it has returned since
	toolLate          // cannot tell: nobody knows how long it takes, or it is late, but not very
	toolHung          // out for far longer than it ever took, or for very long
	toolRunCount
)

// tools sums up the tools that are out and wait for nobody.
type tools struct {
	count    [toolRunCount]int
	named    [toolRunCount][]string // names, each once, in order
	least    [toolRunCount]time.Duration
	most     [toolRunCount]time.Duration
	returned string        // tool whose return ended the stall; "" none did
	took     time.Duration // that one, at most
	decideAt time.Duration // of the stall: when all that are late can be judged
}

// names lists the tools that are thought of in the same way.
func (t *tools) names(run toolRun) string { return cmp.Or(few(t.named[run]), "the tool") }

// n counts the agents in a tool that wait for nobody.
func (t *tools) n() int {
	return t.count[toolYoung] + t.count[toolSlow] + t.count[toolLate] + t.count[toolHung]
}

// readTools judges each tool that is out by what it has taken so far in the run. Who waits for a lock
// or a sub-agent in it is left out.
func (r *reading) readTools() tools {
	var t tools
	for i := range r.idle {
		if a := &r.idle[i]; r.now.EndedAt != 0 && a.Name == r.now.EndedBy && a.Stage == pacer.StageTool {
			if took := age(r.now.EndedAt, a.Since); took >= toolMin {
				t.returned, t.took = cmp.Or(a.Tool, "the tool"), took
			}
		}
	}
	for i := range r.idle {
		a := &r.idle[i]
		if a.Stage != pacer.StageTool && !a.inChild() || !a.free() || a.held {
			continue
		}
		a.run = r.judgeTool(&t, a)
		t.add(a)
	}
	for run := range t.named {
		slices.Sort(t.named[run])
	}
	return t
}

func (t *tools) add(a *agentReading) {
	if t.count[a.run] == 0 || a.age < t.least[a.run] {
		t.least[a.run] = a.age
	}
	t.count[a.run]++
	t.most[a.run] = max(t.most[a.run], a.age)
	if name := a.tool(); name != "" && !slices.Contains(t.named[a.run], name) {
		t.named[a.run] = append(t.named[a.run], name)
	}
}

// judgeTool judges one tool that is out.
func (r *reading) judgeTool(t *tools, a *agentReading) toolRun {
	longest, calls := r.longestCall(t, a.tool())
	stalls, stalled := toolStalls, time.Duration(0)
	if calls == 0 {
		stalls, stalled = toolStallsUnseen, r.stalls(unseenCaptureStalls)
	}
	limit := max(toolMin, r.stalls(stalls), toolFactor*longest)
	switch {
	case t.returned != "" && a.Name == r.now.EndedBy:
		return toolSlow
	case a.age < toolMin:
		return toolYoung
	case calls > 0 && a.age <= toolUsual*longest:
		return toolSlow
	case a.age >= limit && r.now.StalledFor >= stalled && !r.toolMayHaveReturned():
		return toolHung
	}
	t.decideAt = max(t.decideAt, r.now.StalledFor+max(0, limit-a.age), stalled)
	return toolLate
}

// longestCall returns the longest call of a tool that has returned in this run, and how many have. The
// one that ended the stall counts.
func (r *reading) longestCall(t *tools, tool string) (longest time.Duration, calls int) {
	const most = 1000 * time.Hour // so that multiples do not overflow
	for i := range r.now.Tools {
		if s := &r.now.Tools[i]; s.Tool == tool && s.Finished > 0 {
			longest, calls = max(longest, s.Longest), calls+s.Finished
		}
	}
	if tool != "" && tool == t.returned {
		longest, calls = max(longest, t.took), calls+1
	}
	return min(longest, most), calls
}

// toolMayHaveReturned says whether the stall has ended and nobody noted whose step that was: any of
// the tools may have come back.
func (r *reading) toolMayHaveReturned() bool { return r.now.EndedAt != 0 && r.now.EndedBy == "" }

// experience says what is known of how long some tools take, one clause for each.
func (r *reading) experience(names []string) []string {
	var out []string
	for _, name := range names {
		switch longest, calls := r.longestCall(&r.tools, name); {
		case calls == 0:
			out = append(out, fmt.Sprintf("no call of %s has returned so far in this run, so nobody knows how long it takes", name))
		case calls == 1:
			out = append(out, fmt.Sprintf("the only call of %s that has returned in this run took %s", name, secs(longest)))
		default:
			out = append(out, fmt.Sprintf("%s has taken at most %s in the %d calls that have returned in this run", name, secs(longest), calls))
		}
	}
	return out
}

// toolDecision says which capture decides whether the tools that are late hang.
func (r *reading) toolDecision() string {
	at := r.tools.decideAt
	for _, n := range r.now.Setup.Captures {
		if due := r.stalls(n); due >= at && due > r.now.StalledFor {
			return fmt.Sprintf("the capture after %s of the stall: has %s returned by then?", secs(due), r.tools.names(toolLate))
		}
	}
	text := fmt.Sprintf("a capture after %s of the stall: has %s returned by then?", secs(at), r.tools.names(toolLate))
	if len(r.now.Setup.Captures) > 0 {
		text += " (watchdog.captures has none so late)"
	}
	return text
}

// agentsIn writes how many agents are in which tools for how long.
func (t *tools) agentsIn(run toolRun) string {
	text := fmt.Sprintf("%s in a tool for %s", does(t.count[run], "agent", "has been", "have been"), span(t.least[run], t.most[run]))
	if len(t.named[run]) > 0 {
		text += " (" + few(t.named[run]) + ")"
	}
	return text
}
