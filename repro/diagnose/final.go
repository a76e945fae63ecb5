package diagnose

import (
	"fmt"

	"example.com/wedge/harness"
)

// Ending says why a run ended.
type Ending string

// The endings.
const (
	EndedByItself    Ending = "all agents ended"
	EndedAtHorizon   Ending = "horizon"     // the longest time that the run was given
	EndedByWatchdog  Ending = "gave up"     // a stall that lasted too long to wait any longer
	EndedInterrupted Ending = "interrupted" // by the user
)

// Conclusion is how a run ended.
type Conclusion struct {
	Outcome Outcome `json:"outcome"`
	Episode int     `json:"episode"` // of the episode that decided it, counted from 1; 0: none did
	Summary string  `json:"summary"`
}

// Final says how a run ended, from the evidence at its end (Episode 0), the verdicts of its episodes
// in order, and what ended it. An episode whose EndedAtS is nil was open at the end. A run that ended
// by itself is completed, or failed if a task failed, whatever happened on the way. One that was cut
// off has the outcome of the episode that was open, or is slow if none was.
func Final(end *harness.Evidence, episodes []Verdict, why Ending) Conclusion {
	if end == nil {
		end = &harness.Evidence{}
	}
	t := &end.Totals
	tasks := max(end.Setup.Agents, t.AgentsDone+t.AgentsFailed)
	left := tasks - t.AgentsDone - t.AgentsFailed
	counts := fmt.Sprintf("%d of %s done, %d failed, after %s", t.AgentsDone, count(tasks, "task"), t.AgentsFailed, secs(age(end.At, 0)))
	switch {
	case left <= 0 && t.AgentsFailed > 0:
		return Conclusion{Outcome: Failed, Summary: "Ended with errors: " + counts + "." + policyText(end)}
	case left <= 0:
		return Conclusion{Outcome: Completed, Summary: "Completed: " + counts + "."}
	}
	cutOff := map[Ending]string{
		EndedByItself:    "The run ended with work left",
		EndedAtHorizon:   "The run reached its horizon",
		EndedByWatchdog:  "The run was given up",
		EndedInterrupted: "The run was interrupted",
	}[why]
	if cutOff == "" {
		cutOff = "The run was cut off"
	}
	if n := len(episodes); n > 0 && episodes[n-1].Open() {
		v := &episodes[n-1]
		return Conclusion{Outcome: v.Outcome, Episode: n, Summary: fmt.Sprintf("%s in a stall (%s, cause %s): %s.", cutOff, v.Outcome, v.Cause, counts)}
	}
	// Nobody has captured the stall that the run may have ended in.
	if v := Diagnose(end, nil); v.Outcome.Hang() {
		return Conclusion{Outcome: v.Outcome, Summary: fmt.Sprintf("%s: %s, cause %s: %s.", cutOff, v.Outcome, v.Cause, counts)}
	}
	return Conclusion{Outcome: Slow, Summary: fmt.Sprintf("%s while work went on: %s.", cutOff, counts)}
}
