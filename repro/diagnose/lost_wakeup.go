package diagnose

import "fmt"

// lostWakeup: work lies in a queue whose owner waits for it, since nobody has told it.
func lostWakeup() cause {
	return cause{
		name: CauseLostWakeup, outcome: Wedged, layer: LayerHarness,
		judge: judgeLostWakeup,
		because: func(r *reading) string {
			h := r.handed.lying
			return fmt.Sprintf("%s for results that are there: %s%s, and the owner of each queue sleeps on. The signal that should have woken it was lost, and nobody is left to send another.",
				does(len(h), "agent", "waits", "wait"), does(lyingItems(h), "result", "has lain unread", "have lain unread"), forUpTo(h))
		},
		next: func(r *reading) []string {
			return []string{
				"put one more item into such a queue, or signal its owner by hand: if the agent then takes the old one as well, the signal was lost",
				"let the owner look at the queue, not at the signal: look again after each wake and after a time limit of a second or so",
				"in Go: a channel of capacity 1 keeps a signal that nobody is there to hear; a non-blocking send on an unbuffered channel, or sync.Cond without a look at the state under its lock, drops it",
			}
		},
	}
}

func lyingItems(h []handoff) int {
	n := 0
	for i := range h {
		n += h[i].items
	}
	return n
}

// forUpTo says for how long results have lain, if that is known.
func forUpTo(h []handoff) string {
	if d := longestHandoff(h); d > 0 {
		return " for up to " + secs(d)
	}
	return " since the capture before"
}

func judgeLostWakeup(r *reading, j *judgement) {
	h := r.handed.lying
	if len(h) == 0 {
		j.refute("no agent waits for a queue in which something has lain for %s or more", secs(handoffMin))
		return
	}
	j.support(0.95 * r.share(len(h)))
	j.beside = fmt.Sprintf("%s for a queue that is not empty", does(len(h), "agent", "waits", "wait"))
	j.pro("%s for a queue in which its result lies%s: %s", does(len(h), "agent", "waits", "wait"), forUpTo(h), parents(h))
	first := &h[0]
	j.pro("such as %s: %s has %s, and nobody else takes from it", first.agent, first.queue, count(first.items, "item"))
	if first.from != "" {
		j.pro("%s, which put one there, ended %s", first.from, ago(first.since))
	}
	j.pro("none of the sub-agents that they wait for is at work any more")
}
