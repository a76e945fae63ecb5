package diagnose

import (
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// handoff is an agent that waits for the result of sub-agents of which none is at work any more.
type handoff struct {
	agent string
	from  string        // the sub-agent that ended first of those that it has not heard of
	since time.Duration // since the end of that one; 0: not known, it lay there at the capture before
	queue string        // where its results are put; "": not known
	items int           // results that lie there
	err   string        // what that sub-agent ended with; "": well, or not known
}

// handoffs sums up what is not handed over between agents. The zero value is nothing.
type handoffs struct {
	lying     []handoff // a result is there, and its owner waits on
	swallowed []handoff // an error was noted, and its parent waits for a result
}

func (h *handoffs) n() int { return len(h.lying) + len(h.swallowed) }

// detailOf says what became of the result that an agent waits for.
func (h *handoffs) detailOf(agent string) string {
	if slices.ContainsFunc(h.lying, func(one handoff) bool { return one.agent == agent }) {
		return "is there, and nobody has told the agent"
	}
	return "will not come: the error was dropped"
}

// readHandoffs looks at the agents in a tool that wait for nobody who lives. What has only just ended is
// on its way. before may be nil.
func (r *reading) readHandoffs(before *harness.Evidence) handoffs {
	var h handoffs
	for i := range r.idle {
		a := &r.idle[i]
		if a.Stage != pacer.StageTool || a.waits {
			continue
		}
		one, ok := r.handoffOf(a, before)
		switch {
		case !ok:
			continue
		case one.items > 0:
			h.lying = append(h.lying, one)
		case one.err != "":
			h.swallowed = append(h.swallowed, one)
		default:
			continue
		}
		a.owed = true
	}
	return h
}

// handoffOf finds what an agent has not heard of; false: nothing that has had its time.
func (r *reading) handoffOf(a *agentReading, before *harness.Evidence) (handoff, bool) {
	one := handoff{agent: a.Name}
	for i := range r.now.Unheard {
		e := &r.now.Unheard[i]
		if e.Parent != a.Name {
			continue
		}
		if d := age(r.now.At, e.At); d >= handoffMin && d > one.since {
			one.from, one.since, one.err = e.Name, d, e.Err
		}
	}
	lay := false
	if o := queueOf(r.now.Objects, a); o != nil {
		one.queue, one.items = o.Name, o.InUse
		if before != nil && r.moved.ok && age(r.now.At, before.At) >= handoffMin {
			old := queueNamed(before.Objects, o.Name)
			lay = old != nil && old.InUse > 0
		}
	}
	return one, one.since > 0 || lay && one.items > 0
}

// queueOf returns the queue that an agent says it waits for, or nil.
func queueOf(objects []sim.ObjectState, a *agentReading) *sim.ObjectState {
	for i := range objects {
		o := &objects[i]
		if o.Kind == "queue" && o.Name != "" && (slices.Contains(a.WaitsOn, o.Name) || a.Waits == o.Name || strings.HasSuffix(a.Waits, " queue "+o.Name)) {
			return o
		}
	}
	return nil
}

func queueNamed(objects []sim.ObjectState, name string) *sim.ObjectState {
	for i := range objects {
		if o := &objects[i]; o.Kind == "queue" && o.Name == name {
			return o
		}
	}
	return nil
}

// longestHandoff is since when the one that has waited longest could have had its result.
func longestHandoff(all []handoff) time.Duration {
	var d time.Duration
	for i := range all {
		d = max(d, all[i].since)
	}
	return d
}

// parents lists the agents that wait.
func parents(all []handoff) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].agent
	}
	return few(names)
}
