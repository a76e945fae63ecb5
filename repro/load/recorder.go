package load

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// recorder adds up what became of the requests. It is guarded by the monitor.
type recorder struct {
	plan *Plan

	sent                         int // attempts begun
	out                          int // of them, not ended
	ok, failed, left, cut        int
	failures                     []Failures // in the order in which they were met first
	good                         int        // answered within the timeout, from the intended start on
	tokens, tokensLost           int        // of output: of all, and of those that failed
	promptTokens, promptsCounted int        // as servers count them
	noDone, noUsage              int        // complete answers without [DONE], without usage
	comments                     int
	cutOldest                    time.Duration // how long the oldest that was cut off had been under way

	first, itl, gaps, whole, late histogram
	lastEnd                       sim.Instant
}

// attempt is one request that has ended.
type attempt struct {
	intended, began, ended sim.Instant
	outcome                outcome
	failure                Failures
}

func (rec *recorder) beganLocked(a *attempt) {
	rec.sent++
	rec.out++
	if rec.plan.Rate > 0 {
		rec.late.add(a.began.Sub(a.intended), 1)
	}
}

func (rec *recorder) endedLocked(a *attempt, r *receipt) {
	rec.out--
	rec.lastEnd = a.ended
	tokens := r.outputTokens()
	rec.tokens += tokens
	rec.comments += r.comments
	r.flushLocked()
	if r.begun && rec.plan.Stream {
		rec.first.add(r.first.Sub(a.intended), 1)
	}
	switch a.outcome {
	case answered:
		rec.answeredLocked(a, r, tokens)
	case failed:
		rec.failed++
		rec.tokensLost += tokens
		rec.count(a.failure)
	case left:
		rec.left++
	case cut:
		rec.cut++
		rec.cutOldest = max(rec.cutOldest, a.ended.Sub(a.intended))
	}
}

func (rec *recorder) answeredLocked(a *attempt, r *receipt, tokens int) {
	rec.ok++
	took := a.ended.Sub(a.intended)
	rec.whole.add(took, 1)
	if rec.plan.Timeout == 0 || took <= rec.plan.Timeout {
		rec.good++
	}
	if r.promptTokens > 0 {
		rec.promptTokens += r.promptTokens
		rec.promptsCounted++
	}
	if !r.exact {
		rec.noUsage++
	}
	if !rec.plan.Stream {
		return
	}
	if !r.done {
		rec.noDone++
	}
	if tokens > 1 {
		rec.itl.add(r.last.Sub(r.first)/time.Duration(tokens-1), 1)
	}
}

func (rec *recorder) gapsLocked(gaps []gap) {
	for _, g := range gaps {
		rec.gaps.add(g.length, g.times)
	}
}

// failuresMax bounds the different failures that are told apart.
const failuresMax = 64

func (rec *recorder) count(f Failures) {
	for i := range rec.failures {
		known := &rec.failures[i]
		if known.Kind == f.Kind && known.Status == f.Status || len(rec.failures) == failuresMax && known.Kind == f.Kind {
			known.Count++
			return
		}
	}
	f.Count = 1
	rec.failures = append(rec.failures, f)
}

// worst returns the failures, the most frequent first; not nil, which would be no list in JSON.
func (rec *recorder) worst() []Failures {
	out := append([]Failures{}, rec.failures...)
	slices.SortStableFunc(out, func(a, b Failures) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
