package diagnose

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/harness"
)

// Diagnose says what the evidence of a capture shows. before is an earlier capture of the same
// episode; it may be nil, and then movement is judged from the samples and from the instants of the
// last tokens and bytes. It never fails: evidence that does not decide gives cause unknown and says
// what is missing. The fields of the verdict that are not about the evidence are left to the caller.
func Diagnose(now, before *harness.Evidence) Verdict {
	if now == nil {
		now = &harness.Evidence{}
	}
	r := newReading(now, before)
	ranked := judgeAll(r)
	v := Verdict{
		Schema:      Schema,
		DetectedAtS: seconds(r.detectedAt()),
		StalledForS: seconds(max(0, now.StalledFor)),
		Agents:      r.agents,
		Calls:       r.callCounts(),
		Gauges:      r.gauges.latestGauges(),
		Stages:      r.stages(),
		Waits:       WaitCounts{Cycle: r.graph.Cycle, Edges: r.graph.Waits()},
		Hypotheses:  make([]Hypothesis, len(ranked)),
		Mechanisms:  []Cause{},
		Next:        []string{},
		Missing:     r.missing(),
		Sides:       r.sides,
	}
	for i := range ranked {
		v.Hypotheses[i] = ranked[i].hypothesis()
	}
	v.conclude(r, ranked)
	if now.Setup.Embedded || now.Setup.FromServers {
		v.Next = inWords(v.Next)
	}
	return v
}

// detectedAt is when the watchdog's patience ended, so the instant of the episode's first capture; of
// evidence that is no stall, it is that of the capture.
func (r *reading) detectedAt() time.Duration {
	at := age(r.now.At, 0)
	if after := r.now.Setup.StallAfter; r.now.Episode > 0 && after > 0 && r.now.StalledFor > after {
		return max(0, at-r.now.StalledFor+after)
	}
	return at
}

// stalled says whether the capture belongs to a stall at all.
func (r *reading) stalled() bool {
	return r.now.Episode > 0 || r.now.Setup.StallAfter > 0 && r.now.StalledFor >= r.now.Setup.StallAfter
}

// conclude sets the outcome, the summary and what to try.
func (v *Verdict) conclude(r *reading, ranked []judged) {
	if r.atRest() {
		v.Summary = v.rest(r)
		v.blameOwnPolicy(r, ranked)
		return
	}
	best := &ranked[0]
	found := best.status == Supported && (r.stalled() || best.judgement.outcome == Deadlocked)
	why := ""
	switch {
	case found:
		v.Outcome, v.Layer, v.Cause = best.judgement.outcome, best.judgement.layer, best.name
		why = best.why(r)
		if v.Outcome == Wedged && r.now.EndedAt != 0 {
			// What was stuck did not hold up everything, since a step has finished after all.
			v.Outcome = Starved
			why += " Something else finished a step in the end, so this did not hold up everybody yet."
		}
		v.Mechanisms = append(v.Mechanisms, best.name)
		for _, o := range atWorkBeside(ranked[1:]) {
			v.Mechanisms = append(v.Mechanisms, o.name)
		}
		v.Next = append(v.Next, best.try(r)...)
		v.Next = append(v.Next, r.adviceBeside(ranked[1:])...)
	case !r.stalled():
		v.Outcome, v.Layer, v.Cause = Slow, LayerNone, CauseNone
		why = "This is no stall: the work goes on."
	default:
		u, shown := r.dumpUnknown()
		if !shown {
			u = r.unknown()
			u.why = r.withDumpHint(u.why)
		}
		v.Outcome, v.Layer, v.Cause = u.outcome, u.layer, u.cause
		why = u.why
		if v.Outcome == Wedged && r.now.EndedAt != 0 {
			v.Outcome = Starved
			why += " A step finished in the end, so it did not last."
		}
		v.Next = append(v.Next, u.next...)
		v.Next = append(v.Next, openQuestions(ranked)...)
	}
	v.Why = upper(why)
	parts := []string{r.stallText() + r.failureText(), r.whereText(v.Stages), v.Why}
	if found {
		parts = append(parts, besides(ranked[1:])...)
	}
	if v.Cause == CauseUnknown && len(v.Missing) > 0 {
		parts = append(parts, "Cannot tell more: missing "+list(v.Missing)+".")
	}
	v.Summary = strings.Join(parts, " ")
}

// atRest says that nobody is at work and nothing is out.
func (r *reading) atRest() bool {
	return r.agents.Blocked+r.agents.SubAgents == 0 && len(r.calls) == 0
}

// rest concludes evidence in which nobody is at work.
func (v *Verdict) rest(r *reading) string {
	a := &r.agents
	v.Layer, v.Cause = LayerNone, CauseNone
	left := a.Total - a.Done - a.Failed
	switch {
	case a.Total == 0:
		v.Outcome = Completed
		return "There is nothing to do: no agent has a task, and no request is out. That the servers are idle is no finding."
	case left <= 0 && a.Failed == 0:
		v.Outcome = Completed
		return fmt.Sprintf("All %s are done, after %s.", count(a.Total, "task"), secs(age(r.now.At, 0)))
	case left <= 0:
		v.Outcome = Failed
		return fmt.Sprintf("%s done and %d failed, after %s.", does(a.Done, "task", "is", "are"), a.Failed, secs(age(r.now.At, 0))) + r.failureText()
	case !r.stalled():
		v.Outcome = Slow
		return fmt.Sprintf("%s left, and no agent is at work at this moment.", does(left, "task", "is", "are"))
	}
	v.Outcome, v.Layer, v.Cause = Wedged, LayerHarness, CauseUnknown
	v.Next = append(v.Next, "look at who hands out tasks: some are left, and nobody works on one")
	return fmt.Sprintf("No step has finished for %s: %s left, no agent is at work on one, and no request is out.", secs(max(0, r.now.StalledFor)), does(left, "task", "is", "are"))
}

// blameOwnPolicy says of agents that have failed that the client's own policy was it, if it was for half of the tasks.
func (v *Verdict) blameOwnPolicy(r *reading, ranked []judged) {
	best := &ranked[0]
	if v.Outcome != Failed || best.name != CauseTurnedAway || best.status != Supported || best.score < stormScore {
		return
	}
	v.Layer, v.Cause = best.judgement.layer, best.name
	v.Mechanisms, v.Next = append(v.Mechanisms, best.name), append(v.Next, best.try(r)...)
	v.Why = best.why(r)
	v.Summary += " " + v.Why
}

// adviceBeside is what to do about agents that have failed, if something else explains the stall.
func (r *reading) adviceBeside(others []judged) []string {
	for i := range others {
		if o := &others[i]; o.status == Supported && (o.name == CauseRouterQueue || o.name == CauseRetryStorm || o.name == CauseTurnedAway) {
			return o.next(r)
		}
	}
	return nil
}

// openQuestions lists what would decide, the most promising first.
func openQuestions(ranked []judged) []string {
	const most = 3
	var out []string
	seen := map[string]bool{} // two causes may wait for one measurement
	for i := range ranked {
		o := &ranked[i]
		worth := o.score > 0 || len(out) == 0
		if o.status == Open && o.decideBy != "" && worth && !seen[o.decideBy] && len(out) < most {
			seen[o.decideBy] = true
			out = append(out, string(o.name)+" would be decided by "+o.decideBy)
		}
	}
	return out
}

// missing lists what the evidence lacks.
func (r *reading) missing() []string {
	out := []string{}
	switch {
	case r.sides.Usable || r.sides.Sent == 0:
	case r.now.Router == nil:
		out = append(out, "a router log")
	default:
		out = append(out, "a router log with request lines (this one has none, so that a request is not in it says nothing)")
	}
	g := &r.gauges
	switch {
	case g.loaded > 0 || r.sides.Sent == 0:
	case g.failed > 0 && g.err != "":
		out = append(out, "gauges (the servers could not be read: "+g.err+")")
	case g.unloaded > 0:
		out = append(out, "gauges read while requests were out")
	default:
		out = append(out, "gauges of the servers")
	}
	if r.now.DumpErr != "" {
		out = append(out, "a goroutine dump ("+r.now.DumpErr+")")
	}
	if r.sides.Sent > 0 && !r.moved.ok {
		out = append(out, "an earlier capture to compare with")
	}
	return out
}
