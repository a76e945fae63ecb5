package probe

import (
	"fmt"
	"strings"

	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/repro/diagnose"
)

// ClientWaits is what a client's goroutines show by themselves, whatever the servers do.
type ClientWaits struct {
	URL     string        `json:"url"`
	Outcome waits.Outcome `json:"outcome"`
	Reason  string        `json:"reason"` // one sentence
}

// clientWaits analyses the dumps of each client.
func (p *prober) clientWaits() []ClientWaits {
	out := []ClientWaits{}
	for _, c := range p.clients {
		now := waits.Analyze(c.now().dump)
		verdict := now.Verdict
		if c.last != nil {
			verdict = waits.Compare(waits.Analyze(c.first.dump), now).Verdict
		}
		out = append(out, ClientWaits{c.target.shown(), verdict.Outcome, verdict.Reason})
	}
	return out
}

// inside finds a client that is stuck by itself: its goroutines wait for each other, and either that is
// proven, or no call is out that they could wait for.
func (p *prober) inside(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	for _, w := range p.waits {
		outcome := diagnose.Deadlocked
		switch {
		case w.Outcome == waits.Deadlocked:
		case w.Outcome == waits.Wedged && s.Calls+s.CallsBefore == 0:
			outcome = diagnose.Wedged // and not for want of an answer
		default:
			continue
		}
		j := judgement{finding: FoundInside, outcome: outcome, layer: diagnose.LayerHarness, cause: diagnose.CauseUnknown}
		j.headline = fmt.Sprintf("stuck inside the client, with %s out: %s", plural(s.Calls, "call"), strings.TrimRight(w.Reason, ". "))
		j.why = "No request is behind this: goroutines of " + w.URL + " wait for each other, or for something that nobody brings."
		j.next = []string{"wedge dump " + w.URL + pathDump + " shows who waits for whom, and where in the source"}
		if p.reply != nil {
			j.why += " " + upper(p.reply.Text()) + "."
		}
		return j, true
	}
	return judgement{}, false
}
