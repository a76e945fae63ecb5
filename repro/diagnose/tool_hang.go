package diagnose

import "fmt"

// toolHang: a tool does not return, and its agent waits for it.
func toolHang() cause {
	return cause{
		name: CauseToolHang, outcome: Wedged, layer: LayerTool,
		judge: judgeToolHang,
		because: func(r *reading) string {
			t := &r.tools
			text := fmt.Sprintf("%s for a tool that has not returned for %s (%s), and for nobody else",
				does(t.count[toolHung], "agent", "waits", "wait"), span(t.least[toolHung], t.most[toolHung]), t.names(toolHung))
			for _, known := range r.experience(t.named[toolHung]) {
				text += "; " + known
			}
			text += "."
			if len(r.calls) == 0 {
				text += " No call is in flight: nothing is asked of the servers."
			}
			return text
		},
		next: func(r *reading) []string {
			return []string{
				"look at what the tool's process does (its children, its pipes), or at its frame in the goroutine dump",
				"put a time limit on tool calls, and give its end to the model as an error",
			}
		},
	}
}

func judgeToolHang(r *reading, j *judgement) {
	t := &r.tools
	switch {
	case t.count[toolHung] > 0:
		j.support(0.9 * r.share(t.count[toolHung]))
		j.beside = fmt.Sprintf("%s in a tool since %s", does(t.count[toolHung], "agent", "is", "are"), span(t.least[toolHung], t.most[toolHung]))
		r.toolObservations(j, toolHung)
	case t.count[toolLate] > 0:
		j.open(0.5*r.share(t.count[toolLate]), r.toolDecision())
		j.beside = t.agentsIn(toolLate) + ", and whether it hangs cannot be told yet"
		r.toolObservations(j, toolLate)
		j.con("it may be slow: it has not been out long enough to tell")
	case t.returned != "":
		j.refute("%s returned after %s at most, and that ended the stall", t.returned, secs(t.took))
	case t.count[toolSlow] > 0:
		j.refute("%s: %s", t.agentsIn(toolSlow), list(r.experience(t.named[toolSlow])))
	default:
		j.refute("no tool has run for %s or more without waiting for somebody else", secs(toolMin))
	}
}

// toolObservations adds what is seen of tools that are hung or late.
func (r *reading) toolObservations(j *judgement, run toolRun) {
	j.pro("%s, waiting for no lock and no sub-agent", r.tools.agentsIn(run))
	j.for_ = append(j.for_, r.experience(r.tools.named[run])...)
	if n := r.tools.count[toolLate]; run == toolHung && n > 0 {
		j.con("%s: too early to say", r.tools.agentsIn(toolLate))
	}
	if len(r.calls) == 0 {
		j.pro("no call is in flight")
	} else {
		j.con("%s in flight as well", does(len(r.calls), "call", "is", "are"))
	}
	if g := r.now.Goroutines; g != nil && g.SameStack > 0 {
		j.pro("%s the same stack as at the capture before", does(g.SameStack, "labelled goroutine", "has", "have"))
	}
}
