package guest

import (
	"slices"

	"example.com/wedge/repro/diagnose"
)

// unseenBy is what would decide about causes that lie within the harness.
const unseenBy = "a goroutine dump of the harness, or its own log: the servers do not see what goes on in it"

// withinHarness says whether a hypothesis is about what the servers see nothing of: the harness's slots,
// locks and tools, and its client before a request is sent.
func withinHarness(h *diagnose.Hypothesis) bool {
	switch h.Layer {
	case diagnose.LayerHarness, diagnose.LayerTool:
		return true
	case diagnose.LayerPacer:
		return h.Cause != diagnose.CauseRetryStorm // whose retries arrive
	}
	return h.Cause == diagnose.CauseConnectionPool
}

// unsee opens the hypotheses that the evidence seems to refute, and only since it could not have shown
// them.
func unsee(v *diagnose.Verdict) {
	for i := range v.Hypotheses {
		if h := &v.Hypotheses[i]; h.Status == diagnose.Refuted && withinHarness(h) {
			h.Status, h.Against, h.DecideBy = diagnose.Open, []string{}, unseenBy
		}
	}
	slices.SortStableFunc(v.Hypotheses, func(a, b diagnose.Hypothesis) int { return rank(a.Status) - rank(b.Status) })
}

func rank(s diagnose.Status) int {
	return slices.Index([]diagnose.Status{diagnose.Supported, diagnose.Open, diagnose.Refuted}, s)
}

// Unseen splits hypotheses into those that the servers' side can judge, and the names of the others.
func Unseen(all []diagnose.Hypothesis) (judged []diagnose.Hypothesis, unseen []diagnose.Cause) {
	for _, h := range all {
		if h.Status == diagnose.Open && h.DecideBy == unseenBy {
			unseen = append(unseen, h.Cause)
		} else {
			judged = append(judged, h)
		}
	}
	return judged, unseen
}
