package diagnose

import "fmt"

// swallowedError: somebody has ended with an error that was noted and given to nobody, and who waits for
// its result waits for ever.
func swallowedError() cause {
	return cause{
		name: CauseSwallowedError, outcome: Wedged, layer: LayerHarness,
		judge: judgeSwallowedError,
		because: func(r *reading) string {
			h := r.handed.swallowed
			return fmt.Sprintf("%s for the result of a sub-agent that has ended with an error up to %s ago: the error was noted, and nobody told the agent. Such as %s, which waits for %s (%s). No result will come.",
				does(len(h), "agent", "waits", "wait"), secs(longestHandoff(h)), h[0].agent, h[0].from, clipped(h[0].err))
		},
		next: func(r *reading) []string {
			return []string{
				"search the harness for a place that logs an error and returns: whoever waits for the result must be told of it, as of a result",
				"make the end of a sub-agent one message with a result or an error, sent in a deferred call, so that no way out forgets it",
				"put a time limit on the wait for sub-agents, well above what they take",
			}
		},
	}
}

func judgeSwallowedError(r *reading, j *judgement) {
	h := r.handed.swallowed
	if len(h) == 0 {
		j.refute("no agent waits for a sub-agent that ended with an error %s ago or more", secs(handoffMin))
		return
	}
	j.support(0.95 * r.share(len(h)))
	j.beside = fmt.Sprintf("%s for a sub-agent that has ended with an error", does(len(h), "agent", "waits", "wait"))
	j.pro("%s for sub-agents of which none is at work any more, and of which one ended with an error up to %s ago: %s",
		does(len(h), "agent", "waits", "wait"), secs(longestHandoff(h)), parents(h))
	j.pro("such as %s, with: %s", h[0].from, clipped(h[0].err))
	if h[0].queue != "" {
		j.pro("%s is empty: nothing was left for %s to find", h[0].queue, h[0].agent)
	}
}

// clipped cuts an error to what fits into a sentence.
func clipped(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
