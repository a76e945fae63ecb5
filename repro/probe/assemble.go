package probe

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/wedge/repro/diagnose"
)

// report judges all that was seen.
func (p *prober) report() *Report {
	r := &Report{Part: Part{
		Schema: Schema, StartedAt: p.start.UTC().Format(time.RFC3339), Scale: p.o.Scale, EveryS: p.o.Every.Seconds(),
		Reply: p.reply, NoReply: p.replyErr, Interrupted: p.interrupted, Notes: []string{}, Readings: []ReadingFact{}, ClientWaits: []ClientWaits{},
	}}
	r.Part.Targets = p.facts()
	r.Part.Requests = p.plan()
	if !p.anythingThere() {
		r.Verdict = diagnose.Diagnose(nil, nil)
		r.apply(p.unreachable(r.Part.Targets), p)
		r.Verdict.Hypotheses, r.Verdict.Missing = []diagnose.Hypothesis{}, []string{}
		return r
	}
	from, to := p.window()
	r.Part.WindowS = round(to.Sub(from).Seconds())
	r.Part.Load, r.Part.Sides, r.Part.Readings = p.loadText(), p.readSides(), p.readingFacts()
	p.waits = p.clientWaits()
	r.Part.ClientWaits = p.waits
	r.Evidence = p.evidence()
	r.Verdict = diagnose.Diagnose(r.Evidence, nil)
	r.Part.Notes = p.notes(&r.Part.Sides)
	r.Verdict.Missing = p.missing(r.Verdict.Missing)
	r.apply(p.judge(&r.Verdict, &r.Part.Sides, r.Part.Targets), p)
	r.Dumps = p.dumps()
	return r
}

// dumps are the texts of the dumps, named as those of a stall: the latest has the plain name.
func (p *prober) dumps() []Dump {
	var out []Dump
	for i, c := range p.clients {
		name := "goroutines"
		if i > 0 {
			name = fmt.Sprintf("goroutines-of-client-%d", i+1)
		}
		if c.last == nil {
			out = append(out, Dump{name + ".txt", c.first.text})
			continue
		}
		out = append(out, Dump{name + "-1.txt", c.first.text}, Dump{name + ".txt", c.last.text})
	}
	return out
}

// apply puts the judgement into the verdict.
func (r *Report) apply(j judgement, p *prober) {
	v := &r.Verdict
	r.Part.Finding, r.Part.Headline = j.finding, j.headline
	v.Scenario, v.Clock = "probe", "wall"
	v.Outcome, v.Layer, v.Cause = j.outcome, j.layer, j.cause
	v.FinalOutcome = v.Outcome
	v.Next = j.next
	if v.Next == nil {
		v.Next = []string{}
	}
	if j.grounds != nil {
		v.Hypotheses = decided(v.Hypotheses, &j)
	}
	if s := &r.Part.Sides; s.Clients > 0 && s.RouterBy == byRouter && s.RouterMost == 0 && (j.finding == FoundHeld || j.finding == FoundSilent) {
		v.Stages = withoutServers(v.Stages)
	}
	parts := []string{upper(j.headline) + "."}
	if r.Part.Sides.Clients > 0 {
		from, to := p.window()
		if text := r.Part.Sides.stillText(to.Sub(from)); text != "" {
			parts = append(parts, text+".")
		}
		parts = append(parts, "At the end, "+r.Part.Sides.clientText()+".")
	}
	v.Summary = strings.TrimSpace(strings.Join(append(parts, j.why), " "))
}

// withoutServers is the table of calls of which the router has none: what engines' gauges show is older.
func withoutServers(all []diagnose.StageRow) []diagnose.StageRow {
	var out []diagnose.StageRow
	for _, row := range all {
		if row.ServerStage != diagnose.ServerNotSent {
			row.ServerStage = diagnose.ServerUnknown
		}
		if n := len(out) - 1; n >= 0 && out[n].AgentStage == row.AgentStage && out[n].ServerStage == row.ServerStage {
			out[n].Calls, out[n].Agents, out[n].OldestS = out[n].Calls+row.Calls, out[n].Agents+row.Agents, max(out[n].OldestS, row.OldestS)
			continue
		}
		out = append(out, row)
	}
	return out
}

// decidedScore is how sure a cause is for which the counts of both sides decide.
const decidedScore = 0.9

// decided puts the cause that the probe's own counts decide for before the hypotheses of the diagnosis,
// which is not told of them and would contradict the verdict.
func decided(all []diagnose.Hypothesis, j *judgement) []diagnose.Hypothesis {
	out := []diagnose.Hypothesis{{
		Cause: j.cause, Outcome: j.outcome, Layer: j.layer, Status: diagnose.Supported, Score: decidedScore,
		For: j.grounds, Against: []string{},
	}}
	for _, h := range all {
		if h.Cause != j.cause {
			out = append(out, h)
		}
	}
	return out
}

// unreachable is the judgement if nothing answered.
func (p *prober) unreachable(facts []TargetFact) judgement {
	j := judgement{finding: FoundUnreachable, outcome: diagnose.Failed, layer: diagnose.LayerNone, cause: diagnose.CauseUnknown}
	var lines []string
	for _, f := range facts {
		lines = append(lines, f.URL+": "+f.Error)
	}
	j.headline = fmt.Sprintf("nothing is reachable: none of %s answers", plural(len(facts), "URL"))
	j.why = strings.Join(lines, "; ") + "."
	j.next = []string{"do the servers run, are the URLs right, and can this machine reach them? curl -v " + facts[0].URL + pathHealth + " says more"}
	return j
}

// name is a target in messages.
func (f *TargetFact) name() string {
	if f.Role == "" {
		return f.URL
	}
	return string(f.Role) + " " + f.URL
}

// facts sums up the targets.
func (p *prober) facts() []TargetFact {
	out := make([]TargetFact, len(p.targets))
	for i, t := range p.targets {
		f := &out[i]
		f.Role, f.URL = t.Role, t.shown()
		if len(p.health) > 0 {
			f.Health = p.health[i]
		}
		if t.Role == RoleClient {
			p.clientFact(f, i)
			continue
		}
		for _, r := range p.readings {
			f.Asked++
			switch err := p.errAt(r, i); {
			case err != nil:
				f.Error, f.Alive = err.Error(), false
			default:
				f.Read++
				f.Alive = true
			}
		}
		f.Summary = p.serverSummary(f)
	}
	return out
}

// errAt is what went wrong with a target at a reading; one whose role was never found out has only the
// first look.
func (p *prober) errAt(r *reading, i int) error {
	if !p.targets[i].Role.Server() {
		return p.firstErr[i]
	}
	return r.errs[i]
}

func (p *prober) clientFact(f *TargetFact, i int) {
	f.Asked = 2
	for _, c := range p.clients {
		if c.target != p.targets[i] {
			continue
		}
		f.Read, f.Alive = 1, c.last != nil || p.interrupted
		f.Summary = plural(c.now().goroutines, "goroutine")
		if c.last != nil {
			f.Read = 2
		}
		if c.lastErr != nil {
			f.Error = c.lastErr.Error()
		}
		return
	}
	f.Error = "it was not read"
	if err := p.firstErr[i]; err != nil {
		f.Error = err.Error()
	}
}

func (p *prober) serverSummary(f *TargetFact) string {
	switch {
	case !f.Alive:
		return ""
	case !f.Health.Asked || f.Health.Status == http.StatusNotFound:
		return "metrics read"
	case f.Health.Error != "":
		return "metrics read, " + pathHealth + ": " + f.Health.Error
	case f.Health.OK():
		return "healthy"
	}
	return fmt.Sprintf("metrics read, %s gives HTTP status %d", pathHealth, f.Health.Status)
}

// readingFacts are the readings as the document has them.
func (p *prober) readingFacts() []ReadingFact {
	out := make([]ReadingFact, 0, len(p.readings))
	for i, s := range p.samples() {
		f := ReadingFact{AtS: round(p.readings[i].at.Seconds()), Load: s.Sent, Gauges: map[string]float64{}, Error: s.Err}
		for _, g := range s.Gauges {
			f.Gauges[g.Name] = g.Value
		}
		out = append(out, f)
	}
	return out
}

// notes say what the evidence rests on, so that nobody takes it for more.
func (p *prober) notes(s *Sides) []string {
	notes := []string{}
	from, to := p.window()
	if len(p.clients) > 0 {
		notes = append(notes, fmt.Sprintf("since when a call waits is known as \"at least\": the client was watched for %s", span(time.Duration(to-from))))
		if s.ByStage["stream"] > 0 {
			notes = append(notes, "a goroutine dump does not show whether tokens arrive on a stream: that is judged by the decode engine's counter of tokens")
		}
		if s.Calls == 0 && s.CallsBefore == 0 {
			notes = append(notes, "no goroutine of the client is in a call that wedge knows (net/http, HTTP/2, x/sync and x/time limiters): calls of other libraries would not be seen")
		}
	}
	if len(p.clients) == 0 && p.stillCalls() > 0 {
		notes = append(notes, "no client is seen: the calls are requests that the servers had throughout, by number; what their clients have got of them is not known")
	}
	if text := p.frozenDecode(); text != "" {
		notes = append(notes, text)
	}
	if p.logs[1] != nil {
		v := &p.logs[1].view
		notes = append(notes, fmt.Sprintf("the router's log has %d lines of requests that started and %d that finished: %d are open (clients that left before the headers leave such lines too)", v.Started, v.Finished, len(v.Open)))
		if old := to.Sub(v.Last); v.Started > 0 && old > to.Sub(from) {
			notes = append(notes, fmt.Sprintf("the last line of the router's log was %s old at the end of the window: what came later is not in it", span(old)))
		}
		if v.Started == 0 {
			notes = append(notes, "the router's log has no line of a request that wedge can read, so that it counts for nothing")
		}
	}
	missed := 0
	for _, r := range p.readings {
		missed += r.asked - r.read
	}
	if missed > 0 {
		notes = append(notes, plural(missed, "reading")+" of a server did not come back")
	}
	return notes
}

// missing says what would have told more.
func (p *prober) missing(all []string) []string {
	out := []string{}
	for _, m := range all {
		if m != "an earlier capture to compare with" && !(m == "a router log" && p.routerSeen()) && !strings.HasPrefix(m, "gauges") {
			out = append(out, m)
		}
	}
	roles := map[Role]bool{}
	for _, r := range p.readings {
		for role := range r.perRole {
			roles[role] = true
		}
	}
	if len(p.clients) == 0 {
		out = append(out, "a client (client=URL of a Go program with net/http/pprof): requests that are held before the router show only there")
	}
	if !roles[RoleRouter] && !roles[RoleEngine] {
		out = append(out, "a router (router=URL): without it nobody counts the requests that have arrived")
	}
	if !p.enginesSeen() {
		out = append(out, "gauges of the engines (prefill=URL, decode=URL): whether they work is not seen")
	}
	return out
}

func (p *prober) routerSeen() bool {
	for _, r := range p.readings {
		if r.perRole[RoleRouter] {
			return true
		}
	}
	return false
}

// enginesSeen says whether the decode side was read, be it from the router's page.
func (p *prober) enginesSeen() bool {
	for _, r := range p.readings {
		if _, ok := r.value("decode_running"); ok {
			return true
		}
	}
	return false
}
