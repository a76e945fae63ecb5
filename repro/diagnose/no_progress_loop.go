package diagnose

import (
	"fmt"
	"strings"
)

// noProgressLoop: calls are answered, and what they ask for cannot be done: the same step is asked for
// again and again.
func noProgressLoop() cause {
	return cause{
		name: CauseNoProgressLoop, outcome: Storming, layer: LayerHarness,
		judge: judgeNoProgressLoop,
		because: func(r *reading) string {
			w := &r.now.Window
			text := fmt.Sprintf("The servers answer, and nothing comes of it: within the stall %s with an answer whose tool calls could not be made, and the same step was asked for again",
				count(w.CallsCompleted, "call")+" ended")
			if l := r.looping(); l.agents > 0 {
				text += fmt.Sprintf(" (%s at a step for the second time or more, one with %s)", does(l.agents, "agent", "is", "are"), count(l.most, "call"))
			}
			text += fmt.Sprintf(". About %s were generated for it.", count(w.TokensReceived, "token"))
			if told := r.looping().told; told != "" {
				text += fmt.Sprintf(" What the model is told is such as: %s.", clipped(told))
			}
			return text
		},
		next: func(r *reading) []string {
			out := []string{"end the loop: after some two or three calls for one step give it up with an error, or change something about the request; the same request gets the same answer"}
			if strings.Contains(r.looping().told, "JSON") {
				out = append(out, "arguments that are no valid JSON were mostly cut off: look at finish_reason of such an answer (length?), raise max_tokens, ask for smaller pieces, and check that prompt and answer together fit into the model's context")
			}
			return append(out, "count the tokens of calls that led to a finished step against all tokens: an alarm on that ratio sees this at once")
		},
	}
}

// loops sums up the agents whose step has made more than one call.
type loops struct {
	agents int
	most   int    // calls of one step
	told   string // to the model by one of them: what was wrong with its latest tool call
}

func (r *reading) looping() loops {
	var l loops
	for i := range r.now.Agents {
		a := &r.now.Agents[i]
		if a.Tries < 2 {
			continue
		}
		l.agents++
		if a.Tries > l.most {
			l.most, l.told = a.Tries, a.ToolError
		}
	}
	return l
}

func judgeNoProgressLoop(r *reading, j *judgement) {
	w := &r.now.Window
	l := r.looping()
	if w.ToolErrors < stormMin {
		j.refute("within the stall %s could not be made", count(w.ToolErrors, "tool call"))
		return
	}
	// A call may ask for several tools, so that there may be more errors than calls.
	share := min(1, float64(w.ToolErrors)/float64(max(1, w.CallsCompleted, w.ToolCalls)))
	if share < loopShare {
		j.refute("within the stall %d of %s could not be made: the others could", w.ToolErrors, count(max(w.CallsCompleted, w.ToolCalls), "tool call"))
		return
	}
	at := max(1, r.agents.Blocked+r.agents.SubAgents)
	j.beside = fmt.Sprintf("%s in the stall asked for tool calls that cannot be made", count(w.ToolErrors, "answer"))
	j.pro("within the stall %s answered, with %s, and no step was finished: %s could not be made",
		does(w.CallsCompleted, "call", "was", "were"), count(w.TokensReceived, "token"), ofAll(w.ToolErrors, max(w.ToolErrors, w.ToolCalls), "tool call"))
	switch {
	case l.agents > 0:
		j.support(0.97 * share * float64(l.agents) / float64(max(l.agents, at)))
		j.pro("%s at the same step for the second time or more, one of them with %s so far", does(l.agents, "agent", "is", "are"), count(l.most, "call"))
		if l.told != "" {
			j.pro("the model is told: %s", clipped(l.told))
		}
	default: // nobody counts the calls of a step
		j.support(0.97 * share * min(1, float64(w.ToolErrors)/float64(at)))
	}
	if n := at - l.agents; l.agents > 0 && n > 0 {
		j.con("%s at a step for the first time", does(n, "agent", "is", "are"))
	}
}
