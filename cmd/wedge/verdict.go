package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// page collects a text that is to be written in one piece.
type page struct {
	style
	b strings.Builder
}

func (p *page) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *page) section(title string) { p.line("\n%s", p.bold(title)) }

// printResult writes what a person wants to know of a run: the verdict first, then where the calls
// are, who holds and who waits, the hypotheses with their evidence, and what to do next.
func printResult(w io.Writer, r *repro.Result, verbose bool) error {
	p := &page{style: styleOf(w)}
	v := &r.Verdict
	p.head(r)
	stalled := r.Episode > 0
	if stalled || v.Outcome != diagnose.Completed {
		p.line("")
		p.b.WriteString(p.wrap("  ", plainText(v.Summary)))
	}
	p.failures(r)
	if stalled || verbose {
		if len(v.Stages) > 0 {
			p.stages(r)
			p.sides(&v.Sides)
			p.holders(r.Evidence)
		}
		p.episodes(r)
		p.hypotheses(v, verbose)
		p.next(v)
	}
	p.foot(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) head(r *repro.Result) {
	v := &r.Verdict
	what := p.outcome(v.Outcome)
	if v.Layer != "" && v.Layer != diagnose.LayerNone {
		what += fmt.Sprintf("  layer %s", p.bold(string(v.Layer)))
	}
	if v.Cause != "" && v.Cause != diagnose.CauseNone {
		what += fmt.Sprintf("  cause %s", p.bold(string(v.Cause)))
	}
	if v.FinalOutcome != v.Outcome {
		what += "  the run " + p.outcome(v.FinalOutcome)
	}
	p.line("%s  %s", p.bold(plainText(v.Scenario)), p.dim(fmt.Sprintf("seed %d, %s clock", v.Seed, v.Clock)))
	p.line("")
	p.line("  %s", what)
	if len(v.Mechanisms) > 1 {
		p.b.WriteString(p.wrap("  ", "at work: "+names(v.Mechanisms)))
	}
	p.b.WriteString(p.dimmed(p.wrap("  ", r.Story())))
	if r.Report.Stalls > 1 {
		text := fmt.Sprintf("What follows is about stall %d of %d, found at %s", r.Episode, r.Report.Stalls, seconds(v.DetectedAtS))
		if at := r.Evidence.At.Seconds(); seconds(at) != seconds(v.DetectedAtS) {
			text += ", as it stood at " + seconds(at)
		}
		p.line("  %s", p.dim(text+"."))
	}
}

// names lists causes.
func names(causes []diagnose.Cause) string {
	var b strings.Builder
	for i, c := range causes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(c))
	}
	return b.String()
}

// failures shows what ended agents with an error.
func (p *page) failures(r *repro.Result) {
	if len(r.Report.Failures) == 0 {
		return
	}
	title := "1 agent failed"
	if n := r.Report.Totals.AgentsFailed; n > 1 {
		title = fmt.Sprintf("%d agents failed", n)
	}
	p.section(title)
	const shown = 5
	for i, f := range r.Report.Failures {
		if i == shown {
			p.line("  and %d more", r.Report.Totals.AgentsFailed-shown)
			break
		}
		p.entry(f.Agent, fmt.Sprintf("at %s: %v", seconds(f.At.Seconds()), f.Err))
	}
}

// stages is the table of where the calls are, from the agents' and from the servers' side.
func (p *page) stages(r *repro.Result) {
	v := &r.Verdict
	p.section(fmt.Sprintf("Where everything is, at %s", seconds(r.Evidence.At.Seconds())))
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  agents' side\tservers' side\tcalls\tagents\toldest\n")
		for _, s := range v.Stages {
			oldest := seconds(s.OldestS)
			if s.Note != "" {
				oldest += "  " + s.Note
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", s.AgentStage, s.ServerStage, count(s.Calls), count(s.Agents), oldest)
		}
	})
	p.b.WriteString(p.dimmed(p.wrap("  ", gaugesLine(v))))
}

// sides tells of the requests that one side has and another does not.
func (p *page) sides(s *diagnose.Sides) {
	findings := s.Findings()
	if len(findings) == 0 {
		return
	}
	p.section("One side has them, another does not")
	for _, f := range findings {
		p.b.WriteString(p.wrap("  ", plainText(f)))
	}
}

func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// gaugesLine shows the gauges with the load they were read under: without it they say nothing.
func gaugesLine(v *diagnose.Verdict) string {
	if len(v.Gauges) == 0 {
		return "gauges: none to read"
	}
	var some, zero []string
	for _, name := range slices.Sorted(maps.Keys(v.Gauges)) {
		switch value := v.Gauges[name]; {
		case strings.HasSuffix(name, "_total"):
		case value == 0:
			zero = append(zero, name)
		default:
			some = append(some, fmt.Sprintf("%s %.3g", name, value))
		}
	}
	line := fmt.Sprintf("gauges, with %d calls in flight: %s", v.Calls.InFlight, strings.Join(some, ", "))
	if len(some) > 0 && len(zero) > 0 {
		line += "; "
	}
	if len(zero) > 0 {
		line += "these read 0: " + strings.Join(zero, ", ")
	}
	return line
}

// holders says who holds the permits of each semaphore that somebody waits for.
func (p *page) holders(ev *harness.Evidence) {
	var rows []sim.ObjectState
	for _, o := range ev.Objects {
		if o.Kind == "semaphore" && (len(o.Waiters) > 0 || o.InUse == o.Capacity) {
			rows = append(rows, o)
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("Who holds, who waits")
	for _, o := range rows {
		of := fmt.Sprintf("%d of %d held", o.InUse, o.Capacity)
		if o.InUse > o.Capacity { // a limit that moves does not take back what it gave
			of = fmt.Sprintf("%d held with a limit of %d by now", o.InUse, o.Capacity)
		}
		p.line("  %s: %s, %d wait", p.bold(plainText(o.Name)), of, len(o.Waiters))
		p.party(ev.At, "longest holder", oldest(o.Holders))
		p.party(ev.At, "longest wait", oldest(o.Waiters))
	}
}

func (p *page) party(now sim.Instant, role string, who *sim.Party) {
	if who == nil {
		return
	}
	what := ""
	if who.What != "" && who.What != who.Name {
		what = " with " + who.What
	}
	p.line("    %s %s%s, for %s", role, plainText(who.Name), plainText(what), length(now.Sub(who.Since)))
}

func oldest(parties []sim.Party) *sim.Party {
	if len(parties) == 0 {
		return nil
	}
	first := slices.MinFunc(parties, func(a, b sim.Party) int { return cmp.Compare(a.Since, b.Since) })
	return &first
}

// episodes lists the stalls of the run when there was more than the one described.
func (p *page) episodes(r *repro.Result) {
	if len(r.Episodes) < 2 {
		return
	}
	title := fmt.Sprintf("All %d stall episodes", len(r.Episodes))
	if all := r.Report.Stalls; all > len(r.Episodes) {
		title = fmt.Sprintf("%d of %d stall episodes: the first ones and the last", len(r.Episodes), all)
	}
	p.section(title)
	const shown = 8
	p.table(func(t *tabwriter.Writer) {
		for i, e := range r.Episodes {
			if i == shown {
				fmt.Fprintf(t, "  and %d more\t\t\t\n", len(r.Episodes)-shown)
				break
			}
			ended := "not ended"
			if e.EndedAtS != nil {
				ended = "ended at " + seconds(*e.EndedAtS)
			}
			fmt.Fprintf(t, "  at %s\t%s\t%s\t%s\n", seconds(e.DetectedAtS), e.Outcome, e.Cause, ended)
		}
	})
}

func (p *page) hypotheses(v *diagnose.Verdict, verbose bool) {
	if len(v.Hypotheses) == 0 {
		return
	}
	p.section("Hypotheses")
	var refuted []string
	for _, h := range v.Hypotheses {
		if h.Status == diagnose.Refuted && !verbose {
			refuted = append(refuted, string(h.Cause))
			continue
		}
		p.line("  %s %s  %.2f  %s", p.mark(h.Status), p.bold(string(h.Cause)), h.Score, h.Status)
		p.points("for", h.For)
		p.points("against", h.Against)
		if h.DecideBy != "" {
			p.points("decide by", []string{h.DecideBy})
		}
	}
	if len(refuted) > 0 {
		p.b.WriteString(p.dimmed(p.wrap("  ", "- refuted (reasons with -v): "+strings.Join(refuted, ", "))))
	}
}

func (p *page) mark(s diagnose.Status) string {
	switch s {
	case diagnose.Supported:
		return p.green("+")
	case diagnose.Refuted:
		return p.dim("-")
	}
	return p.yellow("?")
}

// entry writes a name and a text behind it, wrapped to the column behind the name.
func (p *page) entry(name, text string) {
	indent := strings.Repeat(" ", 2+len(name)+2)
	p.b.WriteString("  " + name + "  " + strings.TrimLeft(p.wrap(indent, plainText(text)), " "))
}

// points writes a list under a word, each point wrapped to the column behind it.
func (p *page) points(word string, points []string) {
	const indent = 16
	for i, point := range points {
		if i > 0 {
			word = ""
		}
		text := p.wrap(strings.Repeat(" ", indent), plainText(point))
		p.b.WriteString(fmt.Sprintf("%-*s", indent, "      "+word) + strings.TrimLeft(text, " "))
	}
}

func (p *page) next(v *diagnose.Verdict) {
	if len(v.Next) > 0 {
		p.section("What to try next")
		for _, n := range v.Next {
			p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(n)), " "))
		}
	}
	if len(v.Missing) > 0 {
		p.section("Not known")
		for _, m := range v.Missing {
			p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(m)), " "))
		}
	}
}

func (p *page) foot(r *repro.Result) {
	v := &r.Verdict
	p.line("")
	if v.Expected != nil {
		if v.Reproduced {
			p.line("%s the expected verdict", p.green("reproduced"))
		} else {
			p.line("%s", p.red("not reproduced"))
			p.b.WriteString(p.wrap("  ", "expected "+r.Expectation()))
		}
	}
	if v.EvidenceDir != "" {
		p.line("evidence  %s", plainText(v.EvidenceDir))
	}
	p.line("replay    %s", plainText(v.Replay))
}

// dimmed dims whole lines.
func (p *page) dimmed(lines string) string {
	return p.dim(strings.TrimSuffix(lines, "\n")) + "\n"
}

func (p *page) table(fill func(*tabwriter.Writer)) {
	t := tabwriter.NewWriter(&p.b, 0, 4, 3, ' ', 0)
	fill(t)
	_ = t.Flush() // a strings.Builder does not fail
}

// seconds writes a number of seconds, with minutes beside it when there are many.
func seconds(s float64) string {
	if s > 0 && s < 0.1 {
		return fmt.Sprintf("%.3g ms", 1000*s)
	}
	text := fmt.Sprintf("%.1f s", s)
	if s >= 300 {
		text += fmt.Sprintf(" (%s)", time.Duration(s*float64(time.Second)).Round(time.Second))
	}
	return text
}

func length(d time.Duration) string { return seconds(d.Seconds()) }
