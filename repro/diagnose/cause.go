package diagnose

import (
	"fmt"
	"math"
	"slices"
)

// cause is one mechanism and how to judge it.
type cause struct {
	name    Cause
	outcome Outcome
	layer   Layer
	// judge says what speaks for and against it.
	judge func(r *reading, j *judgement)
	// because explains the stall by it, in one or two sentences for the summary.
	because func(r *reading) string
	// next says what to try.
	next func(r *reading) []string
}

// judgement is how a cause stands. The zero value is open with no observation.
type judgement struct {
	status   Status
	score    float64
	outcome  Outcome  // replaces the cause's, if it depends on the evidence
	layer    Layer    // replaces the cause's, if it depends on the evidence
	beside   string   // a clause for the summary when something else explains more
	said     string   // replaces the cause's explanation, if the goroutine dump gives it
	advice   []string // replaces the cause's, likewise
	noticed  bool     // the mechanism is seen at work, although the stall is not put down to it
	for_     []string
	against  []string
	decideBy string
}

func (j *judgement) pro(format string, args ...any) {
	j.for_ = append(j.for_, fmt.Sprintf(format, args...))
}

func (j *judgement) con(format string, args ...any) {
	j.against = append(j.against, fmt.Sprintf(format, args...))
}

// support says that the mechanism is seen, and how much of the stall it explains.
func (j *judgement) support(score float64) { j.status, j.score = Supported, score }

// notice says that the mechanism is seen at work, in a clause for the summary, whatever the status.
func (j *judgement) notice(format string, args ...any) {
	j.noticed, j.beside = true, fmt.Sprintf(format, args...)
}

// refute says that the evidence speaks against it.
func (j *judgement) refute(format string, args ...any) {
	j.status, j.score = Refuted, 0
	j.con(format, args...)
}

// open says that the evidence does not decide, and what would.
func (j *judgement) open(score float64, decideBy string) {
	j.status, j.score, j.decideBy = Open, score, decideBy
}

// why explains the stall by the cause.
func (j *judged) why(r *reading) string {
	if j.said != "" {
		return j.said
	}
	return j.because(r)
}

// try says what to try.
func (j *judged) try(r *reading) []string {
	if j.advice != nil {
		return j.advice
	}
	return j.next(r)
}

// judged is a cause with its judgement.
type judged struct {
	cause
	judgement
}

// judgeAll judges every cause and ranks them: supported before open before refuted, then by score,
// then by gravity of the outcome, then in the order of causes.
func judgeAll(r *reading) []judged {
	all := causes()
	if !ownPolicy(&r.now.Totals) { // most clients have no such controls, and need no line that says so
		all = slices.DeleteFunc(all, func(c cause) bool { return c.name == CauseTurnedAway })
	}
	out := make([]judged, len(all))
	for i, c := range all {
		out[i].cause = c
		out[i].judgement = judgement{status: Open, outcome: c.outcome, layer: c.layer}
		c.judge(r, &out[i].judgement)
		r.heedDump(c.name, &out[i].judgement)
		out[i].score = math.Round(min(max(out[i].score, 0), 1)*100) / 100
	}
	slices.SortStableFunc(out, func(a, b judged) int {
		if d := rank(a.status) - rank(b.status); d != 0 {
			return d
		}
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return b.judgement.outcome.gravity() - a.judgement.outcome.gravity()
	})
	return out
}

func rank(s Status) int {
	switch s {
	case Supported:
		return 0
	case Open:
		return 1
	}
	return 2
}

// hypothesis is the judgement as it stands in the verdict.
func (j *judged) hypothesis() Hypothesis {
	h := Hypothesis{
		Cause: j.name, Outcome: j.judgement.outcome, Layer: j.judgement.layer, Status: j.status, Score: j.score,
		For: j.for_, Against: j.against, DecideBy: j.decideBy,
	}
	if h.For == nil {
		h.For = []string{}
	}
	if h.Against == nil {
		h.Against = []string{}
	}
	return h
}
