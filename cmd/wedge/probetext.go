package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// printProbe writes what a person wants to know of a live system: the finding with its counts, what
// answered, where the requests are on either side, the gauges over the window with the load, the
// hypotheses, and what to do next.
func printProbe(w io.Writer, r *probe.Report, verbose bool) error {
	p := &page{style: styleOf(w)}
	v, part := &r.Verdict, &r.Part
	p.probeHead(r)
	p.targets(part)
	if part.Finding != probe.FoundUnreachable {
		p.bothSides(v, part)
		p.readings(part)
		p.reply(part)
		if part.Finding != probe.FoundIdle && part.Finding != probe.FoundHealthy || verbose {
			p.hypotheses(v, verbose)
		}
	}
	p.next(v)
	p.probeFoot(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) probeHead(r *probe.Report) {
	v, part := &r.Verdict, &r.Part
	what := p.outcome(v.Outcome)
	switch part.Finding {
	case probe.FoundHealthy:
		what = p.green("NOTHING WRONG FOUND")
	case probe.FoundIdle:
		what = p.yellow("IDLE")
	case probe.FoundUnclear:
		what = p.yellow("NOT CLEAR")
	case probe.FoundHeld:
		what += "  " + p.bold("held before the router")
	}
	if v.Layer != "" && v.Layer != diagnose.LayerNone {
		what += "  layer " + p.bold(string(v.Layer))
	}
	if v.Cause != "" && v.Cause != diagnose.CauseNone {
		what += "  cause " + p.bold(string(v.Cause))
	}
	p.line("%s  %s", p.bold("probe"), p.dim(fmt.Sprintf("%s watched from %s", seconds(part.WindowS), part.StartedAt)))
	p.line("")
	p.line("  %s", what)
	if part.Interrupted {
		p.line("  %s", p.yellow("interrupted: this is what was seen until then"))
	}
	p.line("")
	p.b.WriteString(p.wrap("  ", plainText(v.Summary)))
}

// targets is the table of what was asked.
func (p *page) targets(part *probe.Part) {
	p.section("What answered")
	p.table(func(t *tabwriter.Writer) {
		for _, f := range part.Targets {
			role, state := string(f.Role), f.Summary
			if role == "" {
				role = "?"
			}
			if !f.Alive {
				state = "DOES NOT ANSWER: " + f.Error
			} else if f.Error != "" {
				state += "; at some reading: " + f.Error
			}
			fmt.Fprintf(t, "  %s\t%s\t%d of %d read\t%s\n", role, plainText(f.URL), f.Read, f.Asked, plainText(state))
		}
	})
}

// bothSides is the table of where the calls are, from the client's and from the servers' side.
func (p *page) bothSides(v *diagnose.Verdict, part *probe.Part) {
	s := &part.Sides
	p.section("Both sides, at the end of the window")
	if s.Clients > 0 {
		p.line("  client   %s", p.sideLine(s))
	} else {
		p.line("  client   not seen: give client=URL")
	}
	if s.Router != nil {
		p.b.WriteString("  servers  " + strings.TrimLeft(p.wrap("           ", serverLine(s)), " "))
	} else {
		p.line("  servers  not known how many requests they have")
	}
	for _, w := range part.ClientWaits {
		p.b.WriteString("  " + strings.TrimLeft(p.wrap("  ", plainText(fmt.Sprintf("the client's goroutines by themselves: %s. %s", w.Outcome, w.Reason))), " "))
	}
	if len(v.Stages) == 0 {
		return
	}
	p.line("")
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  client's side\tservers' side\tcalls\tfor at least\n")
		for _, row := range v.Stages {
			age := seconds(row.OldestS)
			if row.Note != "" {
				age += "  " + row.Note
			}
			stage := row.AgentStage
			if s.Clients == 0 {
				stage = "not seen"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", stage, row.ServerStage, count(row.Calls), plainText(age))
		}
	})
}

func (p *page) sideLine(s *probe.Sides) string {
	if s.Calls == 0 {
		return "no call is out"
	}
	var parts []string
	for _, stage := range slices.Sorted(maps.Keys(s.ByStage)) {
		parts = append(parts, fmt.Sprintf("%s %d", stage, s.ByStage[stage]))
	}
	return fmt.Sprintf("%s out (%s)", nouns(s.Calls, "call"), strings.Join(parts, ", "))
}

// nouns writes a number with its noun.
func nouns(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func serverLine(s *probe.Sides) string {
	text := fmt.Sprintf("%s by %s", nouns(*s.Router, "request"), s.RouterBy)
	if s.RouterLeast != s.RouterMost {
		text += fmt.Sprintf(" (%d to %d in the window)", s.RouterLeast, s.RouterMost)
	}
	for _, c := range []struct {
		n    *int
		what string
	}{{s.Arrived, "arrived"}, {s.Finished, "finished"}, {s.Refused, "refused"}, {s.Errors, "failed with another status of 400 or more"}} {
		if c.n != nil && (*c.n > 0 || c.what == "arrived" || c.what == "finished") {
			text += fmt.Sprintf("; %d %s in the window", *c.n, c.what)
		}
	}
	return text
}

// readings is the table of the gauges over the window: those that are not always 0, and in a line those
// that are.
func (p *page) readings(part *probe.Part) {
	if len(part.Readings) == 0 {
		return
	}
	names := map[string]bool{} // whether it was ever anything but 0
	for _, r := range part.Readings {
		for name, v := range r.Gauges {
			names[name] = names[name] || v != 0
		}
	}
	if len(names) == 0 {
		return
	}
	p.section("Gauges")
	p.b.WriteString(p.dimmed(p.wrap("  ", "load: "+part.Load)))
	start := part.Readings[0].AtS
	p.table(func(t *tabwriter.Writer) {
		head := "  t, s"
		for _, r := range thinned(part.Readings) {
			head += fmt.Sprintf("\t%.1f", r.AtS-start)
		}
		fmt.Fprintln(t, head)
		row := func(name string, value func(probe.ReadingFact) string) {
			line := "  " + name
			for _, r := range thinned(part.Readings) {
				line += "\t" + value(r)
			}
			fmt.Fprintln(t, line)
		}
		row("requests out", func(r probe.ReadingFact) string { return fmt.Sprint(r.Load) })
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if names[name] {
				row(name, func(r probe.ReadingFact) string { return gaugeText(r.Gauges, name) })
			}
		}
	})
	var zero []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			zero = append(zero, name)
		}
	}
	if len(zero) > 0 {
		p.b.WriteString(p.dimmed(p.wrap("  ", "0 in every reading: "+strings.Join(zero, ", "))))
	}
}

// columnsMax is how many readings a table shows.
const columnsMax = 7

// thinned returns at most columnsMax readings, evenly spread, with the first and the last.
func thinned(all []probe.ReadingFact) []probe.ReadingFact {
	if len(all) <= columnsMax {
		return all
	}
	out := make([]probe.ReadingFact, columnsMax)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(columnsMax-1)]
	}
	return out
}

func gaugeText(gauges map[string]float64, name string) string {
	v, ok := gauges[name]
	switch {
	case !ok:
		return "?"
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprintf("%.3g", v)
}

func (p *page) reply(part *probe.Part) {
	p.section("One request, end to end")
	switch {
	case part.Reply != nil:
		p.b.WriteString(p.wrap("  ", plainText(part.Reply.Text()+"; at "+part.Reply.URL+", model "+part.Reply.Model)))
		p.b.WriteString(p.dimmed(p.wrap("  ", "it is short: that it is answered says nothing about long contexts, many rounds, or many at once")))
	case part.NoReply != "":
		p.b.WriteString(p.wrap("  ", "none was sent: "+plainText(part.NoReply)))
	default:
		p.line("  none was sent")
	}
}

func (p *page) probeFoot(r *probe.Report) {
	if len(r.Part.Notes) > 0 {
		p.section("What this rests on")
		for _, n := range r.Part.Notes {
			p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(n)), " "))
		}
	}
	made := 0
	for _, one := range r.Part.Requests {
		made += one.Made
	}
	p.line("")
	p.line("requests  %d made, by place and kind with --json", made)
	if r.Verdict.EvidenceDir != "" {
		p.line("evidence  %s", plainText(r.Verdict.EvidenceDir))
	}
	p.line("again     %s", plainText(r.Verdict.Replay))
}
