package diagnose

import "fmt"

// slowTool: a tool takes longer than the watchdog's patience, as it has done before.
func slowTool() cause {
	return cause{
		name: CauseSlowTool, outcome: Slow, layer: LayerTool,
		judge: judgeSlowTool,
		because: func(r *reading) string {
			t := &r.tools
			if t.returned != "" {
				return fmt.Sprintf("Nothing hung: %s took long, and the stall ended when it returned, after %s at most.", t.returned, secs(t.took))
			}
			return fmt.Sprintf("Nothing is seen to hang: %s, about as long as it takes (%s). The agents go on when it returns.", t.agentsIn(toolSlow), list(r.experience(t.named[toolSlow])))
		},
		next: func(r *reading) []string {
			return []string{
				"raise watchdog.stall_after above the length of a tool call, if tools may take this long",
				"look at what the tool does in that time; a time limit on tool calls bounds it",
			}
		},
	}
}

func judgeSlowTool(r *reading, j *judgement) {
	t := &r.tools
	switch {
	case t.count[toolSlow] > 0:
		j.support(0.9 * r.share(t.count[toolSlow]))
		j.beside = t.agentsIn(toolSlow) + ", about as long as it takes"
		j.pro("%s", t.agentsIn(toolSlow))
		j.for_ = append(j.for_, r.experience(t.named[toolSlow])...)
		if t.returned != "" {
			j.pro("%s returned after %s at most, and that ended the stall", t.returned, secs(t.took))
		}
	case t.count[toolLate] > 0:
		j.open(0.4*r.share(t.count[toolLate]), r.toolDecision())
		j.pro("%s", t.agentsIn(toolLate))
		j.for_ = append(j.for_, r.experience(t.named[toolLate])...)
	case t.count[toolHung] > 0:
		j.refute("%s: %s", t.agentsIn(toolHung), list(r.experience(t.named[toolHung])))
	default:
		j.refute("no tool has run for %s or more without waiting for somebody else", secs(toolMin))
	}
	if n := t.count[toolHung]; n > 0 && j.status != Refuted {
		j.con("%s in one that looks hung", does(n, "agent", "is", "are"))
	}
}
