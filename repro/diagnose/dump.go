package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// dumpSureMin is how sure a finding of a goroutine dump must be to explain a stall by itself: as sure as
// "nobody else in the dump is left who could".
const dumpSureMin = 0.5

// dumpReading is what the goroutine dump shows beyond what was marked. The zero value is no dump, or one of
// virtual time.
type dumpReading struct {
	view  *harness.WaitsView // nil: none
	found []dumpFinding      // those with agents among their members, in the order of the dump's
	held  int                // agents between calls that a finding keeps where they are
}

// dumpFinding is a finding that has to do with agents.
type dumpFinding struct {
	*harness.WaitsFinding
	kind  *dumpKind // nil: no cause stands for it
	root  bool      // the verdict on the dump is about it
	holds bool      // it is sure enough, and stays, so that it may explain the stall
	// idle is how many of its agents are between calls and wait, by the marks, for nobody: the marks do not
	// tell what they are at.
	idle int
}

// readDump looks at the findings with agents, and tells the agents between calls about theirs.
func (r *reading) readDump() {
	g := r.now.Goroutines
	if g == nil || g.Waits == nil {
		return
	}
	d := &r.dump
	d.view = g.Waits
	kinds := dumpKinds()
	root := d.rootOf()
	for i := range d.view.Findings {
		f := dumpFinding{WaitsFinding: &d.view.Findings[i], root: i == root}
		if f.AgentsIn == 0 {
			continue
		}
		if k := slices.IndexFunc(kinds, func(k dumpKind) bool { return slices.Contains(k.classes, f.Class) }); k >= 0 {
			f.kind = &kinds[k]
		}
		f.idle = r.countIdle(&f)
		if f.Class == classSlotExhausted && d.view.Outcome != string(Starved) && f.idle > 0 {
			f.kind = nil // what those who have the slots wait for is the mechanism
		}
		if f.holds = d.holds(&f); f.holds && f.kind != nil {
			r.noteHeld(&f)
		}
		d.found = append(d.found, f)
	}
}

// rootOf is the index of the finding that the verdict on the dump is about: the first, or with two dumps the
// first that stayed; -1: there is none.
func (d *dumpReading) rootOf() int {
	return slices.IndexFunc(d.view.Findings, func(f harness.WaitsFinding) bool {
		return d.view.Over == 0 || mostOf(f.Still, f.Members) || comesOn(f.Class) && 2*f.Still >= f.Members
	})
}

// mostOf says whether all but a tenth are.
func mostOf(n, all int) bool { return n > 0 && n >= all-all/10 }

// holds says whether the finding may explain the stall: it is no symptom of another, sure enough, and nothing
// in it was seen to move.
func (d *dumpReading) holds(f *dumpFinding) bool {
	if f.Symptom || f.Confidence < dumpSureMin || f.idle == 0 {
		return false
	}
	switch d.view.Outcome {
	case string(Deadlocked), string(Wedged), string(Starved):
	default:
		return false
	}
	if d.view.Over > 0 {
		return f.root
	}
	return f.Stuck == f.Members || f.root && comesOn(f.Class)
}

// comesOn says whether findings of a class are about somebody who goes on and keeps others waiting.
func comesOn(class string) bool { return class == classSlotExhausted || class == classLockOverCall }

// countIdle counts the agents of a finding of whom the marks only tell that they are between calls, and notes
// at them what they wait for. The view may name the first few agents only.
func (r *reading) countIdle(f *dumpFinding) int {
	n := 0
	for i := range r.idle {
		a := &r.idle[i]
		if !a.free() || f.kind == nil && a.Stage == pacer.StageTool || !slices.Contains(f.Agents, a.Name) {
			continue // a tool that waits for what nobody can name is a tool that does not return
		}
		n++
		if f.kind != nil && a.dumped == nil {
			a.dumped = f.kind
		}
	}
	if f.AgentsIn > len(f.Agents) && len(f.Agents) > 0 {
		n = n * f.AgentsIn / len(f.Agents)
	}
	return n
}

// noteHeld notes at the agents between calls that a finding that holds is why they do not come on, whatever
// tool they are in.
func (r *reading) noteHeld(f *dumpFinding) {
	for i := range r.idle {
		if a := &r.idle[i]; a.free() && slices.Contains(f.Agents, a.Name) && !a.inChild() {
			a.held = true
			r.dump.held++
		}
	}
}

// free says that the marks show nothing that the agent waits for.
func (a *agentReading) free() bool { return !a.waits && !a.owed && !a.piped }

// outcome is what the stall is if the finding explains it.
func (d *dumpReading) outcome(f *dumpFinding) Outcome {
	switch {
	case f.root && d.view.Outcome == string(Deadlocked):
		return Deadlocked
	case comesOn(f.Class) && d.view.Outcome == string(Starved):
		return Starved
	}
	return Wedged
}

// text is the finding as an observation.
func (d *dumpReading) text(f *dumpFinding) string {
	text := "goroutine dump: " + f.Text
	if f.Confidence < 1 {
		text += fmt.Sprintf("; inferred with %.0f %%", 100*f.Confidence)
		if f.Because != "" {
			text += " (" + f.Because + ")"
		}
	}
	text += "; of " + count(f.AgentsIn, "agent") + ": " + few(f.Agents)
	if d.view.Over > 0 {
		text += fmt.Sprintf("; %s in the same wait as in the dump %s before", areOfAll(f.Still, f.Members, "goroutine"), secs(d.view.Over))
	}
	return text
}

// heedDump adds what the goroutine dump says about a cause. It supports a cause by itself only if the marks do
// not tell what the agents are at, and then with no more than the confidence that the dump gives.
func (r *reading) heedDump(name Cause, j *judgement) {
	for i := range r.dump.found {
		f := &r.dump.found[i]
		if f.kind == nil || f.kind.cause != name {
			continue
		}
		if j.status != Supported {
			switch {
			case f.holds && r.stalled():
				marksOnly(j)
				r.explainByDump(f, j, f.Confidence*r.dumpShare(f))
			case name == CausePipeFull && r.hungIn(f) > 0:
				marksOnly(j)
				r.explainByDump(f, j, 0.92*r.share(r.hungIn(f)))
			case f.idle > 0:
				marksOnly(j)
				j.open(max(j.score, 0.5*f.Confidence*r.dumpShare(f)), cmp.Or(j.decideBy, "a second goroutine dump, some time later: have the same goroutines the same stacks?"))
			}
		}
		j.pro("%s", r.dump.text(f))
	}
}

const byMarks = "by the marks alone: "

// marksOnly says of what was found against a cause that the marks do not show the program's own locks, slots
// and children.
func marksOnly(j *judgement) {
	for i := range j.against {
		if !strings.HasPrefix(j.against[i], byMarks) {
			j.against[i] = byMarks + j.against[i]
		}
	}
}

// explainByDump puts the stall down to a finding.
func (r *reading) explainByDump(f *dumpFinding, j *judgement, score float64) {
	j.support(score)
	j.outcome = r.dump.outcome(f)
	j.decideBy = ""
	j.said = fmt.Sprintf("%s (%s). The goroutine dump shows it, the marks do not: %s; inferred with %.0f %%.",
		f.kind.because, does(f.AgentsIn, "agent", "is", "are")+" in it: "+few(f.Agents), f.Text, 100*f.Confidence)
	j.beside = fmt.Sprintf("by the goroutine dump %s for %s", does(f.idle, "agent", "waits", "wait"), f.kind.waits)
	j.advice = slices.Clone(f.kind.next)
	if len(f.Places) > 0 {
		j.advice = append(j.advice, "read "+few(f.Places)+": there they wait")
	}
}

// dumpShare is the part of the agents at work that a finding explains.
func (r *reading) dumpShare(f *dumpFinding) float64 {
	return min(1, float64(f.idle)/float64(max(1, r.agents.Blocked+r.agents.SubAgents)))
}

// hungIn counts the agents of a finding that have been in it for longer than tools may take.
func (r *reading) hungIn(f *dumpFinding) int {
	n := 0
	for i := range r.idle {
		if a := &r.idle[i]; a.run == toolHung && slices.Contains(f.Agents, a.Name) {
			n++
		}
	}
	return n
}

// dumpUnknown is the conclusion for a finding that stays and that no cause stands for.
func (r *reading) dumpUnknown() (u unknown, ok bool) {
	for i := range r.dump.found {
		f := &r.dump.found[i]
		if f.kind != nil || !f.holds || 2*f.idle < r.agents.Blocked+r.agents.SubAgents {
			continue
		}
		u = unknown{outcome: r.dump.outcome(f), layer: LayerHarness, cause: CauseUnknown}
		u.why = fmt.Sprintf("Cannot tell the mechanism; the dump shows: %s; inferred with %.0f %%, of %s: %s.", f.Text, 100*f.Confidence, count(f.AgentsIn, "agent"), few(f.Agents))
		u.next = []string{"go through the goroutine dump (wedge dump FILE): who should end this wait, and where is it?"}
		if len(f.Places) > 0 {
			u.next = append(u.next, "read "+few(f.Places)+": there they wait")
		}
		return u, true
	}
	return unknown{}, false
}

// withDumpHint adds what the dump shows of agents of whom the marks tell nothing to what else is known, for a
// verdict that knows no cause.
func (r *reading) withDumpHint(why string) string {
	for i := range r.dump.found {
		if f := &r.dump.found[i]; f.idle > 0 && !f.Symptom {
			return fmt.Sprintf("By the marks: %s%s The goroutine dump shows, with %.0f %%: %s.", strings.ToLower(why[:1]), why[1:], 100*f.Confidence, f.Text)
		}
	}
	return why
}

// inChild says whether the agent waits for a child process, or a pipe to one, by its stack: to the diagnosis
// that is a tool, whether it was marked as one or not.
func (a *agentReading) inChild() bool {
	return a.dumped != nil && (a.dumped.cause == CauseToolHang || a.dumped.cause == CausePipeFull) && (a.Stage == pacer.StageThink || a.Stage == pacer.StageTool)
}

// tool is the name of the tool that the agent is in.
func (a *agentReading) tool() string {
	if a.Tool == "" && a.inChild() {
		return "a child process"
	}
	return a.Tool
}
