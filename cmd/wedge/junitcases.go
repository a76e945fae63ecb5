package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/soak"
)

// result puts in what a run came to: whether the verdict is the expected one, or for a command that
// expects none, whether the run was completed.
func (j *junitFlag) result(r *repro.Result, expecting bool) {
	v := &r.Verdict
	j.suite.Time = junitSeconds(r.Report.End.At.Seconds())
	j.property("scenario", v.Scenario)
	j.property("seed", strconv.FormatUint(v.Seed, 10))
	j.property("clock", v.Clock)
	j.property("outcome", string(v.Outcome))
	j.property("layer", string(v.Layer))
	j.property("cause", string(v.Cause))
	j.property("final_outcome", string(v.FinalOutcome))
	j.property("evidence", v.EvidenceDir)
	j.property("replay", v.Replay)
	if r.WriteErr != nil {
		j.suite.AddTestcase(j.error(v.Scenario+": the evidence is written", "files", r.WriteErr.Error()))
	}
	if r.Interrupted() {
		return // around tells
	}
	name, ok, message := v.Scenario+": the run is completed", r.End.Outcome == diagnose.Completed, r.End.Summary
	if expecting {
		name, ok, message = v.Scenario+": the verdict is the expected one", v.Expected == nil || v.Reproduced, "expected "+r.Expectation()
	}
	if ok {
		j.suite.AddTestcase(j.passed(name))
		return
	}
	j.suite.AddTestcase(j.failure(name, string(r.End.Outcome), message, resultDetail(r)))
}

// resultDetail is what somebody wants to know of a run without opening anything.
func resultDetail(r *repro.Result) string {
	v := &r.Verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s, layer %s, cause %s\n%s\n", v.Outcome, v.Layer, v.Cause, r.Story())
	if v.Summary != "" {
		fmt.Fprintf(&b, "%s\n", v.Summary)
	}
	for _, n := range v.Next {
		fmt.Fprintf(&b, "next: %s\n", n)
	}
	if v.EvidenceDir != "" {
		fmt.Fprintf(&b, "evidence: %s\n", v.EvidenceDir)
	}
	fmt.Fprintf(&b, "replay: %s\n", v.Replay)
	return b.String()
}

// soak puts in what a soak came to: whether it lasted, and each threshold.
func (j *junitFlag) soak(d *soak.Document) {
	j.suite.Time = junitSeconds(d.AtS)
	j.property("scenario", d.Scenario)
	j.property("seed", strconv.FormatUint(d.Seed, 10))
	j.property("clock", d.Clock)
	j.property("verdict", string(d.Verdict))
	j.property("evidence", d.Files.Dir)
	j.property("replay", d.Replay)
	name := d.Scenario + ": the soak lasts"
	detail := strings.Join(append([]string{d.Summary}, d.Next...), "\n")
	switch d.Verdict {
	case soak.Interrupted, soak.Running:
		return // around tells
	case soak.Stopped:
		j.suite.AddTestcase(j.error(name, "files", d.Files.Error))
	case soak.Failed, soak.Stalled, soak.Missed:
		if d.Verdict == soak.Missed && d.Ended != soak.EndedHorizon { // it did last; which threshold, is said below
			j.suite.AddTestcase(j.passed(name))
			break
		}
		j.suite.AddTestcase(j.failure(name, string(d.Verdict), d.Summary, detail))
	default:
		j.suite.AddTestcase(j.passed(name))
	}
	if d.Verdict != soak.Stopped && d.Files.Error != "" {
		j.suite.AddTestcase(j.error(d.Scenario+": the evidence is written", "files", d.Files.Error))
	}
	for _, t := range d.Thresholds {
		name := d.Scenario + ": " + t.Expr
		if t.OK {
			j.suite.AddTestcase(j.passed(name))
			continue
		}
		message := "found " + t.Text
		if t.Missing != "" {
			message = t.Missing
		}
		if t.Term != "" {
			message += ", which is about " + t.Term
		}
		if t.Window > 0 {
			message += fmt.Sprintf(", in window %d after the warm-up", t.Window)
		}
		j.suite.AddTestcase(j.failure(name, string(soak.Missed), message, detail))
	}
}

// comparison puts in a test for each policy in each scenario, which fails if a task failed or did not
// end, or if the time a task is worse than with the baseline, by more than chance.
func (j *junitFlag) comparison(r *compare.Results) {
	j.property("seeds", r.Seeds.String())
	j.property("baseline", r.Baseline)
	for _, s := range r.Scenarios {
		for i := range s.Cells {
			if r.Policies[i].Bracket {
				continue // nobody can have it
			}
			j.suite.AddTestcase(j.cell(s.Name, r.Baseline, &s.Cells[i]))
		}
	}
}

// cell is the test of one policy in one scenario.
func (j *junitFlag) cell(scenario, baseline string, c *compare.Cell) junit.Testcase {
	var why []string
	kind := "worse"
	if n := c.Never + c.Failed; n > 0 {
		kind = "not_completed"
		why = append(why, fmt.Sprintf("in %d of %d runs tasks failed or did not end", n, c.Completed.N))
	}
	if f := c.Of(compare.KeyTaskTime); f != nil && f.Worse {
		why = append(why, fmt.Sprintf("a task takes %s longer than with %s, 95 %% interval %s to %s", compare.Seconds(f.Diff), baseline, compare.Seconds(f.DiffCI.Low), compare.Seconds(f.DiffCI.High)))
	}
	name := scenario + ": " + c.Policy
	if len(why) == 0 {
		return j.passed(name)
	}
	return j.failure(name, kind, strings.Join(why, "; "), strings.Join(why, "\n"))
}
