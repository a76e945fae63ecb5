package guest

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/diagnose"
)

// Schema is the name and version of the JSON form of a result.
const Schema = "wedge.exec/1"

// Result is what came of a run.
type Result struct {
	// Verdict is that of the stall that matters most: the one that was open at the end, else the gravest;
	// or of the run as a whole if nothing stalled. Its FinalOutcome is what became of the run.
	Verdict  diagnose.Verdict
	Evidence *harness.Evidence  // behind Verdict; nil: the run as a whole
	Episodes []diagnose.Verdict // the stalls that were kept, in order
	Stalls   int                // all of them
	Ended    diagnose.Ending
	EndedAt  sim.Instant   // of the run's clock
	Took     time.Duration // of the machine's
	Child    ChildStatus
	Seen     Seen
	Dump     *Dump // of the harness's goroutines, the latest; nil: none was asked for
	Hung     bool  // some stall was a hang
	Stalled  bool  // and the run ended in it, or because of it

	WriteErr error // why the evidence is not complete; nil: it is, or there is none
}

// ChildStatus is how the harness ended.
type ChildStatus struct {
	Command  []string `json:"command"`
	ByItself bool     `json:"by_itself"` // false: wedge ended it
	ExitCode int      `json:"exit_code"` // -1: a signal ended it
	Status   string   `json:"status"`    // such as "exit status 1" or "signal: killed"
}

// Document is the result in its JSON form: a verdict as other commands give it, and more.
type Document struct {
	diagnose.Verdict
	Exec Facts `json:"exec"`
}

// Facts is what is known of the run as a whole. Durations are in seconds of the run's clock.
type Facts struct {
	Schema   string      `json:"schema"`
	Ended    string      `json:"ended"`
	EndedAtS float64     `json:"ended_at_s"`
	TookS    float64     `json:"took_machine_s"` // on the machine's clock
	Stalls   int         `json:"stalls"`
	Child    ChildStatus `json:"child"`
	Seen     Seen        `json:"requests"`
	Dump     *Dump       `json:"dump,omitempty"`
}

// Document returns the result in its JSON form.
func (r *Result) Document() Document {
	return Document{Verdict: r.Verdict, Exec: Facts{
		Schema: Schema, Ended: string(r.Ended), EndedAtS: instant(r.EndedAt).Seconds(), TookS: r.Took.Seconds(),
		Stalls: r.Stalls, Child: r.Child, Seen: r.Seen, Dump: r.Dump,
	}}
}

// result ends the harness, if it has not ended, and concludes.
func (g *session) result(ctx context.Context) *Result {
	r := &Result{
		Ended: g.ended(), EndedAt: g.report.End.At, Stalls: g.report.Stalls, Took: time.Since(g.began),
		Seen: g.seen(), Hung: g.judge.hung,
	}
	r.Child = g.endChild(ctx, r.Ended)
	r.Dump = g.judge.dumps.last()
	for _, e := range g.report.Episodes {
		if v, ok := e.Verdict.(diagnose.Verdict); ok {
			r.Episodes = append(r.Episodes, v)
		}
	}
	if main := g.judge.main; main.evidence != nil {
		r.Verdict, r.Evidence = main.verdict, main.evidence
		if g.o.Quit && r.Ended != diagnose.EndedByItself { // the dump came after the verdict
			g.judge.withDump(&r.Verdict)
		}
	} else {
		r.Verdict = g.judge.judge(g.report.End, nil)
	}
	g.conclude(r)
	return r
}

// endChild sees to it that nothing is left of the harness.
func (g *session) endChild(ctx context.Context, why diagnose.Ending) ChildStatus {
	s := ChildStatus{Command: g.o.Command, ByItself: why == diagnose.EndedByItself}
	if !s.ByItself && ctx.Err() != nil { // it has been told so
		select {
		case <-g.child.ended:
		case <-time.After(g.o.Grace):
		}
	}
	g.child.end()
	if g.child.exited() {
		s.ExitCode, s.Status = g.child.status()
	} else {
		s.ExitCode, s.Status = -1, "it did not end, not even by SIGKILL"
	}
	return s
}

// conclude says what became of the run as a whole.
func (g *session) conclude(r *Result) {
	v := &r.Verdict
	open := r.Evidence != nil && v.Open() && v.Outcome.Hang()
	switch {
	case r.Ended == diagnose.EndedByItself && r.Child.ExitCode == 0:
		v.FinalOutcome = diagnose.Completed
	case r.Ended == diagnose.EndedByItself:
		g.failed(r)
	case open:
		v.FinalOutcome, r.Stalled = v.Outcome, true
	default:
		v.FinalOutcome = diagnose.Slow
	}
	if r.Evidence == nil {
		g.whole(r)
	}
	if v.Outcome != diagnose.Storming {
		r.unanswered()
	}
}

// unansweredMin is the least number of refused calls that are told of beside the verdict, and
// unansweredShare which part of all calls they must be at least: one in so many.
const (
	unansweredMin   = 3
	unansweredShare = 10
)

// unanswered tells of calls that were refused and are lost, whatever the verdict is about.
func (r *Result) unanswered() {
	n := min(r.Seen.Refused, r.Seen.Calls-r.Seen.Completed)
	if r.Ended != diagnose.EndedByItself || n < unansweredMin || n*unansweredShare < r.Seen.Calls {
		return
	}
	v := &r.Verdict
	v.Summary += fmt.Sprintf(" %d of the harness's %d calls were refused (%s) and never answered.", n, r.Seen.Calls, r.Seen.StatusText())
	v.Next = append([]string{"see that the harness notices the answers with an error status: it ended with calls that were refused and not sent again, or not often enough. After a 429 or 503 wait longer each time, with jitter"}, v.Next...)
}

// failed concludes about a harness that ended with an error.
func (g *session) failed(r *Result) {
	v := &r.Verdict
	storm, cause, layer := g.storm(r)
	switch {
	case r.Hung && v.Outcome.Hang():
		v.FinalOutcome, r.Stalled = v.Outcome, true
	case storm:
		v.Outcome, v.Cause, v.Layer = diagnose.Storming, cause, layer
		v.FinalOutcome, r.Stalled = diagnose.Storming, true
	default:
		v.FinalOutcome = diagnose.Failed
		if r.Evidence == nil {
			v.Outcome = diagnose.Failed
		}
	}
}

// Of a storm without a stall: this many refusals at least, and this many for each call that was answered.
const (
	stormRefusals  = 10
	stormForAnswer = 1
)

// storm says whether most of what the harness sent was refused and sent again, until it gave up: there
// need be no stall for that, since some request is answered now and then.
func (g *session) storm(r *Result) (is bool, cause diagnose.Cause, layer diagnose.Layer) {
	t := &g.report.Totals
	again := r.Seen.Requests - r.Seen.Calls
	if t.AttemptsStatus < stormRefusals || t.AttemptsStatus < stormForAnswer*r.Seen.Completed || 2*again < t.AttemptsStatus {
		return false, "", ""
	}
	if t.Attempts503Full > 0 && 2*t.Attempts503 > t.AttemptsStatus {
		return true, diagnose.CauseRouterQueue, diagnose.LayerRouter
	}
	return 2*(t.Attempts429+t.Attempts503) > t.AttemptsStatus, diagnose.CauseRetryStorm, diagnose.LayerPacer
}

// whole words the verdict of a run in which nothing was stuck.
func (g *session) whole(r *Result) {
	v := &r.Verdict
	switch {
	case v.Outcome == diagnose.Storming:
		v.Summary = fmt.Sprintf("Refused requests were sent again and again until the harness gave up: %d requests for %d calls, of which %d were refused and %d answered in full. It ended with %s.",
			r.Seen.Requests, r.Seen.Calls, r.Seen.Refused, r.Seen.Completed, r.Child.Status)
	case r.Ended == diagnose.EndedByItself:
		v.Outcome, v.Layer, v.Cause = v.FinalOutcome, diagnose.LayerNone, diagnose.CauseNone
		v.Summary = fmt.Sprintf("The harness ended by itself (%s).", r.Child.Status)
		if r.Stalls == 0 {
			v.Summary += " Nothing stalled."
		}
	default:
		v.Outcome, v.Layer, v.Cause = diagnose.Slow, diagnose.LayerNone, diagnose.CauseNone
		v.Summary = "The harness was ended while nothing was seen to be stuck."
	}
	switch {
	case r.Seen.Requests == 0 && len(r.Seen.Elsewhere) == 0:
		v.Next = []string{noRequest}
	case v.Outcome == diagnose.Storming:
		v.Next = g.judge.next(v)
	default:
		v.Next = []string{}
	}
}

// Interrupted says whether the run was cut off from outside.
func (r *Result) Interrupted() bool { return r.Ended == diagnose.EndedInterrupted }

// GivenUp says whether the harness was ended because of the stall that the verdict is about.
func (r *Result) GivenUp() bool { return r.Ended == diagnose.EndedByWatchdog }
