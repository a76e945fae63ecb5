package diagnose

import (
	"fmt"
	"slices"
	"time"

	"example.com/wedge/pacer"
)

// toolHang: a tool does not return, and its agent waits for it.
func toolHang() cause {
	return cause{
		name: CauseToolHang, outcome: Wedged, layer: LayerTool,
		judge: judgeToolHang,
		because: func(r *reading) string {
			h := r.hungTools()
			text := fmt.Sprintf("%s in a tool that has not returned for %s (%s), and for nobody else.", does(h.n, "agent", "waits", "wait"), span(h.least, h.most), list(h.tools))
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

// hungTools sums up the tools that have run for toolMin or more.
type hungTools struct {
	n           int
	least, most time.Duration
	tools       []string // names, each once, in order
}

func (r *reading) hungTools() hungTools {
	var h hungTools
	for i := range r.idle {
		a := &r.idle[i]
		if a.Stage != pacer.StageTool || a.waits || a.age < toolMin {
			continue
		}
		if h.n == 0 || a.age < h.least {
			h.least = a.age
		}
		h.n++
		h.most = max(h.most, a.age)
		if a.Tool != "" && !slices.Contains(h.tools, a.Tool) {
			h.tools = append(h.tools, a.Tool)
		}
	}
	slices.Sort(h.tools)
	return h
}

func judgeToolHang(r *reading, j *judgement) {
	h := r.hungTools()
	if h.n == 0 {
		j.refute("no tool has run for %s or more without waiting for somebody else", secs(toolMin))
		return
	}
	j.support(0.9 * r.share(h.n))
	j.beside = fmt.Sprintf("%s in a tool since %s", does(h.n, "agent", "is", "are"), span(h.least, h.most))
	j.pro("%s in a tool for %s (%s), waiting for no lock and no sub-agent", does(h.n, "agent", "has been", "have been"), span(h.least, h.most), few(h.tools))
	if len(r.calls) == 0 {
		j.pro("no call is in flight")
	} else {
		j.con("%s in flight as well", does(len(r.calls), "call", "is", "are"))
	}
	if g := r.now.Goroutines; g != nil && g.SameStack > 0 {
		j.pro("%s the same stack as at the capture before", does(g.SameStack, "labelled goroutine", "has", "have"))
	}
}
