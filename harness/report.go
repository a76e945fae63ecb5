package harness

import (
	"example.com/wedge/harness/sim"
)

// Reason is why a run ended. The zero value is a run that has not.
type Reason uint8

// The reasons.
const (
	Running     Reason = iota
	Completed          // every task has ended, well or not
	Horizon            // the run had lasted as long as it may
	GaveUp             // no step had finished for as long as the watchdog bears with
	Interrupted        // the context was cancelled
)

// String returns the reason as the journal's run_end has it.
func (r Reason) String() string {
	return [...]string{"running", "completed", "horizon", "gave_up", "interrupted"}[r]
}

// Report is what a run leaves behind.
type Report struct {
	Totals   Totals
	Why      Reason
	Episodes []*Episode // of those kept, in order: the first ones and the last
	Stalls   int        // episodes in all
	Failures []Failure  // of agents, the first ones; Totals.AgentsFailed counts them all
	End      *Evidence  // as things stood when the run ended, before it was taken down; nil if a process panicked

	// Cause is why the context was cancelled, nil unless Why is Interrupted. It is a *sim.PanicError if
	// a process on the wall panicked.
	Cause error

	// WriteErr is why the bundle is not complete; nil if it is, or if there is none.
	WriteErr error
}

// Interrupted says whether the context was cancelled.
func (r *Report) Interrupted() bool { return r.Why == Interrupted }

// Episode is a stall: from the moment that no step had finished for too long until one did.
type Episode struct {
	Number     int         // counted from 1 over the run, those not kept included
	StartedAt  sim.Instant // the latest step before it, or the start of the run
	DetectedAt sim.Instant // when it was raised
	EndedAt    sim.Instant // the step that ended it; 0: it was open when the run ended
	EndedBy    string      // agent whose step that was

	// Of an episode that has ended, in a run with a Demand, only its files have the evidence: then these are nil.
	First  *Evidence // at the first capture
	Latest *Evidence // at the latest one, which may be the first
	Before *Evidence // at the one before the latest; nil if there is none

	// Verdict is what Options.Judge made of Latest and Before; nil without a judge.
	Verdict any

	// Dir is the episode's folder within the bundle, such as "stalls/01"; empty without a bundle.
	Dir string

	judged    bool   // the verdict knows of the end
	endTotals Totals // with the step that ended it
}

// Open says whether the stall had not ended when the run did.
func (e *Episode) Open() bool { return e.EndedAt == 0 }

// Failure is an agent that ended with an error.
type Failure struct {
	Agent string
	Task  string
	At    sim.Instant
	Err   error
}

// failuresMax is how many failures a report lists.
const failuresMax = 20
