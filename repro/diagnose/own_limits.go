package diagnose

import (
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// fired says how often a limit has ended an attempt.
func fired(t *harness.Totals, limit pacer.Limit) int {
	switch limit {
	case pacer.LimitResponseHeader:
		return t.TimeoutsHeader
	case pacer.LimitFirstToken:
		return t.TimeoutsFirst
	case pacer.LimitIdle:
		return t.TimeoutsIdle
	case pacer.LimitTotal:
		return t.TimeoutsTotal
	}
	return 0
}

// learntTexts says what limits that are learnt have ended, in sentences without their full stops.
func learntTexts(e *harness.Evidence) []string {
	var out []string
	for _, limit := range e.Setup.Learnt {
		n := fired(&e.Totals, pacer.Limit(limit))
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%s ended by the limit %s, which is learnt from earlier attempts (policy.adaptive)", does(n, "attempt", "was", "were"), limit)
		if slices.Contains(e.Setup.LearntFromOK, limit) {
			text += ", and only from those that ended well: what takes longer is cut off and never counts"
		}
		out = append(out, text)
	}
	return out
}

// limitAdvice says what to do about limits that are not plain lengths of one attempt.
func (r *reading) limitAdvice() []string {
	w := &r.now.Window
	var out []string
	if w.TimeoutsWork > 0 {
		out = append(out, "raise policy.work_base or policy.work_per_token: the time for each token must cover the slowest that healthy servers are, with all requests in the batch")
	}
	if w.TimeoutsCall > 0 {
		out = append(out, "raise policy.call_total: it covers the wait for a slot and all attempts")
	}
	if slices.ContainsFunc(r.now.Setup.LearntFromOK, func(limit string) bool { return fired(w, pacer.Limit(limit)) > 0 }) {
		out = append(out, "let attempts that were cut off count for what is learnt (policy.adaptive without success_only), and set a least length (min)")
	}
	return out
}

// nextEnd is the limit that ends the first of the calls in flight whatever becomes of it, how long that is, and when it
// does so; 0 if there is none.
func (r *reading) nextEnd() (limit string, length, in time.Duration) {
	s := &r.now.Setup
	for i := range r.calls {
		c := &r.calls[i]
		consider := func(name string, l time.Duration, left time.Duration) {
			if l > 0 && (length == 0 || left < in) {
				limit, length, in = name, l, max(0, left)
			}
		}
		consider("policy.call_total", s.CallLimit, s.CallLimit-age(r.now.At, c.Started))
		if sent(c.CallState) {
			out := age(r.now.At, c.Sent)
			consider("policy.total", s.TotalLimit, s.TotalLimit-out)
			consider("policy.work_base and work_per_token", s.WorkLimit, s.WorkLimit-out)
		}
	}
	return limit, length, in
}

// nextEndText warns that a limit may end calls before they have ended by themselves.
func (r *reading) nextEndText() string {
	limit, length, in := r.nextEnd()
	if length == 0 {
		return ""
	}
	return fmt.Sprintf(" But a limit of %s (%s) ends calls that are not done by then, the first in %s.", secs(length), limit, secs(in))
}
