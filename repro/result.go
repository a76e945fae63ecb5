package repro

import (
	"fmt"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/metrics"
)

// Result is what a run gave.
type Result struct {
	Scenario *Scenario
	// Verdict is that of the episode that matters most: the one that was open when the run ended, else
	// the gravest, of those one with a mechanism to name, and of those the longest; or of the run as a
	// whole if nothing stalled.
	Verdict  diagnose.Verdict
	Episode  int                // number of that episode, counted from 1 over the run; 0: nothing stalled
	Episodes []diagnose.Verdict // those kept, in order
	Evidence *harness.Evidence  // behind Verdict
	End      diagnose.Conclusion
	Report   *harness.Report

	Measured *metrics.Run // nil unless Options.Measure asked for it

	TraceHash string // of a virtual run: equal for equal runs; empty on the wall
	Steps     uint64 // of a virtual run: events that the kernel handled

	// WriteErr is why the bundle is incomplete; nil if it is complete, or if there is none.
	WriteErr error
}

// Interrupted says whether the run was cut off from outside.
func (r *Result) Interrupted() bool { return r.Report.Interrupted() }

// result reads the verdicts out of a run that has ended.
func (a *assembly) result() *Result {
	r := &Result{Scenario: a.s, Report: a.report, Measured: a.measured}
	if k, ok := a.w.(*sim.Virtual); ok {
		r.TraceHash, r.Steps = fmt.Sprintf("%016x", k.Hash()), k.Steps()
	}
	if a.o.NoVerdict {
		r.Evidence = a.report.End
		return r
	}
	for _, e := range a.report.Episodes {
		r.Episodes = append(r.Episodes, e.Verdict.(diagnose.Verdict)) // which is what judge made
	}
	main := a.episodes.main()
	if main.evidence != nil && main.verdict.Open() && !a.gaveUpWithin(main.verdict) {
		main = a.judgeAtEnd(main.evidence)
		if n := len(r.Episodes); n > 0 {
			r.Episodes[n-1] = main.verdict // the open one is the last
		}
	}
	r.End = diagnose.Final(a.report.End, r.Episodes, ending(a.report.Why))
	if main.evidence != nil {
		r.Verdict, r.Evidence, r.Episode = main.verdict, main.evidence, main.evidence.Episode
	} else {
		r.Verdict, r.Evidence = a.judge(a.report.End, nil), a.report.End
	}
	r.Verdict.FinalOutcome = r.End.Outcome
	if want := a.s.Expect.FinalOutcome; want != "" && want != r.End.Outcome {
		r.Verdict.Reproduced = false
	}
	return r
}

// gaveUpWithin says whether the run ended because in an open episode, a hang, one agent after the other
// gave up: at the end nobody is left whose state could tell of it, as the latest capture can.
func (a *assembly) gaveUpWithin(open diagnose.Verdict) bool {
	return len(a.report.End.Agents) == 0 && a.report.End.Totals.AgentsFailed > 0 && open.Outcome.Hang()
}

// judgeAtEnd judges the episode that was open when the run ended by how things stood then: its latest
// capture may be long before that.
func (a *assembly) judgeAtEnd(latest *harness.Evidence) judged {
	end := *a.report.End
	end.Episode, end.Capture, end.DetectedAt = latest.Episode, latest.Capture+1, latest.DetectedAt
	return judged{a.judge(&end, latest), &end}
}

// episodes finds the episode that matters most as they are judged. Of a long run only some are kept,
// and it need not be one of them.
type episodes struct {
	open  judged // the one that has not ended, if there is one
	worst judged // of those that have
}

// judged is an episode with its latest verdict.
type judged struct {
	verdict  diagnose.Verdict
	evidence *harness.Evidence // nil: none
}

// see takes in a verdict. An episode is judged at each capture and at its end.
func (e *episodes) see(v diagnose.Verdict, ev *harness.Evidence) {
	switch {
	case ev.Episode == 0: // the end of the run
	case v.Open():
		e.open = judged{v, ev}
	default:
		e.open = judged{}
		if e.worst.evidence == nil || graver(&v, &e.worst.verdict) {
			e.worst = judged{v, ev}
		}
	}
}

// main returns the episode that matters most.
func (e *episodes) main() judged {
	if e.open.evidence != nil {
		return e.open
	}
	return e.worst
}

func graver(a, b *diagnose.Verdict) bool {
	if a.Outcome.Hang() != b.Outcome.Hang() {
		return a.Outcome.Hang()
	}
	if telling(a.Cause) != telling(b.Cause) {
		return telling(a.Cause)
	}
	return a.StalledForS > b.StalledForS
}

// telling says whether a cause names a mechanism, and not only that things take long.
func telling(c diagnose.Cause) bool {
	switch c {
	case diagnose.CauseSlowServer, diagnose.CauseSlowTool, diagnose.CauseUnknown, diagnose.CauseNone:
		return false
	}
	return true
}

// Document is the verdict as --json prints it and the bundle keeps it, with what is known of the run
// as a whole.
type Document struct {
	diagnose.Verdict
	Run RunFacts `json:"run"`
}

// RunFacts is what is known of a run as a whole. Durations are in seconds of the run's own clock.
type RunFacts struct {
	Episode   int           `json:"episode"` // number of the stall that the verdict is about, counted from 1; 0: of none
	Ended     string        `json:"ended"`   // why: "completed", "horizon", "gave_up" or "interrupted"
	EndedAtS  float64       `json:"ended_at_s"`
	Summary   string        `json:"summary"`
	Stalls    int           `json:"stalls"` // episodes in all
	Episodes  []EpisodeFact `json:"episodes"`
	Failures  []string      `json:"failures"` // of agents, the first ones
	Totals    RunTotals     `json:"totals"`
	TraceHash string        `json:"trace_hash,omitempty"` // of a virtual run: equal for equal runs
	Events    uint64        `json:"events,omitempty"`     // of a virtual run: handled by the kernel
}

// RunTotals counts what happened over the whole run.
type RunTotals struct {
	AgentsDone     int `json:"agents_done"`
	AgentsFailed   int `json:"agents_failed"`
	Steps          int `json:"steps"` // of agents, finished
	CallsCompleted int `json:"calls_completed"`
	CallsFailed    int `json:"calls_failed"`
	Attempts       int `json:"attempts"`
	ToolCalls      int `json:"tool_calls"`
	ToolErrors     int `json:"tool_errors"`     // of these, calls that could not be made
	TokensReceived int `json:"tokens_received"` // output tokens, also of attempts that failed
	TokensWasted   int `json:"tokens_wasted"`   // of attempts that failed
}

func totalsOf(t *harness.Totals) RunTotals {
	return RunTotals{
		AgentsDone: t.AgentsDone, AgentsFailed: t.AgentsFailed, Steps: t.Steps,
		CallsCompleted: t.CallsCompleted, CallsFailed: t.CallsFailed, Attempts: t.Attempts, ToolCalls: t.ToolCalls, ToolErrors: t.ToolErrors,
		TokensReceived: t.TokensReceived, TokensWasted: t.TokensWasted,
	}
}

// EpisodeFact is a stall in one line.
type EpisodeFact struct {
	DetectedAtS float64          `json:"detected_at_s"`
	EndedAtS    *float64         `json:"ended_at_s"` // null: it was open when the run ended
	Outcome     diagnose.Outcome `json:"outcome"`
	Layer       diagnose.Layer   `json:"layer"`
	Cause       diagnose.Cause   `json:"cause"`
}

// Document returns the result in its JSON form.
func (r *Result) Document() Document {
	facts := RunFacts{
		Episode: r.Episode,
		Ended:   r.Report.Why.String(), EndedAtS: r.Report.End.At.Seconds(), Summary: r.End.Summary,
		Stalls: r.Report.Stalls, Episodes: []EpisodeFact{}, Failures: []string{},
		Totals: totalsOf(&r.Report.Totals), TraceHash: r.TraceHash, Events: r.Steps,
	}
	for _, e := range r.Episodes {
		facts.Episodes = append(facts.Episodes, EpisodeFact{e.DetectedAtS, e.EndedAtS, e.Outcome, e.Layer, e.Cause})
	}
	for _, f := range r.Report.Failures {
		facts.Failures = append(facts.Failures, fmt.Sprintf("%s at %s: %v", f.Agent, f.At, f.Err))
	}
	return Document{Verdict: r.Verdict, Run: facts}
}

// Story says in one line what became of the run.
func (r *Result) Story() string {
	t := &r.Report.Totals
	var b strings.Builder
	b.WriteString(r.End.Summary)
	fmt.Fprintf(&b, " %s completed, %s, %s.", plural(t.CallsCompleted, "call"), plural(t.Attempts, "attempt"), plural(r.Report.Stalls, "stall"))
	switch {
	case t.CallsCompleted > 0 && t.ToolCalls == 0:
		b.WriteString(" The model called no tool at all, so nothing was written.")
	case t.ToolErrors > 0:
		fmt.Fprintf(&b, " %d of %s could not be made: see tool_end in events.jsonl.", t.ToolErrors, plural(t.ToolCalls, "tool call"))
	}
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Expectation says in words what verdict was expected, and what was found.
func (r *Result) Expectation() string {
	want := r.Scenario.Expect
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"outcome", string(want.Outcome)}, {"layer", string(want.Layer)}, {"cause", string(want.Cause)}, {"final outcome", string(want.FinalOutcome)},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	found := ""
	if len(want.Mechanisms) > 0 {
		parts = append(parts, "mechanisms "+oneOf(want.Mechanisms))
		found = ", mechanisms " + oneOf(r.Verdict.Mechanisms)
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; found outcome %s, layer %s, cause %s, final outcome %s", r.Verdict.Outcome, r.Verdict.Layer, r.Verdict.Cause, r.End.Outcome) + found
}
