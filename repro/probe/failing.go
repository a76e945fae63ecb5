package probe

import (
	"fmt"
	"time"

	"example.com/wedge/repro/diagnose"
)

// failing finds a router that answers most requests with an error, without being full: they come and
// go, and nothing gets done.
func (p *prober) failing(_ *diagnose.Verdict, s *Sides, _ []TargetFact) (judgement, bool) {
	d := p.moved()
	wrong, broken := max(d.refused.errors4xx, 0), max(d.refused.errors5xx, 0)
	n := wrong + broken
	if n < refusedMin || d.arrived <= 0 || 2*n < d.arrived || d.finished > n {
		return judgement{}, false
	}
	from, to := p.window()
	j := judgement{finding: FoundFailing, outcome: diagnose.Failed, layer: diagnose.LayerRouter, cause: diagnose.CauseUnknown}
	status := "an HTTP status of 500 or more"
	j.next = []string{
		"look at the end of the router's log, and of the engines', for what these requests met",
		"send one of the harness's requests by hand (curl): the body of the answer says more",
	}
	if wrong > broken {
		j.layer, status = diagnose.LayerHarness, "an HTTP status of 400 to 499"
		j.next = []string{
			"look at the error in the client: the body of such an answer says what is wrong with the request (the model's name, its length, the key)",
			"GET " + pathModels + " lists the models that there are",
		}
	}
	j.headline = fmt.Sprintf("most requests fail: of %s that arrived in %s the router answered %d with an error, most with %s",
		plural(int(d.arrived), "request"), span(time.Duration(to-from)), int(min(n, callsMax)), status)
	if s.Finished != nil {
		j.why = fmt.Sprintf("The engines finished %s meanwhile: whoever sends them is not held up, but nothing gets done.", plural(*s.Finished, "request"))
	}
	if p.reply != nil {
		j.why += " " + upper(p.reply.Text()) + "."
	}
	return j, true
}

// cutShort finds that the probe was interrupted before there was anything to compare.
func (p *prober) cutShort(_ *diagnose.Verdict, _ *Sides, _ []TargetFact) (judgement, bool) {
	if !p.interrupted || len(p.readings) > 1 {
		return judgement{}, false
	}
	return judgement{
		finding: FoundUnclear, outcome: diagnose.Slow, layer: diagnose.LayerNone, cause: diagnose.CauseUnknown,
		headline: "not clear from this: the probe was interrupted when everything had been read once, so that nothing shows whether it moves",
		next:     []string{"let it run, or watch for less time: --for 10s"},
	}, true
}
